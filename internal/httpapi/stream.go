package httpapi

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"time"

	"wayside/internal/geo"
	"wayside/internal/mapdata"
	"wayside/internal/nearby"
	"wayside/internal/ratelimit"
	"wayside/internal/stream"
	"wayside/internal/wire"
)

// Bounds of writing to a stream.
const (
	streamPatience = 5 * time.Second // for a piece to leave: less than a stopping server waits
	streamPiece    = 32 << 10        // bytes
	retryLeast     = 2 * time.Second // before a client comes again whose stream ended …
	retrySpread    = 3 * time.Second // … and up to so much more: not all at once
	knownEvery     = 3               // beats between two looks whether the account may still watch
)

// streamScratch is what one look is made in, kept for the next.
type streamScratch struct {
	answer nearby.Answer
	diff   stream.Difference
	body   []byte
}

// streamScratches keeps the memory of looks; it holds nothing of the service.
var streamScratches = sync.Pool{New: func() any { return new(streamScratch) }}

// getStream answers GET /v2/stream: a read that goes on.
func (a *api) getStream(w http.ResponseWriter, r *http.Request, c *caller) error {
	q, err := a.parseNearby(r, c)
	if err != nil {
		return err
	}
	q.Since = time.Time{}
	if err := a.Nearby.CheckSources(q); err != nil {
		return sourcesProblem(err)
	}
	if r.Method == http.MethodHead {
		a.streamHeader(w.Header())
		return nil
	}
	key := ratelimit.ClientKey(ratelimit.Streams, c.client)
	if c.account != nil {
		key = ratelimit.AccountKey(ratelimit.Streams, c.account.ID)
	}
	s, err := a.Streams.Open(key, a.watched(q))
	if err != nil {
		return err
	}
	defer s.Close()
	wt := &watcher{api: a, request: r, caller: c, query: q, driver: q.Driver, w: w, control: http.NewResponseController(w)}
	a.streamHeader(w.Header())
	next, err := wt.begin(r.Context(), r.Header.Get("Last-Event-ID"))
	if err == nil {
		err = s.Follow(r.Context(), next, stream.Client{Look: wt.look, Beat: wt.beat})
	}
	if !wt.began {
		return err
	}
	// Whoever reads too slowly or may watch no more learns it by the end, which has to leave too.
	_ = wt.patience() // on a connection that is gone nothing is left to do
	return nil
}

// watched is where something must move to concern the query: also where the law shows cameras elsewhere than they are.
func (a *api) watched(q *nearby.Query) geo.Circle {
	area := geo.Circle{Center: q.Center, Radius: q.Radius}
	if a.Nearby.Law != nil {
		area.Radius += a.Nearby.Law.Drift()
	}
	return area
}

func (a *api) streamHeader(h http.Header) {
	h["Vary"] = []string{a.vary()}
	h["Content-Type"] = []string{"text/event-stream"}
	h["Cache-Control"] = []string{cacheNever}
	h["X-Accel-Buffering"] = []string{"no"}
	h["X-Content-Type-Options"] = []string{"nosniff"}
	h["Connection"] = []string{"close"} // it is worth nothing afterwards
}

// watcher is one stream's client.
type watcher struct {
	api     *api
	request *http.Request
	caller  *caller
	query   *nearby.Query
	driver  string
	w       http.ResponseWriter
	control *http.ResponseController
	began   bool // something was written

	sent     stream.Sent
	statuses uint64 // of the sources, as the client knows them
	last     eventID
	beats    int
}

// errEnded ends a stream whose caller may not watch as before.
var errEnded = errors.New("the caller is another one now")

// begin sends all that there is, or what changed since the client left.
func (wt *watcher) begin(ctx context.Context, lastID string) (next time.Time, err error) {
	err = wt.with(ctx, func(s *streamScratch) error {
		answer := &s.answer
		wt.statuses = statusesOf(answer)
		from, ok := parseEventID(lastID)
		ok = ok && !answer.Truncated && from.print == wt.api.fingerprint(wt.query, answer) && from.usable(answer.At)
		if ok {
			wt.api.Streams.Resume(&wt.sent, answer.Hits, from.at.Add(-settling), from.floor, answer.At, &s.diff)
			wt.note(answer)
			s.body = appendRetry(s.body)
			for _, i := range s.diff.Changed {
				s.body = appendEntityEvent(s.body, &answer.Hits[i])
			}
			s.body = wt.appendIDs(s.body, answer)
		} else {
			wt.api.Streams.Diff(&wt.sent, answer.Hits, answer.At, &s.diff)
			wt.note(answer)
			s.body = appendRetry(s.body)
			s.body = append(s.body, "event: snapshot\ndata: "...)
			s.body = wt.api.appendAnswer(s.body, answer)
			s.body = append(s.body, `,"fetched_at_utc":`...)
			s.body = wire.AppendTime(s.body, answer.At.UnixMilli())
			s.body = append(s.body, "}\n"...)
			s.body = wt.appendEnd(s.body)
		}
		next = s.diff.Next
		return nil
	})
	return next, err
}

// look sends what is different now.
func (wt *watcher) look(ctx context.Context, cause stream.Cause) (next time.Time, err error) {
	wt.query.Driver = ""
	if cause == stream.Time {
		wt.query.Driver = wt.driver // upstreams are asked at a driver's pace, and nobody else waits for them
	}
	err = wt.with(ctx, func(s *streamScratch) error {
		answer := &s.answer
		wt.api.Streams.Diff(&wt.sent, answer.Hits, answer.At, &s.diff)
		wt.note(answer)
		next = s.diff.Next
		for i := range s.diff.Gone {
			s.body = appendGoneEvent(s.body, &s.diff.Gone[i])
		}
		for _, i := range s.diff.Changed {
			s.body = appendEntityEvent(s.body, &answer.Hits[i])
		}
		if statuses := statusesOf(answer); statuses != wt.statuses {
			wt.statuses = statuses
			s.body = wt.api.appendSourcesEvent(s.body, answer)
		}
		if len(s.body) > 0 {
			s.body = wt.appendEnd(s.body[:len(s.body)-1])
		}
		return nil
	})
	return next, err
}

// with reads, and sends what fill makes of the answer.
func (wt *watcher) with(ctx context.Context, fill func(s *streamScratch) error) error {
	s, ok := streamScratches.Get().(*streamScratch)
	if !ok {
		s = new(streamScratch)
	}
	defer func() {
		if cap(s.body) <= maxKeptBody {
			s.answer.Forget()
			s.diff.Forget()
			streamScratches.Put(s)
		}
	}()
	if err := wt.api.Nearby.Near(ctx, wt.query, &s.answer); err != nil {
		return sourcesProblem(err)
	}
	s.body = s.body[:0]
	if err := fill(s); err != nil {
		return err
	}
	return wt.send(ctx, s.body)
}

// note remembers what the client has, once it has what is about to be sent.
func (wt *watcher) note(answer *nearby.Answer) {
	wt.last = eventID{at: answer.At, floor: wt.sent.Floor(), print: wt.api.fingerprint(wt.query, answer)}
}

// beat sends a comment, with the id of the last look, which tells nobody anything but lets the client go on from there; and now and then finds out whether the caller is still who they were.
func (wt *watcher) beat(ctx context.Context) error {
	if wt.beats++; wt.caller.account != nil && wt.beats%knownEvery == 0 {
		now := &caller{client: wt.caller.client}
		if err := wt.api.identify(wt.request, now, true); err != nil {
			return err
		}
		if now.id() != wt.caller.id() || now.tier() != wt.caller.tier() || now.curates() != wt.caller.curates() {
			return errEnded
		}
	}
	return wt.send(ctx, wt.appendEnd([]byte(":\n")))
}

// patience gives what is written next its time.
func (wt *watcher) patience() error {
	return wt.control.SetWriteDeadline(time.Now().Add(streamPatience))
}

// send writes in pieces, each of which must leave in time: a client that does not read is cut off.
func (wt *watcher) send(ctx context.Context, body []byte) error {
	if len(body) == 0 {
		return nil
	}
	if !wt.began {
		wt.began = true
		// Nothing is to come from the client, for as long as it takes.
		if err := wt.control.SetReadDeadline(time.Time{}); err != nil {
			return err
		}
	}
	for len(body) > 0 {
		piece := body[:min(len(body), streamPiece)]
		body = body[len(piece):]
		if err := wt.patience(); err != nil {
			return err
		}
		if _, err := wt.w.Write(piece); err != nil {
			return err
		}
		if err := wt.control.Flush(); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// appendRetry begins a stream's first event with when to come again.
func appendRetry(dst []byte) []byte {
	dst = append(dst, "retry: "...)
	dst = strconv.AppendInt(dst, int64((retryLeast+rand.N(retrySpread))/time.Millisecond), 10) //nolint:gosec // it spreads load
	return append(dst, '\n')
}

func appendEntityEvent(dst []byte, h *mapdata.Hit) []byte {
	var days [3]wire.Calendar
	dst = append(dst, "event: entity\ndata: "...)
	dst = wire.AppendHit(dst, h, &days)
	return append(dst, "\n\n"...)
}

func appendGoneEvent(dst []byte, m *mapdata.MergedID) []byte {
	dst = append(dst, "event: gone\ndata: {\"id\":\""...)
	dst = wire.AppendEntityID(dst, m.Source, m.ExternalID)
	return append(dst, "\"}\n\n"...)
}

func (a *api) appendSourcesEvent(dst []byte, answer *nearby.Answer) []byte {
	dst = append(dst, "event: sources\ndata: {"...)
	dst = a.appendSources(dst, answer)
	return append(dst, "}\n\n"...)
}

// appendIDs appends the event that ends a resumption: all that there is, by name.
func (wt *watcher) appendIDs(dst []byte, answer *nearby.Answer) []byte {
	dst = append(dst, "event: ids\ndata: {\"ids\":["...)
	for i := range answer.Hits {
		dst = wire.AppendComma(dst, i > 0)
		dst = append(dst, '"')
		dst = wire.AppendEntityID(dst, answer.Hits[i].Source, answer.Hits[i].ExternalID)
		dst = append(dst, '"')
	}
	dst = append(dst, "],"...)
	dst = wt.api.appendSources(dst, answer)
	dst = append(dst, "}\n"...)
	return wt.appendEnd(dst)
}

// appendEnd gives the last event of a look its id. The others have none: a client that got but some of them has to be told
// all again.
func (wt *watcher) appendEnd(dst []byte) []byte {
	dst = append(dst, "id: "...)
	dst = wt.last.append(dst)
	return append(dst, "\n\n"...)
}
