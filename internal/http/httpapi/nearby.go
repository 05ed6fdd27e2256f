package httpapi

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"wayside/internal/entities/nearby"
	"wayside/internal/entities/wire"
	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/response"
	"wayside/internal/ground/sched"
)

// nearbyScratch is reusable memory for one response.
type nearbyScratch struct {
	answer  nearby.Answer
	encoder wire.Encoder
}

// nearbyPool reuses memory between requests; it holds no state of the service.
var nearbyPool = sync.Pool{New: func() any { return new(nearbyScratch) }}

// bodyPool reuses the bodies of responses. They are separate from nearbyScratch, which is free for other requests while a body is
// written.
var bodyPool = sync.Pool{New: func() any { return new([]byte) }}

func takeBody() []byte {
	body, ok := bodyPool.Get().(*[]byte)
	if !ok {
		return nil
	}
	return (*body)[:0]
}

func giveBackBody(body []byte) {
	if cap(body) <= MaxPooledBody {
		bodyPool.Put(&body)
	}
}

// getNearby answers GET /v2/entities/nearby (D4).
func (a *API) getNearby(w http.ResponseWriter, r *http.Request, c *Caller) error {
	var form form
	q, err := a.parseNearby(r, c, &form)
	if err != nil {
		return err
	}
	q.Turn = a.Turn(w, c, q.Limit)
	if err := a.Hold(w, r, a.Memory.Reads, c, q.Limit*HitBytes); err != nil {
		return err
	}
	body, as, facts, err := a.findNearby(r.Context(), q, c, form)
	if err != nil {
		return SourcesProblem(err)
	}
	giveBackBody(a.writeRead(w, r, c, as, body, facts))
	return nil
}

// findNearby answers a query in a form. The body lacks its end.
func (a *API) findNearby(ctx context.Context, q *nearby.Query, c *Caller, form form) (body []byte, as representation, facts readFacts, err error) {
	scratch, ok := nearbyPool.Get().(*nearbyScratch)
	if !ok {
		scratch = new(nearbyScratch)
	}
	defer func() {
		scratch.answer.Forget()
		nearbyPool.Put(scratch)
	}()
	if err := a.Nearby.Near(ctx, q, &scratch.answer); err != nil {
		return nil, as, facts, err
	}
	a.Votes.Seen(c.ID(), q.Center)
	facts = factsOf(&scratch.answer)
	if form.geoJSON {
		return a.appendFeatures(takeBody(), &scratch.encoder, &scratch.answer, c, form.lines), representation{mediaGeoJSON, a.VaryForms()}, facts, nil
	}
	return a.appendAnswer(takeBody(), &scratch.encoder, &scratch.answer), representation{mediaJSON, a.VaryForms()}, facts, nil
}

// readFacts holds the facts about an answer, besides its body, that the response to a read needs.
type readFacts struct {
	live bool
	at   time.Time
}

func factsOf(answer *nearby.Answer) readFacts {
	return readFacts{answer.Live || answer.Reports, answer.At}
}

// representation is the media type of a body, and the headers on which it depends.
type representation struct{ media, vary string }

// writeRead writes the response to a read. The body still lacks fetched_at_utc and its end, so that the ETag does not cover that
// time. Live incidents may not be cached, unless they are stored in the database (D8.9). It returns the body, which may have been
// reallocated.
func (a *API) writeRead(w http.ResponseWriter, r *http.Request, c *Caller, as representation, body []byte, facts readFacts) []byte {
	values := [...]string{as.vary, NoStore}
	h := w.Header()
	h["Vary"] = values[0:1:1] // of capacity 1, so that Add copies it
	if facts.live && (a.Incidents == nil || !a.Incidents.Stored) {
		h["Cache-Control"] = values[1:2:2]
	} else if a.WriteCacheHeaders(w, r, c, body) {
		return body
	}
	body = append(body, `,"fetched_at_utc":`...)
	body = wire.AppendTime(body, facts.at.UnixMilli())
	body = append(body, "}\n"...)
	HoldBody(w, body)
	response.Write(w, r, http.StatusOK, as.media, body)
	return body
}

// yieldEvery is the number of entities that are encoded before the processor is offered to others: some tenths of a millisecond's work,
// where the scheduler would take it away after ten.
const yieldEvery = 128

// yield offers the processor to short requests after every few entities of a long answer.
func yield(encoded int) {
	if encoded%yieldEvery == 0 {
		sched.Yield()
	}
}

// appendAnswer appends the answer without its time and its end.
func (a *API) appendAnswer(dst []byte, encoder *wire.Encoder, answer *nearby.Answer) []byte {
	dst = append(wire.GrowForHits(dst, answer.Hits, false), `{"entities":[`...)
	for i := range answer.Hits {
		if i > 0 {
			dst = append(dst, ',')
			yield(i)
		}
		dst = encoder.AppendHit(dst, &answer.Hits[i])
	}
	return a.appendBeside(append(dst, "],"...), answer)
}

// appendBeside appends the members beside the entities.
func (a *API) appendBeside(dst []byte, answer *nearby.Answer) []byte {
	dst = a.appendSources(dst, answer)
	dst = append(dst, `,"networks_applied":[`...)
	for i, n := range answer.Networks {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = wire.AppendString(dst, n)
	}
	dst = append(dst, ']')
	if answer.Truncated {
		dst = append(dst, `,"truncated":true`...)
	}
	if answer.Hidden != 0 {
		dst = appendKinds(append(dst, `,"hidden_kinds":[`...), answer.Hidden)
		dst = append(dst, ']')
	}
	return dst
}

// appendKinds appends the ids of kinds, in the order of mapdata.Kinds.
func appendKinds(dst []byte, kinds mapdata.KindSet) []byte {
	first := true
	for k := range mapdata.Kind(mapdata.KindCount) {
		if !kinds.Has(k) {
			continue
		}
		dst = wire.AppendString(wire.AppendComma(dst, !first), k.ID())
		first = false
	}
	return dst
}

// appendSources appends the member with the health of the sources.
func (a *API) appendSources(dst []byte, answer *nearby.Answer) []byte {
	dst = append(dst, `"sources":[`...)
	if answer.Live {
		dst = appendHealth(dst, &answer.Incidents)
		dst = wire.AppendComma(dst, len(answer.Sources) > 0)
	}
	dst = append(dst, a.health.text(answer.Sources)...)
	return append(dst, ']')
}

// healthCache keeps the last JSON of sources' health, because most reads touch the same sources, whose health is computed a few
// times a second at most.
type healthCache struct{ last atomic.Pointer[healthEntry] }

type healthEntry struct {
	sources []mapdata.SourceHealth
	text    []byte
}

func (t *healthCache) text(sources []mapdata.SourceHealth) []byte {
	if len(sources) == 0 {
		return nil
	}
	if last := t.last.Load(); last != nil && len(last.sources) == len(sources) && &last.sources[0] == &sources[0] {
		return last.text
	}
	next := &healthEntry{sources: sources}
	for i := range sources {
		if i > 0 {
			next.text = append(next.text, ',')
		}
		next.text = appendHealth(next.text, &sources[i])
	}
	t.last.Store(next)
	return next.text
}

// appendHealth appends one source's health.
func appendHealth(dst []byte, s *mapdata.SourceHealth) []byte {
	dst = append(dst, `{"id":"`...)
	dst = append(dst, s.ID...)
	dst = append(dst, `","status":"`...)
	dst = append(dst, s.Status...)
	dst = append(dst, `","last_success_at":`...)
	var last int64
	if !s.LastSuccessAt.IsZero() {
		last = s.LastSuccessAt.UnixMilli()
	}
	dst = wire.AppendTime(dst, last)
	dst = append(dst, `,"recent":{"ok":`...)
	dst = strconv.AppendInt(dst, int64(s.OK), 10)
	dst = append(dst, `,"fail":`...)
	dst = strconv.AppendInt(dst, int64(s.Fail), 10)
	dst = append(dst, `,"total":`...)
	dst = strconv.AppendInt(dst, int64(s.OK+s.Fail), 10)
	return append(dst, `}}`...)
}

// parseNearby reads the parameters of a nearby query (D4.1 to D4.7), and into f, unless that is nil, the form of its answer.
func (a *API) parseNearby(r *http.Request, c *Caller, f *form) (*nearby.Query, error) {
	p, err := ReadParams(r)
	if err != nil {
		return nil, err
	}
	center, radius := p.Point(), p.Number("radius", 0, nearby.MaxRadius, false)
	q := a.parseSelection(p, c)
	q.Center, q.Radius = center, radius
	q.Since = p.Since()
	q.Limit = p.Limit()
	if f != nil {
		*f = formOf(p, r)
	}
	return q, a.parameterErrors(p, q)
}

// parseSelection reads the parameters that select entities independent of their position (D4.5 to D4.7).
func (a *API) parseSelection(p *Params, c *Caller) *nearby.Query {
	q := &nearby.Query{Account: c.ID(), Tier: c.Tier(), Curator: c.IsCurator()}
	if a.Incidents != nil {
		q.Driver = c.TenantName()
	}
	q.Kinds = p.Kinds()
	q.Sources = p.Sources()
	if text, given := p.Value("layers"); given {
		q.ByLayer = true
		q.Layers, _ = p.List("layers", text)
	}
	if text, given := p.Value("networks"); given {
		q.Named, q.Networks = true, p.NetworkNames(text)
	}
	return q
}

// parameterErrors returns the collected errors, with unknown sources among them; nil: there are none.
func (a *API) parameterErrors(p *Params, q *nearby.Query) error {
	if p.Problem == nil {
		return nil
	}
	var unknown *nearby.UnknownSourcesError
	if err := a.Nearby.CheckSources(q); errors.As(err, &unknown) {
		p.Problem.addSources(unknown)
	}
	return p.Problem
}
