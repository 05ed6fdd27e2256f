package traffic_test

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"wayside/internal/drive/traffic"
	"wayside/internal/entities/wire"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/signal"
	"wayside/internal/roads/graph"
	"wayside/internal/roads/match"
)

// The roads are a grid of streets, 200 m apart; x and y are metres. Each street is open in both directions.
const (
	blockMetres = 200
	blocks      = 6
	metreNorth  = 1 / 111_195.08
	metreEast   = 1 / 78_626.8
)

func place(x, y float64) geo.Point { return geo.Point{Lat: 45 + y*metreNorth, Lng: 9 + x*metreEast} }

func position(x, y float64) graph.Position {
	p := place(x, y)
	return graph.Position{Lng: int32(math.Round(p.Lng * 1e7)), Lat: int32(math.Round(p.Lat * 1e7))}
}

// A block takes 20 s, so that the usual speed is 36 km/h.
const blockMS = 20_000

type town struct {
	g     *graph.Graph
	x     *match.Index
	roads map[string]uint32 // pieces by "x,y east" or "x,y north" in blocks
}

func newTown() *town {
	t := &town{g: &graph.Graph{FirstTurn: []uint32{0}}, roads: map[string]uint32{}}
	t.g.Texts = []byte("Street")
	t.g.Ways = []graph.Way{{Name: graph.TextRange{Length: 6}}}
	for i := range blocks {
		for j := range blocks {
			x, y := float64(i*blockMetres), float64(j*blockMetres)
			t.road(fmt.Sprintf("%d,%d east", i, j), position(x, y), position(x+blockMetres, y))
			t.road(fmt.Sprintf("%d,%d north", i, j), position(x, y), position(x, y+blockMetres))
		}
	}
	// The last arc has a copy, as a restriction over ways makes it.
	last := t.g.Arcs[len(t.g.Arcs)-1]
	t.g.Arcs = append(t.g.Arcs, last)
	t.x = match.NewIndex(t.g)
	return t
}

func (t *town) road(name string, from, to graph.Position) {
	piece, arc := uint32(len(t.g.Pieces)), uint32(len(t.g.Arcs))
	t.roads[name] = piece
	t.g.Pieces = append(t.g.Pieces, graph.Piece{FirstLine: uint32(len(t.g.Line)), Positions: 2, Length: blockMetres * 1000, Forward: arc, Backward: arc + 1})
	t.g.Line = append(t.g.Line, from, to)
	for i, flags := range []graph.Flags{0, graph.Backward} {
		t.g.Arcs = append(t.g.Arcs, graph.Arc{Piece: piece, Weight: blockMS, Duration: blockMS, CopyOf: arc + uint32(i), Flags: flags})
	}
}

// pins is a Reader of a map of entities.
type pins struct {
	mu   sync.Mutex
	hits map[string]mapdata.Hit
}

func (p *pins) set(id, kind, properties string, at geo.Point, change ...func(*mapdata.Hit)) geo.Circle {
	k, ok := mapdata.ParseKind(kind)
	if !ok {
		panic(kind)
	}
	e := mapdata.Entity{ExternalID: id, Kind: k, Point: at, Properties: []byte(properties)}
	h := mapdata.Hit{Source: "feed:x", ExternalID: []byte(id), Kind: k, Point: at, Prepared: wire.EncodeEntity(nil, &e)}
	for _, c := range change {
		c(&h)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.hits == nil {
		p.hits = map[string]mapdata.Hit{}
	}
	p.hits[id] = h
	return geo.Circle{Center: at, Radius: 1}
}

func (p *pins) delete(id string) geo.Circle {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := p.hits[id].Point
	delete(p.hits, id)
	return geo.Circle{Center: at, Radius: 1}
}

func (p *pins) Read(_ context.Context, area geo.Circle, within *geo.Box, kinds mapdata.KindSet, limit int, each func(*mapdata.Hit)) (bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var found []mapdata.Hit
	for _, h := range p.hits {
		if kinds.Has(h.Kind) && geo.Distance(h.Point, area.Center) <= area.Radius && (within == nil || within.Contains(h.Point)) && (h.ExpiresAt == 0 || time.Now().UnixMilli() < h.ExpiresAt) {
			found = append(found, h)
		}
	}
	slices.SortFunc(found, func(a, b mapdata.Hit) int {
		return cmp.Compare(geo.Distance(a.Point, area.Center), geo.Distance(b.Point, area.Center))
	})
	for i := range found[:min(limit, len(found))] {
		each(&found[i])
	}
	return len(found) > limit, nil
}

// weights is a Router that keeps the weights of all arcs.
type weights struct {
	mu  sync.Mutex
	now map[uint32]uint32
}

func (w *weights) of(arc uint32) (weight uint32, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	weight, ok = w.now[arc]
	return weight, ok
}

func (w *weights) Update(_ context.Context, changed []traffic.Cost, _ *traffic.State) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range changed {
		w.now[c.Arc] = c.Weight
	}
	return nil
}

type world struct {
	town   *town
	pins   pins
	router weights
	moved  *signal.Moved
	*traffic.Follower
}

func newWorld() *world {
	w := &world{town: newTown(), moved: signal.NewMoved(), router: weights{now: map[uint32]uint32{}}}
	w.Follower = w.follower(&w.router, w.moved)
	return w
}

func (w *world) follower(r traffic.Router, moved traffic.Moved) *traffic.Follower {
	return traffic.New(traffic.Options{
		Network: traffic.NewNetwork(w.town.g, w.town.x), Reader: &w.pins, Router: r, Moved: moved, Now: time.Now,
		Bounds: geo.Box{South: 44.9, West: 8.9, North: 45.1, East: 9.1}, Failed: func(err error) { panic(err) },
	})
}

// run runs the follower while do runs, which may wait with synctest.Wait.
func (w *world) run(t *testing.T, do func()) {
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := w.Run(ctx); err != nil {
			t.Error(err)
		}
	}()
	synctest.Wait()
	do()
	stop()
	<-ended
}

func (w *world) tell(area geo.Circle) {
	w.moved.NotifyAreas([]geo.Circle{area})
	synctest.Wait()
}

// want checks the weights of both arcs of a road, in the state and in the Router.
func (w *world) want(t *testing.T, road string, forward, backward uint32) {
	t.Helper()
	p := w.town.g.Pieces[w.town.roads[road]]
	state := w.State()
	if f, b := state.Weight(w.town.g, p.Forward), state.Weight(w.town.g, p.Backward); f != forward || b != backward {
		t.Errorf("%s weighs %d and %d, want %d and %d", road, f, b, forward, backward)
	}
	for _, arc := range []uint32{p.Forward, p.Backward} {
		if got, ok := w.router.of(arc); ok && got != state.Weight(w.town.g, arc) {
			t.Errorf("the router has %d for arc %d, the state %d", got, arc, state.Weight(w.town.g, arc))
		}
	}
}

func TestEffects(t *testing.T) {
	const usual = blockMS
	votes := func(confirms, disputes int32) func(*mapdata.Hit) {
		return func(h *mapdata.Hit) { h.CountedConfirms, h.CountedDisputes = confirms, disputes }
	}
	for name, c := range map[string]struct {
		kind, properties  string
		change            func(*mapdata.Hit)
		forward, backward uint32
	}{
		"a closed road":                      {"alert.road_closed", `{}`, nil, graph.Closed, graph.Closed},
		"a closed road in one direction":     {"alert.road_closed", `{"bearing":80}`, nil, graph.Closed, usual},
		"both directions beat a bearing":     {"alert.road_closed", `{"bearing":80,"both_directions":true}`, nil, graph.Closed, graph.Closed},
		"closed works":                       {"alert.construction", `{"closed":true}`, nil, graph.Closed, graph.Closed},
		"works":                              {"alert.construction", `{"closed":"true"}`, nil, usual * 5 / 4, usual * 5 / 4},
		"a jam":                              {"traffic.jam", `{}`, nil, usual * 3, usual * 3},
		"a jam with its speed":               {"traffic.jam", `{"speed_kmh":18}`, nil, usual * 2, usual * 2},
		"a jam that stands":                  {"traffic.jam", `{"speed_kmh":1}`, nil, usual * 12, usual * 12},
		"a jam is never faster":              {"traffic.jam", `{"speed_kmh":90}`, nil, usual, usual},
		"ice":                                {"alert.hazard.ice", `{}`, nil, usual * 2, usual * 2},
		"a flood":                            {"alert.hazard.flooding", `{}`, nil, usual * 2, usual * 2},
		"an accident":                        {"alert.accident", `{}`, nil, usual + 90_000, usual + 90_000},
		"another hazard":                     {"alert.hazard.pothole", `{}`, nil, usual, usual},
		"a disputed closure":                 {"alert.road_closed", `{}`, votes(0, 2), usual + 300_000, usual + 300_000},
		"disputed closed works":              {"alert.construction", `{"closed":true}`, votes(2, 2), usual + 300_000, usual + 300_000},
		"a closure that one disputes":        {"alert.road_closed", `{}`, votes(0, 1), graph.Closed, graph.Closed},
		"disputed by those who do not count": {"alert.road_closed", `{}`, func(h *mapdata.Hit) { h.Disputes = 9 }, graph.Closed, graph.Closed},
		"a confirmed closure":                {"alert.road_closed", `{}`, votes(3, 1), graph.Closed, graph.Closed},
		"properties of the wrong form":       {"alert.road_closed", `{"bearing":"80","line":[[9]],"starts_at":7,"both_directions":1}`, nil, graph.Closed, graph.Closed},
		"one that has ended":                 {"alert.road_closed", `{"ends_at":"1999-12-31T23:59:59Z"}`, nil, usual, usual},
		"a street that is named, not there":  {"alert.road_closed", `{"street":"Elsewhere"}`, nil, graph.Closed, graph.Closed},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld()
				change := c.change
				if change == nil {
					change = votes(0, 0)
				}
				w.pins.set("a", c.kind, c.properties, place(300, 210), change)
				w.run(t, func() {
					w.want(t, "1,1 east", c.forward, c.backward)
					w.want(t, "1,2 east", usual, usual)
				})
			})
		})
	}
}

// TestSeveralOnOneArc checks that on one arc closed wins, then the slowest speed, and that delays add up (D15.14).
func TestSeveralOnOneArc(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.run(t, func() {
			at := place(300, 200)
			w.tell(w.pins.set("works", "alert.construction", `{}`, at))
			w.tell(w.pins.set("jam", "traffic.jam", `{}`, at))
			w.tell(w.pins.set("accident", "alert.accident", `{}`, at))
			w.tell(w.pins.set("other", "alert.accident", `{}`, at))
			w.want(t, "1,1 east", 3*blockMS+180_000, 3*blockMS+180_000)
			w.tell(w.pins.set("closed", "alert.road_closed", `{}`, at))
			w.want(t, "1,1 east", graph.Closed, graph.Closed)
			w.tell(w.pins.delete("closed"))
			w.want(t, "1,1 east", 3*blockMS+180_000, 3*blockMS+180_000)
			for _, id := range []string{"jam", "accident", "other", "works"} {
				w.tell(w.pins.delete(id))
			}
			w.want(t, "1,1 east", blockMS, blockMS)
			for range w.State().Costs {
				t.Error("a cost without a condition")
			}
		})
	})
}

// TestLines checks that a line counts along its whole length, and that an accident's 90 seconds count once.
func TestLines(t *testing.T) {
	line := `{"line":[[9,45.00001],[` + fmt.Sprint(place(600, 0).Lng) + `,45.00001]]`
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.run(t, func() {
			w.tell(w.pins.set("a", "alert.road_closed", line+`}`, place(0, 0)))
			for i := range 3 {
				w.want(t, fmt.Sprintf("%d,0 east", i), graph.Closed, blockMS)
			}
			w.want(t, "3,0 east", blockMS, blockMS)
			w.tell(w.pins.set("a", "alert.road_closed", line+`,"both_directions":true}`, place(0, 0)))
			w.want(t, "2,0 east", graph.Closed, graph.Closed)
			w.tell(w.pins.set("a", "alert.accident", line+`}`, place(300, 0)))
			w.want(t, "0,0 east", blockMS, blockMS)
			w.want(t, "1,0 east", blockMS+90_000, blockMS)
			w.want(t, "2,0 east", blockMS, blockMS)
		})
	})
}

func TestCopiesCostTheSame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.run(t, func() {
			w.tell(w.pins.set("a", "alert.road_closed", `{}`, place((blocks-1)*blockMetres, (blocks-0.5)*blockMetres)))
			if got := w.State().Weight(w.town.g, uint32(len(w.town.g.Arcs)-1)); got != graph.Closed {
				t.Errorf("the copy weighs %d", got)
			}
		})
	})
}

// TestTimes checks that conditions begin and end at their own times, to the second (D15.14, D15.17).
func TestTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		began := time.Now()
		after := func(d time.Duration) string { return began.Add(d).Format(time.RFC3339) }
		w.pins.set("a", "alert.road_closed", `{"starts_at":"`+after(time.Hour)+`","ends_at":"`+after(2*time.Hour)+`"}`, place(300, 200))
		w.pins.set("b", "traffic.jam", `{}`, place(300, 400), func(h *mapdata.Hit) { h.ExpiresAt = began.Add(10 * time.Minute).UnixMilli() })
		w.run(t, func() {
			steps := []struct {
				at  time.Duration
				a   uint32
				jam uint32
			}{
				{9*time.Minute + 59*time.Second, blockMS, 3 * blockMS},
				{10 * time.Minute, blockMS, blockMS},
				{time.Hour - time.Second, blockMS, blockMS},
				{time.Hour, graph.Closed, blockMS},
				{2*time.Hour - time.Second, graph.Closed, blockMS},
				{2 * time.Hour, blockMS, blockMS},
			}
			for _, step := range steps {
				time.Sleep(time.Until(began.Add(step.at)))
				synctest.Wait()
				w.want(t, "1,1 east", step.a, step.a)
				w.want(t, "1,2 east", step.jam, step.jam)
			}
		})
	})
}

// TestReturns checks that a closure comes back when its suppression ends, without any other change (D9.5).
func TestReturns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.run(t, func() {
			at := geo.Circle{Center: place(300, 200), Radius: 1}
			w.moved.Notify(mapdata.Touched{Returns: []mapdata.Return{{At: time.Now().Add(time.Hour), Area: at}}})
			synctest.Wait()
			w.pins.set("a", "alert.road_closed", `{}`, at.Center)
			time.Sleep(time.Hour - time.Second)
			synctest.Wait()
			w.want(t, "1,1 east", blockMS, blockMS)
			time.Sleep(time.Second)
			synctest.Wait()
			w.want(t, "1,1 east", graph.Closed, graph.Closed)
		})
	})
}

// TestMergedPins checks that merged pins are one condition, which counts on the arcs of all of them (D15.13).
func TestMergedPins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.run(t, func() {
			other := mapdata.Entity{ExternalID: "other", Point: place(320, 400), Properties: []byte(`{"bearing":270}`)}
			closed, _ := mapdata.ParseKind("alert.road_closed")
			w.tell(w.pins.set("a", "alert.road_closed", `{"bearing":90}`, place(300, 200), func(h *mapdata.Hit) {
				h.Merged = []mapdata.MergedID{{Source: "feed:y", ExternalID: []byte("other"), Prepared: wire.EncodeEntity(nil, &other), Point: other.Point, Kind: closed}}
			}))
			w.want(t, "1,1 east", graph.Closed, blockMS)
			w.want(t, "1,2 east", blockMS, graph.Closed)
			for cost := range w.State().Costs {
				if on := slices.Collect(cost.Conditions.All()); len(on) != 1 || !slices.Equal(on, slices.Collect(w.State().Conditions(cost.Arc).All())) {
					t.Errorf("arc %d has %d conditions", cost.Arc, len(on))
				}
			}
			w.tell(w.pins.delete("a"))
			w.want(t, "1,2 east", blockMS, blockMS)
		})
	})
}

// TestFollowedIsWhatIsRead checks that following any sequence of changes leads to the same state as one full read.
func TestFollowedIsWhatIsRead(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		kinds := []string{"alert.road_closed", "alert.construction", "traffic.jam", "alert.accident", "alert.hazard.ice", "alert.hazard.pothole"}
		forms := []string{`{}`, `{"bearing":90}`, `{"closed":true}`, `{"speed_kmh":7}`, `{"line":[[9,45],[9.01,45],[9.01,45.006]]}`, `{"starts_at":"2000-01-01T01:00:00Z"}`, `{"ends_at":"2000-01-01T00:30:00Z"}`}
		type step struct {
			id, kind, form int
			x, y           float64
			gone, all      bool
			wait           time.Duration
		}
		var steps []step
		for range rapid.IntRange(1, 40).Draw(rt, "steps") {
			steps = append(steps, step{
				rapid.IntRange(0, 8).Draw(rt, "id"), rapid.IntRange(0, len(kinds)-1).Draw(rt, "kind"), rapid.IntRange(0, len(forms)-1).Draw(rt, "form"),
				rapid.Float64Range(-50, 1250).Draw(rt, "x"), rapid.Float64Range(-50, 1250).Draw(rt, "y"), rapid.IntRange(0, 3).Draw(rt, "gone") == 0,
				rapid.IntRange(0, 9).Draw(rt, "all") == 0, time.Duration(rapid.IntRange(0, 600).Draw(rt, "wait")) * time.Second,
			})
		}
		synctest.Test(t, func(t *testing.T) {
			w := newWorld()
			w.run(t, func() {
				for _, s := range steps {
					id := fmt.Sprint(s.id)
					areas := []geo.Circle{w.pins.delete(id)}
					if !s.gone {
						areas = append(areas, w.pins.set(id, kinds[s.kind], forms[s.form], place(s.x, s.y)))
					}
					w.moved.Notify(mapdata.Touched{Areas: areas, Everywhere: s.all})
					time.Sleep(s.wait)
					synctest.Wait()
				}
			})
			fresh := &world{town: w.town, moved: signal.NewMoved(), router: weights{now: map[uint32]uint32{}}}
			fresh.pins.hits = w.pins.hits
			fresh.Follower = fresh.follower(&fresh.router, fresh.moved)
			fresh.run(t, func() {})
			for arc := range uint32(len(w.town.g.Arcs)) {
				if got, want := w.State().Weight(w.town.g, arc), fresh.State().Weight(w.town.g, arc); got != want {
					rt.Fatalf("arc %d weighs %d, read at once %d", arc, got, want)
				}
				if got, want := w.State().Conditions(arc).Len(), fresh.State().Conditions(arc).Len(); got != want {
					rt.Fatalf("arc %d has %d conditions, read at once %d", arc, got, want)
				}
			}
		})
	})
}

// TestCrowd checks that entities beyond the limit of one read are found, and that a change of one of them is read too.
func TestCrowd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		for i := range 6000 {
			w.pins.set(fmt.Sprint("pothole and jam ", i), "traffic.jam", `{}`, place(float64(i%1200), float64(i/1200)*200+10))
		}
		w.pins.set("closed", "alert.road_closed", `{}`, place(900, 1000))
		w.run(t, func() {
			w.want(t, "4,5 east", graph.Closed, graph.Closed)
			w.tell(w.pins.delete("closed"))
			w.want(t, "4,5 east", blockMS, blockMS)
		})
	})
}

// TestLaterEnd checks that a source that extends the life of its entities with each answer changes no road by that, and
// that the entities end at the last announced time.
func TestLaterEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		began := time.Now()
		until := func(d time.Duration) func(*mapdata.Hit) {
			return func(h *mapdata.Hit) { h.ExpiresAt = began.Add(d).UnixMilli() }
		}
		w.pins.set("a", "alert.road_closed", `{}`, place(300, 200), until(10*time.Minute))
		w.run(t, func() {
			version := w.State().Version
			for minute := range 20 {
				w.tell(w.pins.set("a", "alert.road_closed", `{}`, place(300, 200), until(time.Duration(11+minute)*time.Minute)))
				time.Sleep(time.Minute)
				synctest.Wait()
				w.want(t, "1,1 east", graph.Closed, graph.Closed)
			}
			if now := w.State().Version; now != version {
				t.Errorf("the version went from %d to %d", version, now)
			}
			time.Sleep(10 * time.Minute)
			synctest.Wait()
			w.want(t, "1,1 east", blockMS, blockMS)
		})
	})
}

// TestMatchedOnce checks that a condition whose entity did not change is not matched to roads again, and that a changed
// one is.
func TestMatchedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		line := `{"line":[[9,45.00001],[` + fmt.Sprint(place(600, 0).Lng) + `,45.00001]]}`
		closures, _ := mapdata.ParseKind("alert.road_closed")
		w.pins.set("long", "traffic.jam", line, place(0, 0))
		w.run(t, func() {
			matched := w.Network.Matched()
			for i := range 50 {
				w.tell(w.pins.set("short", "traffic.jam", fmt.Sprintf(`{"speed_kmh":%d}`, i), place(100, 210)))
			}
			if now := w.Network.Matched() - matched; now != 50 {
				t.Errorf("50 changes of one entity had %d matched", now)
			}
			w.want(t, "2,0 east", 3*blockMS, blockMS)
			w.tell(w.pins.set("long", "traffic.jam", line, place(0, 0), func(h *mapdata.Hit) { h.CountedDisputes, h.Kind = 2, closures }))
			w.want(t, "0,0 east", blockMS+300_000, blockMS)
			if now := w.Network.Matched() - matched; now != 50 {
				t.Errorf("votes had %d matched again", now-50)
			}
			w.tell(w.pins.set("long", "traffic.jam", `{}`, place(0, 0)))
			w.tell(w.pins.delete("long"))
			w.tell(w.pins.set("long", "traffic.jam", line, place(0, 0)))
			w.want(t, "2,0 east", 3*blockMS, blockMS)
			if now := w.Network.Matched() - matched; now != 52 {
				t.Errorf("two changes more had %d matched", now-50)
			}
		})
	})
}
