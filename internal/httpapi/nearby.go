package httpapi

import (
	"errors"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"

	"wayside/internal/mapdata"
	"wayside/internal/nearby"
	"wayside/internal/response"
	"wayside/internal/wire"
)

// Cache-Control of reads (Limits: Read caching; D4.13).
const (
	cacheNever   = "no-store" // with incidents
	cacheShared  = "public, max-age=10"
	cachePrivate = "private, max-age=10"
	varyReads    = "Accept-Encoding, Authorization, Cookie"
	varyOrigins  = varyReads + ", Origin" // where some origins may read
)

// nearbyScratch is what one answer is made in, kept for the next.
type nearbyScratch struct {
	answer nearby.Answer
	body   []byte
}

// maxKeptBody is the largest body, in bytes, whose memory is kept for the next answer.
const maxKeptBody = 1 << 20

// scratches keeps the memory of answers; it holds nothing of the service.
var scratches = sync.Pool{New: func() any { return new(nearbyScratch) }}

// getNearby answers GET /v2/entities/nearby (D4).
func (a *api) getNearby(w http.ResponseWriter, r *http.Request, c *caller) error {
	q, err := a.parseNearby(r, c)
	if err != nil {
		return err
	}
	scratch, ok := scratches.Get().(*nearbyScratch)
	if !ok {
		scratch = new(nearbyScratch)
	}
	defer func() {
		if cap(scratch.body) <= maxKeptBody {
			scratch.answer.Forget()
			scratches.Put(scratch)
		}
	}()
	if err := a.Nearby.Near(r.Context(), q, &scratch.answer); err != nil {
		return sourcesProblem(err)
	}
	scratch.body = a.appendAnswer(scratch.body[:0], &scratch.answer)
	a.writeRead(w, r, c, scratch.body, &scratch.answer)
	return nil
}

// writeRead writes a read's answer whose body still lacks the time at which it was made: the ETag is over all but that.
// Incidents are not to be kept by anybody, unless they come from the database.
func (a *api) writeRead(w http.ResponseWriter, r *http.Request, c *caller, body []byte, answer *nearby.Answer) {
	h := w.Header()
	h["Vary"] = []string{a.vary()}
	if answer.Live && !a.Incidents.Stored {
		h["Cache-Control"] = []string{cacheNever}
	} else if a.tag(w, r, c, body) {
		return
	}
	body = append(body, `,"fetched_at_utc":`...)
	body = wire.AppendTime(body, answer.At.UnixMilli())
	body = append(body, "}\n"...)
	response.Write(w, r, http.StatusOK, "application/json", body)
}

// vary names what else a read's answer depends on.
func (a *api) vary() string {
	if len(a.CORSOrigins) > 0 {
		return varyOrigins
	}
	return varyReads
}

// tag writes what lets others keep the answer. It says whether the client has it already, and has then been told.
func (a *api) tag(w http.ResponseWriter, r *http.Request, c *caller, body []byte) bool {
	etag := response.ETag(body)
	h := w.Header()
	h["Etag"] = []string{etag}
	h["Cache-Control"] = []string{cacheControl(c)}
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

// appendAnswer appends the answer but for its time and its end.
func (a *api) appendAnswer(dst []byte, answer *nearby.Answer) []byte {
	dst = append(dst, `{"entities":[`...)
	var days [3]wire.Calendar
	for i := range answer.Hits {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = wire.AppendHit(dst, &answer.Hits[i], &days)
	}
	dst = append(dst, "],"...)
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

// appendKinds appends the ids of kinds, in the order of the catalogue.
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

// appendSources appends the member that tells how the sources do.
func (a *api) appendSources(dst []byte, answer *nearby.Answer) []byte {
	dst = append(dst, `"sources":[`...)
	if answer.Live {
		dst = appendHealth(dst, &answer.Incidents)
		dst = wire.AppendComma(dst, len(answer.Sources) > 0)
	}
	dst = append(dst, a.health.text(answer.Sources)...)
	return append(dst, ']')
}

// healthText keeps the last text made of sources' health: most reads touch the same sources, whose health is judged a
// few times a second.
type healthText struct{ last atomic.Pointer[healthOf] }

type healthOf struct {
	sources []mapdata.SourceHealth
	text    []byte
}

func (t *healthText) text(sources []mapdata.SourceHealth) []byte {
	if len(sources) == 0 {
		return nil
	}
	if last := t.last.Load(); last != nil && len(last.sources) == len(sources) && &last.sources[0] == &sources[0] {
		return last.text
	}
	next := &healthOf{sources: sources}
	for i := range sources {
		if i > 0 {
			next.text = append(next.text, ',')
		}
		next.text = appendHealth(next.text, &sources[i])
	}
	t.last.Store(next)
	return next.text
}

// appendHealth appends a source health object.
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

// sourcesProblem tells of unknown sources with those that there are (D4.5, D4.11).
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
		p.Errors = append(p.Errors, problemField{
			Parameter: "sources", Code: "unknown_source",
			Message: strconv.Quote(shorten(name)) + " is not a source you may read; valid_ids lists those.",
		})
	}
	for _, id := range e.Valid {
		p.ValidIDs = append(p.ValidIDs, string(id))
	}
}
