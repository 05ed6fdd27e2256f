package session_test

import (
	"context"
	"iter"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"wayside/internal/drive/nav"
	"wayside/internal/drive/nav/session"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/signal"
	"wayside/internal/roads/cch"
	"wayside/internal/roads/graph"
	"wayside/internal/roads/match"
	"wayside/internal/roads/roadtest"
)

// drives is a hub over a drawn town whose conditions a test can change.
type drives struct {
	*session.Hub
	t       *testing.T
	drawn   *roadtest.Network
	graph   *graph.Graph
	live    atomic.Pointer[nav.Live]
	changed signal.RoadsChanged
	routes  *nav.Service
	state   conditions
	beside  []uint32 // arcs that are closed with those of change
}

// conditions are the conditions that a test puts on arcs.
type conditions struct {
	version uint64
	on      map[uint32]nav.Condition
	id      string
}

func (c *conditions) Version() uint64 { return c.version }

func (c *conditions) None() bool { return len(c.on) == 0 }

func (c *conditions) On(arc uint32) (nav.Condition, bool) { one, ok := c.on[arc]; return one, ok }

func (c *conditions) Events(arc uint32, each func(nav.Event)) {
	if one, ok := c.on[arc]; ok {
		each(nav.Event{EntityID: c.id, Closed: one.Closed, Factor: 1})
	}
}

func (c *conditions) Arcs() iter.Seq[uint32] { return maps.Keys(c.on) }

func newDrives(t *testing.T, o session.Options) *drives {
	t.Helper()
	return newDrivesOn(t, town(t), o)
}

// newDrivesOn returns a hub over any drawn roads.
func newDrivesOn(t *testing.T, drawn *roadtest.Network, o session.Options) *drives {
	t.Helper()
	d := &drives{t: t, drawn: drawn}
	d.graph = d.drawn.Graph(t)
	d.open("1")
	d.routes = nav.New(func() *nav.Network { return d.live.Load().Network() })
	o.Routes, o.Now, o.Watch = d.routes, time.Now, d.changed.Next
	d.Hub = session.New(o)
	return d
}

// open replaces the roads by those of a new import.
func (d *drives) open(dataVersion string) {
	d.t.Helper()
	topology, err := cch.Prepare(d.t.Context(), d.graph, cch.PrepareOptions{})
	if err != nil {
		d.t.Fatal(err)
	}
	live, err := nav.NewLive(d.t.Context(), nav.NewRoads(d.graph, match.NewIndex(d.graph), dataVersion), topology)
	if err != nil {
		d.t.Fatal(err)
	}
	d.live.Store(live)
	d.changed.Notify()
}

// change closes the roads between nodes, or makes them slower: a key is two nodes, or two nodes and "+", and a value the
// delay. It replaces the effect of earlier calls.
func (d *drives) change(id string, what map[string]time.Duration) {
	d.t.Helper()
	next := conditions{version: d.state.version + 1, on: map[uint32]nav.Condition{}, id: id}
	weights := map[uint32]uint32{}
	for arc := range d.state.on {
		weights[arc] = d.graph.Arcs[arc].Weight
	}
	for nodes, delay := range what {
		for i := range d.graph.Arcs {
			a := &d.graph.Arcs[i]
			from, to := d.graph.Nodes[a.From].OSM, d.graph.Nodes[a.To].OSM
			one, other := d.drawn.NodeID(d.t, nodes[:1]), d.drawn.NodeID(d.t, nodes[1:])
			if (from != one || to != other) && (from != other || to != one) {
				continue
			}
			c := nav.Condition{Weight: a.Weight, Duration: a.Duration, Closed: delay == 0}
			weights[uint32(i)] = graph.Closed
			if delay > 0 {
				c.Weight, c.Duration = a.Weight+uint32(delay.Milliseconds()), a.Duration+uint32(delay.Milliseconds())
				weights[uint32(i)] = c.Weight
			}
			next.on[uint32(i)] = c
		}
	}
	changes := make([]cch.ArcWeight, 0, len(weights))
	var closed []uint32
	for arc, weight := range weights {
		changes = append(changes, cch.ArcWeight{Arc: arc, Weight: weight})
		if weight == graph.Closed {
			closed = append(closed, arc)
		}
	}
	d.state = next
	d.live.Load().Update(changes, &next)
	d.Closed(append(closed, d.beside...))
	d.changed.Notify()
}

// begin opens a session from one place to others.
func (d *drives) begin(names string) *session.Session {
	d.t.Helper()
	q := nav.RouteRequest{}
	for _, name := range strings.Split(names, "") {
		q.Places.Coordinates = append(q.Places.Coordinates, d.drawn.Place(d.t, name))
	}
	var a nav.RouteAnswer
	if err := d.routes.Route(d.t.Context(), &q, &a); err != nil {
		d.t.Fatal(err)
	}
	s, err := d.lead(&q, &a, 0)
	if err != nil {
		d.t.Fatal(err)
	}
	return s
}

// lead opens a session on a route, for an arbitrary caller.
func (d *drives) lead(q *nav.RouteRequest, a *nav.RouteAnswer, route int) (*session.Session, error) {
	seat, err := d.Reserve(session.Caller{}, 1)
	if err != nil {
		return nil, err
	}
	defer seat.Release()
	return d.Open(seat, q, a, route, d.letters)
}

// letters renders a route as the nodes that it passes.
func (d *drives) letters(dst []byte, a *nav.RouteAnswer, route int) []byte {
	for i := range a.Routes[route].Legs {
		leg := &a.Routes[route].Legs[i]
		for k := range leg.Parts[1:] {
			dst = append(dst, byte(a.Network.Graph.Nodes[a.Network.Graph.Arcs[leg.Parts[k].Arc].To].OSM))
		}
	}
	return dst
}

// received holds the events that a client received.
type received struct {
	mu     sync.Mutex
	events []string
}

// add appends an event as its name, reason, entities and route.
func (r *received) add(e *session.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, strings.TrimSpace(strings.Join(slices.Concat([]string{e.Name, e.Reason}, e.EntityIDs, []string{string(e.Route)}), " ")))
}

// take returns the events since the last call.
func (r *received) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	events := r.events
	r.events = nil
	return events
}

// follow collects the events of a session until the test ends.
func (d *drives) follow(ctx context.Context, s *session.Session) (events *received, ended chan struct{}) {
	d.t.Helper()
	events, ended = new(received), make(chan struct{})
	go func() {
		defer close(ended)
		send := func(_ context.Context, list []session.Event) error {
			for i := range list {
				events.add(&list[i])
			}
			return nil
		}
		_ = send(ctx, []session.Event{s.Begin()})
		s.Follow(ctx, session.Client{Send: send, Heartbeat: func(context.Context) error { return nil }})
	}()
	return events, ended
}

func (d *drives) want(events *received, want ...string) {
	d.t.Helper()
	synctest.Wait()
	if got := events.take(); !slices.Equal(got, want) {
		d.t.Errorf("events %q, want %q", got, want)
	}
}

// along returns the point at a share of the line between two nodes, moved to its right by some metres.
func (d *drives) along(from, to string, share, metres float64) geo.Point {
	a, b := d.drawn.Place(d.t, from), d.drawn.Place(d.t, to)
	at := geo.Point{Lat: a.Lat + share*(b.Lat-a.Lat), Lng: a.Lng + share*(b.Lng-a.Lng)}
	const degree = 111_195 // metres
	turned := (geo.Bearing(a, b) + 90) * math.Pi / 180
	return geo.Point{Lat: at.Lat + math.Cos(turned)*metres/degree, Lng: at.Lng + math.Sin(turned)*metres/degree/math.Cos(at.Lat*math.Pi/180)}
}

func (d *drives) position(s *session.Session, at geo.Point, heading float64) string {
	d.t.Helper()
	if decision := s.Admit(); !decision.OK {
		d.t.Fatalf("a position is refused: %+v", decision)
	}
	route, err := s.Position(d.t.Context(), session.Position{At: at, Heading: heading})
	if err != nil {
		d.t.Fatal(err)
	}
	return string(route)
}

// inBubble runs a test in virtual time, with a running hub.
func inBubble(t *testing.T, test func(t *testing.T, d *drives)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		newDrives(t, session.Options{MaxSessions: 3}).whileRunning(t, test)
	})
}

// whileRunning runs a test while the hub runs.
func (d *drives) whileRunning(t *testing.T, test func(t *testing.T, d *drives)) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ran := make(chan error, 1)
	go func() { ran <- d.Run(ctx) }()
	test(t, d)
	cancel()
	if err := <-ran; err != nil {
		t.Error(err)
	}
	synctest.Wait()
}

// pass lets virtual time pass.
func (d *drives) pass(t time.Duration) {
	time.Sleep(t)
	synctest.Wait()
}
