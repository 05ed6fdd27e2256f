package relay

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"wayside/internal/entities/live"
	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/safehttp"
	"wayside/internal/ground/signal"
)

// Limits of the calls to upstreams.
const (
	relayTimeout        = 2 * time.Second // of a call, and for a reader who waits for it (D8.6)
	unauthorizedBackoff = 5 * time.Minute // after an upstream refused the secret (D8.6)
	maxCalls            = 256             // concurrent, to all upstreams together; readers beyond are served from the cache
)

// Upstream is a relay provider that the operator configured (D8.1).
type Upstream struct {
	Name     string // unique
	URL      *safehttp.URL
	Secret   string // sent as X-Service-Auth
	Raw      bool   // it answers in the raw form
	Priority int    // 1 is first: determines which of several pins of one event is shown (D10.3)
	Area     *Area  // where it is called; nil: everywhere
}

// Config holds the parameters of a Service.
type Config struct {
	Upstreams []Upstream
	Web       *safehttp.Client // a client for upstreams, with D8.6's time for a call, and many connections to one host
	Windows   live.Driver      // stores when each key was answered: never a database (D13.1)
	Pins      *live.Cache      // made with Prepare
	Key       []byte           // for the tenant keys; the same on all nodes
	Now       func() time.Time
	Log       *slog.Logger

	Observe   func(upstream string, outcome mapdata.Outcome, took time.Duration) // called after each call; may be nil
	Dropped   func(upstream, what string)                                        // called for each row that is dropped, with the reason; may be nil
	Moved     *signal.Moved                                                      // notified of positions where an answer changed pins, once these can be read; may be nil
	MovedLive *signal.Moved                                                      // as Moved, for other nodes; may be nil
	Called    func(upstream string, c mapdata.UpstreamCall)                      // called after each call, for other nodes; must not block; may be nil

	Reachable func() bool // reports whether the live cache is in reach, also between reads; nil: it always is
}

// Prepare returns the encoder with which the cache of pins must be created: it inserts the external id before the output of encode, where a
// read finds it as bytes.
func Prepare(encode func(dst []byte, e *mapdata.Entity) []byte) func(dst []byte, e *mapdata.Entity) []byte {
	return func(dst []byte, e *mapdata.Entity) []byte {
		return encode(append(dst, e.ExternalID...), e)
	}
}

// Service is the built-in source of live incidents. Its methods may be called from many goroutines. Run makes the calls, and must run
// beside them.
type Service struct {
	Config
	upstreams []*upstream // by rank
	names     []string    // names of the upstreams
	windows   windows
	inFlight  inFlight
	slots     chan struct{}
	queue     chan request  // to Run; never full, because each request has a slot
	stopped   chan struct{} // closed when Run ends
	kinds     mapdata.KindSet
	pins      sync.Pool   // of slices of pins, for reads
	cacheDown atomic.Bool // the live cache was out of reach at its last use
}

type upstream struct {
	Upstream
	rank      int32
	calls     calls
	condition condition
}

// New returns a Service.
func New(c Config) *Service {
	s := &Service{
		Config: c, windows: windows{c.Windows}, inFlight: inFlight{byKey: make(map[string]chan struct{})},
		slots: make(chan struct{}, maxCalls), queue: make(chan request, maxCalls), stopped: make(chan struct{}),
		kinds: mapdata.IncidentKinds(),
	}
	sorted := slices.Clone(c.Upstreams)
	slices.SortStableFunc(sorted, func(a, b Upstream) int { return cmp.Compare(a.Priority, b.Priority) })
	for i := range sorted {
		s.upstreams = append(s.upstreams, &upstream{Upstream: sorted[i], rank: int32(i)})
		s.names = append(s.names, sorted[i].Name)
	}
	return s
}

// request is a pending call.
type request struct {
	target
	area requestArea
}

// Run makes the calls until ctx ends. Then it cancels running calls, and returns when they have ended. It is called once.
func (s *Service) Run(ctx context.Context) error {
	var calls sync.WaitGroup
	defer calls.Wait()
	for {
		select {
		case r := <-s.queue:
			calls.Go(func() {
				defer s.release(&r)
				if err := s.claimAndCall(ctx, &r.target, &r.area); err != nil && ctx.Err() == nil {
					s.Log.Warn("cannot keep an upstream's answer", "upstream", r.Name, "error", err)
				}
			})
		case <-ctx.Done():
			close(s.stopped)
			for len(s.queue) > 0 {
				r := <-s.queue
				s.release(&r)
			}
			return nil
		}
	}
}

// release ends a request, so that readers no longer wait for it.
func (s *Service) release(r *request) {
	<-s.slots
	s.inFlight.finish(r.target.key)
}

// Near appends the live incidents within the circle of a search, of its kinds and in no order, and returns the health of their source. It
// calls upstreams as the windows of the driver's key allow, all concurrently, and waits at most two seconds for them. With an empty driver
// it calls no upstream. Without the live cache it finds nothing (Live incidents, 5).
func (s *Service) Near(ctx context.Context, q *mapdata.Search, driver string, hits []mapdata.Hit) ([]mapdata.Hit, mapdata.Health) {
	before := len(hits)
	hits, vain, err := s.near(ctx, q, driver, hits)
	if err != nil && ctx.Err() == nil {
		if !s.cacheDown.Swap(true) {
			s.Log.Error("the live cache is out of reach: no live incidents are shown", "error", err)
		}
		hits = hits[:before]
	} else if err == nil && s.cacheDown.Swap(false) {
		s.Log.Info("the live cache is back")
	}
	return hits, s.healthAfter(vain)
}

// near reads as Near does, without the health; vain lists the upstreams for which the read waited in vain.
func (s *Service) near(ctx context.Context, q *mapdata.Search, driver string, hits []mapdata.Hit) (_ []mapdata.Hit, vain []*upstream, err error) {
	ctx, cancel := context.WithTimeout(ctx, 2*relayTimeout) // for upstreams, and as much for a slow cache
	defer cancel()
	if driver != "" {
		if vain, err = s.ask(ctx, q, driver); err != nil {
			return hits, vain, err
		}
	}
	hits, err = s.read(ctx, q, hits)
	return hits, vain, err
}

// ask makes sure that the cache is fresh for the driver's key, or being refreshed. It returns the upstreams for which it waited in vain.
func (s *Service) ask(ctx context.Context, q *mapdata.Search, driver string) (vain []*upstream, err error) {
	p := areaOf(q.Center, q.Radius)
	now := s.Now()
	targets := s.targets(&p, driver, now)
	if len(targets) == 0 {
		return nil, nil
	}
	keys := make([]string, len(targets))
	for i := range targets {
		keys[i] = targets[i].key
	}
	states, err := s.windows.states(ctx, keys, now)
	if err != nil {
		return nil, err
	}
	var awaited []awaitedCall
	for i := range targets {
		if states[i] == fresh {
			continue
		}
		done := s.call(&targets[i], &p)
		// Readers do not wait for an upstream whose last call timed out: each read would take two seconds.
		if states[i] == expired && done != nil && !targets[i].timedOut {
			awaited = append(awaited, awaitedCall{&targets[i], done})
		}
	}
	if len(awaited) == 0 {
		return nil, nil
	}
	waitFor(ctx, awaited)
	return s.inVain(ctx, awaited)
}

// awaitedCall is a call for which a reader waits.
type awaitedCall struct {
	*target
	done chan struct{}
}

// waitFor waits until the calls have ended, at most for relayTimeout.
func waitFor(ctx context.Context, calls []awaitedCall) {
	timer := time.NewTimer(relayTimeout)
	defer timer.Stop()
	for i := range calls {
		select {
		case <-calls[i].done:
		case <-timer.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

// inVain returns the upstreams whose calls brought the reader nothing. It reads the windows instead of the health: the call times out
// together with the reader, so that its failure may not be recorded yet, and the results of other nodes' calls arrive later (D8.8).
func (s *Service) inVain(ctx context.Context, calls []awaitedCall) (vain []*upstream, err error) {
	if ctx.Err() != nil {
		return nil, nil //nolint:nilerr // the reader has gone away
	}
	keys := make([]string, len(calls))
	for i := range calls {
		keys[i] = calls[i].key
	}
	states, err := s.windows.states(ctx, keys, s.Now())
	for i := range states {
		if states[i] == expired {
			vain = append(vain, calls[i].upstream)
		}
	}
	return vain, err
}

// target is an upstream that may be called for a driver.
type target struct {
	*upstream
	tenant   string
	key      string // of the driver, the area and the upstream
	timedOut bool
}

// targets returns the upstreams that may be called for a driver about an area.
func (s *Service) targets(p *requestArea, driver string, now time.Time) []target {
	var all []target
	for _, u := range s.upstreams {
		if open, timedOut := u.calls.state(now); open && u.Area.touches(p) {
			tenant := s.tenant(u.Name, driver, now)
			all = append(all, target{u, tenant, s.windowKey(u.Name, tenant, p.key), timedOut})
		}
	}
	return all
}

// windowKey returns the key of the window of a tenant at an area. It is a MAC that reveals neither, because the windows may be stored on a
// server that others can read.
func (s *Service) windowKey(parts ...string) string {
	mac := hmac.New(sha256.New, s.Key)
	_, _ = mac.Write([]byte("window")) // a hash never fails
	for _, part := range parts {
		_, _ = mac.Write([]byte{0})
		_, _ = mac.Write([]byte(part))
	}
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:18])
}

// tenant returns the affinity key by which an upstream can distinguish vehicles, for a day (D8.2).
func (s *Service) tenant(upstream, driver string, now time.Time) string {
	mac := hmac.New(sha256.New, s.Key)
	for _, part := range []string{upstream, now.UTC().Format(time.DateOnly), driver} {
		_, _ = mac.Write([]byte(part)) // a hash never fails
		_, _ = mac.Write([]byte{0})
	}
	return hex.EncodeToString(mac.Sum(nil))
}

// call makes Run call the upstream unless a call for the key is in progress, and returns a channel that is closed when the call has ended;
// nil: there is no call.
func (s *Service) call(t *target, p *requestArea) chan struct{} {
	done, first := s.inFlight.join(t.key)
	if !first {
		return done
	}
	select {
	case <-s.stopped:
		s.inFlight.finish(t.key)
		return nil
	default:
	}
	select {
	case s.slots <- struct{}{}:
		s.queue <- request{*t, *p}
		return done
	default:
		s.inFlight.finish(t.key)
		return nil // too many calls are in progress
	}
}

// claimAndCall calls the upstream if the key's claim is free, and stores the answer. If another node has the claim, it waits until that
// node's call has ended.
func (s *Service) claimAndCall(ctx context.Context, t *target, p *requestArea) error {
	calling, cancel := context.WithTimeout(ctx, relayTimeout)
	defer cancel()
	mine, err := s.windows.claim(calling, t.key)
	if err != nil {
		return err
	}
	if !mine {
		return s.windows.wait(calling, t.key)
	}
	began := s.Now()
	answer := s.fetch(calling, t, p)
	keeping, cancel := context.WithTimeout(ctx, relayTimeout)
	defer cancel()
	if answer != nil {
		err = s.keep(keeping, t.key, answer)
	}
	return errors.Join(err, s.windows.ended(keeping, t.key, s.Now().Sub(began)))
}

// read appends the incidents in the cache.
func (s *Service) read(ctx context.Context, q *mapdata.Search, hits []mapdata.Hit) ([]mapdata.Hit, error) {
	scratch, ok := s.pins.Get().(*[]*live.Pin)
	if !ok {
		scratch = new([]*live.Pin)
	}
	defer func() {
		clear(*scratch)
		s.pins.Put(scratch)
	}()
	pins, err := s.Pins.Near(ctx, s.names, q.Center, q.Radius, (*scratch)[:0])
	*scratch = pins
	if err != nil {
		return hits, fmt.Errorf("read live incidents: %w", err)
	}
	center := q.Center.Vector()
	for _, pin := range pins {
		if !q.Kinds.Has(pin.Kind) {
			continue
		}
		hits = append(hits, mapdata.Hit{
			Source: mapdata.Incidents, Layer: string(mapdata.Incidents), Kind: pin.Kind, Chord: pin.At.ChordSquared(center),
			ExternalID: pin.Prepared[:len(pin.ExternalID):len(pin.ExternalID)], Prepared: pin.Prepared[len(pin.ExternalID):], Point: pin.Point,
			FirstSeenAt: pin.FirstSeenAt.UnixMilli(), LastSeenAt: pin.SeenAt.UnixMilli(), ExpiresAt: pin.SeenAt.Add(pin.Lifetime).UnixMilli(),
			ChangedAt: pin.ChangedAt.UnixMilli(), Prior: float32(pin.Prior), Upstream: pin.Upstream, Rank: s.rank(pin.Upstream),
		})
	}
	return hits, nil
}

func (s *Service) rank(name string) int32 { return int32(slices.Index(s.names, name)) }

// Find returns the live incident with the external id, from the upstream of the first rank that has it. It fails with mapdata.ErrNotFound,
// and with mapdata.ErrUnavailable when the live cache is out of reach.
func (s *Service) Find(ctx context.Context, externalID string) (mapdata.Voted, error) {
	ctx, cancel := context.WithTimeout(ctx, relayTimeout)
	defer cancel()
	pins, err := s.Pins.Find(ctx, s.names, externalID)
	if err != nil {
		return mapdata.Voted{}, fmt.Errorf("%w: %w", mapdata.ErrUnavailable, err)
	}
	if len(pins) == 0 {
		return mapdata.Voted{}, mapdata.ErrNotFound
	}
	best := slices.MinFunc(pins, func(a, b *live.Pin) int { return cmp.Compare(s.rank(a.Upstream), s.rank(b.Upstream)) })
	v := mapdata.Voted{Entity: best.Entity, Prior: best.Prior}
	v.Tally = mapdata.Tally{Source: mapdata.Incidents, ExternalID: externalID}
	return v, nil
}
