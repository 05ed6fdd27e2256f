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

// Cache-Control of reads (Limits: Read caching; D4.13).
const (
	noStore      = "no-store" // for answers that may hold live incidents or drivers' reports
	cacheShared  = "public, max-age=10"
	cachePrivate = "private, max-age=10"
	varyReads    = "Accept-Encoding, Authorization, Cookie"
	varyOrigins  = varyReads + ", Origin" // if CORS is configured
	inForms      = "Accept, "             // before these, for answers that there are in several forms
)

// nearbyScratch is reusable memory for one response.
type nearbyScratch struct {
	answer  nearby.Answer
	encoder wire.Encoder
}

// maxPooledBody is the largest body, in bytes, whose memory is kept for the next response.
const maxPooledBody = 1 << 20

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
	if cap(body) <= maxPooledBody {
		bodyPool.Put(&body)
	}
}

// getNearby answers GET /v2/entities/nearby (D4).
func (a *api) getNearby(w http.ResponseWriter, r *http.Request, c *caller) error {
	var form form
	q, err := a.parseNearby(r, c, &form)
	if err != nil {
		return err
	}
	q.Turn = a.turn(w, c, q.Limit)
	if err := a.hold(w, r, a.Memory.Reads, c, q.Limit*hitBytes); err != nil {
		return err
	}
	body, as, facts, err := a.findNearby(r.Context(), q, c, form)
	if err != nil {
		return sourcesProblem(err)
	}
	giveBackBody(a.writeRead(w, r, c, as, body, facts))
	return nil
}

// findNearby answers a query in a form. The body lacks its end.
func (a *api) findNearby(ctx context.Context, q *nearby.Query, c *caller, form form) (body []byte, as representation, facts readFacts, err error) {
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
	a.Votes.Seen(c.id(), q.Center)
	facts = factsOf(&scratch.answer)
	if form.geoJSON {
		return a.appendFeatures(takeBody(), &scratch.encoder, &scratch.answer, c, form.lines), representation{mediaGeoJSON, a.varyForms()}, facts, nil
	}
	return a.appendAnswer(takeBody(), &scratch.encoder, &scratch.answer), representation{mediaJSON, a.varyForms()}, facts, nil
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
func (a *api) writeRead(w http.ResponseWriter, r *http.Request, c *caller, as representation, body []byte, facts readFacts) []byte {
	values := [...]string{as.vary, noStore}
	h := w.Header()
	h["Vary"] = values[0:1:1] // of capacity 1, so that Add copies it
	if facts.live && (a.Incidents == nil || !a.Incidents.Stored) {
		h["Cache-Control"] = values[1:2:2]
	} else if a.writeCacheHeaders(w, r, c, body) {
		return body
	}
	body = append(body, `,"fetched_at_utc":`...)
	body = wire.AppendTime(body, facts.at.UnixMilli())
	body = append(body, "}\n"...)
	holdBody(w, body)
	response.Write(w, r, http.StatusOK, as.media, body)
	return body
}

// vary returns the names of the headers on which a read's response depends.
func (a *api) vary() string {
	if len(a.CORSOrigins) > 0 {
		return varyOrigins
	}
	return varyReads
}

// varyForms returns the names of the headers on which a response in several forms depends.
func (a *api) varyForms() string {
	if len(a.CORSOrigins) > 0 {
		return inForms + varyOrigins
	}
	return inForms + varyReads
}

// writeCacheHeaders sets ETag and Cache-Control. If the client has this version, it writes 304 and returns true.
func (a *api) writeCacheHeaders(w http.ResponseWriter, r *http.Request, c *caller, body []byte) bool {
	etag := response.ETag(body)
	h := w.Header()
	values := [...]string{etag, cacheControl(c)}
	h["Etag"], h["Cache-Control"] = values[0:1:1], values[1:2:2]
	if match := r.Header["If-None-Match"]; match != nil && response.MatchesETag(match, etag) {
		w.WriteHeader(http.StatusNotModified)
		return true
	}
	return false
}

func cacheControl(c *caller) string {
	if c.account == nil {
		return cacheShared
	}
	return cachePrivate
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
func (a *api) appendAnswer(dst []byte, encoder *wire.Encoder, answer *nearby.Answer) []byte {
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
func (a *api) appendBeside(dst []byte, answer *nearby.Answer) []byte {
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
func (a *api) appendSources(dst []byte, answer *nearby.Answer) []byte {
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

// sourcesProblem converts the error of unknown sources to a problem that lists the known ones (D4.5, D4.11).
func sourcesProblem(err error) error {
	var unknown *nearby.UnknownSourcesError
	if !errors.As(err, &unknown) {
		return err
	}
	p := parameterProblem()
	p.addSources(unknown)
	return p
}

func (p *problem) addSources(e *nearby.UnknownSourcesError) {
	for _, name := range e.Unknown {
		p.add(problemField{
			Parameter: "sources", Code: "unknown_source",
			Message: strconv.Quote(truncate(name)) + " is not a source you may read; valid_ids lists those.",
		})
	}
	for _, id := range e.Valid[:min(len(e.Valid), maxValidIDs-len(p.ValidIDs))] {
		p.ValidIDs = append(p.ValidIDs, string(id))
	}
}
