package httpapi

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"time"

	"wayside/internal/entities/nearby"
	"wayside/internal/entities/stream"
	"wayside/internal/entities/wire"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/ratelimit"
)

// Times of streams.
const (
	minReconnectDelay         = 2 * time.Second // before a client whose stream ended reconnects …
	reconnectJitter           = 3 * time.Second // … plus a random time up to this, so that clients do not all reconnect at the same time
	heartbeatsPerAccountCheck = 3               // heartbeats between two checks whether the account may still read
)

// streamScratch is reusable memory for one update.
type streamScratch struct {
	answer  nearby.Answer
	diff    stream.Difference
	encoder wire.Encoder
	body    []byte
}

// streamPool reuses memory between updates; it holds no state of the service.
var streamPool = sync.Pool{New: func() any { return new(streamScratch) }}

// getStream answers GET /v2/stream with the result of a nearby query, and its changes until the client leaves.
func (a *API) getStream(w http.ResponseWriter, r *http.Request, c *Caller) error {
	q, err := a.parseNearby(r, c, nil)
	if err != nil {
		return err
	}
	q.Since = time.Time{}
	if err := a.Nearby.CheckSources(q); err != nil {
		return SourcesProblem(err)
	}
	if r.Method == http.MethodHead {
		a.StreamHeader(w.Header())
		return nil
	}
	key := ratelimit.ClientKey(ratelimit.Streams, c.Client)
	if c.Account != nil {
		key = ratelimit.AccountKey(ratelimit.Streams, c.Account.ID)
	}
	s, err := a.Streams.Open(key, a.streamArea(q))
	if err != nil {
		return err
	}
	defer s.Close()
	if a.Apps != nil && c.Session != nil {
		s.WatchApps()
	}
	a.Votes.Seen(c.ID(), q.Center)
	wt := &streamClient{api: a, stream: s, request: r, caller: c, query: q, driver: q.Driver, events: a.NewEventWriter(w)}
	wt.recorder, _ = w.(*Recorder) // it always is
	q.Turn = a.Turn(w, c, q.Limit)
	a.StreamHeader(w.Header())
	next, err := wt.begin(r.Context(), r.Header.Get("Last-Event-ID"))
	if err == nil {
		err = s.Run(r.Context(), next, stream.Client{Update: wt.update, Heartbeat: wt.heartbeat, CheckCaller: wt.checkCaller, Apps: wt.tellApps})
	}
	if !wt.events.Started {
		return err
	}
	// net/http still has to write the end of the body, for which the last deadline may have passed.
	_ = wt.events.SetWriteDeadline() // fails only if the connection is closed
	return nil
}

// streamArea returns the circle in which changes can affect the query: larger than the query's own if restrictions show cameras
// away from their position.
func (a *API) streamArea(q *nearby.Query) geo.Circle {
	area := geo.Circle{Center: q.Center, Radius: q.Radius}
	if a.Nearby.Law != nil {
		area.Radius += a.Nearby.Law.Drift()
	}
	return area
}

// streamClient sends one stream to its client.
type streamClient struct {
	api     *API
	stream  *stream.Stream
	request *http.Request
	caller  *Caller
	query   *nearby.Query
	driver  string
	events  EventWriter

	recorder *Recorder // the turn of an update is recorded there

	sent           stream.Sent
	sourceStatuses uint64 // hash of the sources' statuses that the client has
	lastID         eventID
	heartbeats     int
}

// errAccountChanged ends a stream whose caller no longer has the account, tier or role with which it began.
var errAccountChanged = errors.New("the caller is another one now")

// begin sends a snapshot, or the changes since the event id that the client sent.
func (wt *streamClient) begin(ctx context.Context, lastID string) (next time.Time, err error) {
	err = wt.sendRead(ctx, func(s *streamScratch) error {
		answer := &s.answer
		wt.sourceStatuses = hashStatuses(answer)
		from, ok := parseEventID(lastID)
		ok = ok && !answer.Truncated && from.fingerprint == wt.api.fingerprint(wt.query, answer) && from.resumableAt(answer.At)
		if ok {
			wt.api.Streams.Resume(&wt.sent, answer.Hits, from.at.Add(-maxReadDelay), from.earliestExpiry, answer.At, &s.diff)
			wt.setLastID(answer)
			s.body = appendRetry(s.body)
			for _, i := range s.diff.Changed {
				s.body = appendEntityEvent(s.body, &s.encoder, &answer.Hits[i])
			}
			s.body = wt.appendIDs(s.body, answer)
		} else {
			wt.api.Streams.Diff(&wt.sent, answer.Hits, answer.At, &s.diff)
			wt.setLastID(answer)
			s.body = appendRetry(s.body)
			s.body = append(s.body, "event: snapshot\ndata: "...)
			s.body = wt.api.appendAnswer(s.body, &s.encoder, answer)
			s.body = append(s.body, `,"fetched_at_utc":`...)
			s.body = wire.AppendTime(s.body, answer.At.UnixMilli())
			s.body = append(s.body, "}\n"...)
			s.body = wt.appendEventID(s.body)
		}
		s.body = wt.appendAppsRevision(s.body)
		next = s.diff.Next
		return nil
	})
	return next, err
}

// update sends the changes since the last update.
func (wt *streamClient) update(ctx context.Context, cause stream.Cause) (next time.Time, err error) {
	wt.api = wt.api.newest()
	wt.query.Driver = ""
	if cause == stream.Periodic {
		wt.query.Driver = wt.driver // only periodic updates may call upstreams, because the others must not wait for them
	}
	err = wt.sendRead(ctx, func(s *streamScratch) error {
		answer := &s.answer
		wt.api.Streams.Diff(&wt.sent, answer.Hits, answer.At, &s.diff)
		wt.setLastID(answer)
		next = s.diff.Next
		for i := range s.diff.Gone {
			s.body = appendGoneEvent(s.body, &s.diff.Gone[i])
		}
		for _, i := range s.diff.Changed {
			s.body = appendEntityEvent(s.body, &s.encoder, &answer.Hits[i])
		}
		if statuses := hashStatuses(answer); statuses != wt.sourceStatuses {
			wt.sourceStatuses = statuses
			s.body = wt.api.appendSourcesEvent(s.body, answer)
		}
		if len(s.body) > 0 {
			s.body = wt.appendEventID(s.body[:len(s.body)-1])
		}
		return nil
	})
	return next, err
}

// sendRead runs the query, and sends the events that fill makes from the answer. The memory of the answer is free for other
// requests while the events are sent.
func (wt *streamClient) sendRead(ctx context.Context, fill func(s *streamScratch) error) error {
	hold, err := TakeMemory(ctx, wt.api.Memory.Reads, wt.caller, wt.query.Limit*HitBytes)
	if err != nil {
		return err
	}
	defer hold.Release()
	body, err := wt.read(ctx, fill)
	if wt.recorder != nil {
		wt.recorder.EndTurn()
	}
	defer giveBackBody(body)
	if err != nil || len(body) == 0 {
		return err
	}
	sending, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	hold.Set(cap(body))
	hold.Write(func() {
		cancel(errSlowStream)
		_ = wt.events.SetDeadline(time.Unix(1, 0)) // fails only if the connection is closed
	})
	return wt.send(sending, body)
}

// errSlowStream ends a stream whose client does not read its events while others wait.
var errSlowStream = errors.New("the client takes its events too slowly")

// read runs the query, and returns the events that fill makes from the answer.
func (wt *streamClient) read(ctx context.Context, fill func(s *streamScratch) error) (body []byte, err error) {
	s, ok := streamPool.Get().(*streamScratch)
	if !ok {
		s = new(streamScratch)
	}
	defer func() {
		s.body = nil
		s.answer.Forget()
		s.diff.Release()
		streamPool.Put(s)
	}()
	if err := wt.api.Nearby.Near(ctx, wt.query, &s.answer); err != nil {
		return nil, SourcesProblem(err)
	}
	s.body = takeBody()
	err = fill(s)
	return s.body, err
}

// setLastID sets the event id that describes the client's state after the update.
func (wt *streamClient) setLastID(answer *nearby.Answer) {
	wt.lastID = eventID{at: answer.At, earliestExpiry: wt.sent.EarliestExpiry(), fingerprint: wt.api.fingerprint(wt.query, answer)}
}

// heartbeat sends a comment with the id of the last update, which lets the client resume from there. Every few heartbeats it checks
// that the caller's account, tier and role are unchanged.
func (wt *streamClient) heartbeat(ctx context.Context) error {
	if wt.heartbeats++; wt.caller.Account != nil && wt.heartbeats%heartbeatsPerAccountCheck == 0 {
		if err := wt.identifyAgain(); err != nil {
			return err
		}
	}
	return wt.send(ctx, wt.appendEventID([]byte(":\n")))
}

// checkCaller ends the stream if its session or API token has ended, or its account's rights changed (D11.10). It does not use
// cached sessions.
func (wt *streamClient) checkCaller(context.Context) error {
	wt.api.Accounts.ForgetCached()
	return wt.identifyAgain()
}

// identifyAgain fails unless the caller's account, tier and role are unchanged.
func (wt *streamClient) identifyAgain() error {
	now := &Caller{Client: wt.caller.Client}
	if err := wt.api.Identify(wt.request, now, true); err != nil {
		return err
	}
	if now.ID() != wt.caller.ID() || now.Tier() != wt.caller.Tier() || now.IsCurator() != wt.caller.IsCurator() {
		return errAccountChanged
	}
	return nil
}

// send sends the body of an update, and counts it against the stream's budget.
func (wt *streamClient) send(ctx context.Context, body []byte) error {
	if len(body) == 0 {
		return nil
	}
	wt.stream.Sent(len(body))
	return wt.events.Send(ctx, body)
}

// appendRetry appends the delay after which the client reconnects, to a stream's first event.
func appendRetry(dst []byte) []byte {
	dst = append(dst, "retry: "...)
	dst = strconv.AppendInt(dst, int64((minReconnectDelay+rand.N(reconnectJitter))/time.Millisecond), 10) //nolint:gosec // it spreads load
	return append(dst, '\n')
}

func appendEntityEvent(dst []byte, encoder *wire.Encoder, h *mapdata.Hit) []byte {
	dst = append(dst, "event: entity\ndata: "...)
	dst = encoder.AppendHit(dst, h)
	return append(dst, "\n\n"...)
}

func appendGoneEvent(dst []byte, m *mapdata.MergedID) []byte {
	dst = append(dst, "event: gone\ndata: {\"id\":\""...)
	dst = wire.AppendEntityID(dst, m.Source, m.ExternalID)
	return append(dst, "\"}\n\n"...)
}

func (a *API) appendSourcesEvent(dst []byte, answer *nearby.Answer) []byte {
	dst = append(dst, "event: sources\ndata: {"...)
	dst = a.appendSources(dst, answer)
	return append(dst, "}\n\n"...)
}

// appendIDs appends the event that ends a resumption: the ids of all entities in the answer.
func (wt *streamClient) appendIDs(dst []byte, answer *nearby.Answer) []byte {
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
	return wt.appendEventID(dst)
}

// appendEventID ends the last event of an update with its id. The events before it have none, so that a client that got
// only some of them repeats the whole update.
func (wt *streamClient) appendEventID(dst []byte) []byte {
	dst = append(dst, "id: "...)
	dst = wt.lastID.append(dst)
	return append(dst, "\n\n"...)
}
