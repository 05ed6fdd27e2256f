package service

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"wayside/internal/drive/nav"
	"wayside/internal/drive/traffic"
	"wayside/internal/entities/catalog"
	"wayside/internal/entities/index"
	"wayside/internal/entities/nearby"
	"wayside/internal/entities/wire"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/signal"
	"wayside/internal/roads/cch"
	"wayside/internal/roads/graph"
	"wayside/internal/roads/match"
)

// The size of squareTown: its streets in each direction, a hundred metres apart. Some of them are open in one direction only.
const (
	townStreets = 40
	townBlock   = 1e-3 // degrees
)

func squareTown(random *rand.Rand) *graph.Graph {
	g := &graph.Graph{FirstTurn: []uint32{0}, Ways: []graph.Way{{}}}
	for i := range townStreets * townStreets {
		g.Nodes = append(g.Nodes, graph.Node{Position: nav.PositionOf(geo.Point{Lat: townBlock * float64(i/townStreets), Lng: townBlock * float64(i%townStreets)})})
	}
	arc := func(from, to, piece uint32, flags graph.Flags) uint32 {
		ms := 8000 + random.Uint32N(8000)
		g.Arcs = append(g.Arcs, graph.Arc{From: from, To: to, Weight: ms, Duration: ms, Piece: piece, CopyOf: uint32(len(g.Arcs)), Flags: flags | graph.MayBegin | graph.MayEnd})
		return uint32(len(g.Arcs) - 1)
	}
	street := func(from, to uint32) {
		number := uint32(len(g.Pieces))
		p := graph.Piece{FirstLine: uint32(len(g.Line)), Positions: 2, Length: 111_195, Forward: arc(from, to, number, 0), Backward: graph.None}
		if random.IntN(6) > 0 {
			p.Backward = arc(to, from, number, graph.Backward)
		}
		g.Pieces, g.Line, g.LineNodes = append(g.Pieces, p), append(g.Line, g.Nodes[from].Position, g.Nodes[to].Position), append(g.LineNodes, int64(from), int64(to))
	}
	for i := range uint32(townStreets * townStreets) {
		if i%townStreets+1 < townStreets {
			street(i, i+1)
		}
		if i/townStreets+1 < townStreets {
			street(i, i+townStreets)
		}
	}
	leaving := make([][]uint32, len(g.Nodes))
	for i := range g.Arcs {
		leaving[g.Arcs[i].From] = append(leaving[g.Arcs[i].From], uint32(i))
	}
	for i := range g.Arcs {
		for _, next := range leaving[g.Arcs[i].To] {
			if g.Arcs[next].Piece != g.Arcs[i].Piece {
				ms := random.Uint32N(3000)
				g.Turns = append(g.Turns, graph.Turn{To: next, Weight: ms, Duration: ms})
			}
		}
		g.FirstTurn = append(g.FirstTurn, uint32(len(g.Turns)))
	}
	return g
}

// badDay is a town whose conditions are followed as in a service, by the real index, reader and router.
type badDay struct {
	t      *testing.T
	random *rand.Rand
	graph  *graph.Graph
	places *match.Index
	live   *nav.Live
	router router
	near   *nearby.Reader
	index  *index.Index
	feed   *mapdata.Feed
	moved  *signal.Moved
	follow *traffic.Follower

	updated func(*traffic.State) // called with each state; nil: not called
}

// Update calls updated and passes the state to the town's router.
func (d *badDay) Update(ctx context.Context, changed []traffic.Cost, state *traffic.State) error {
	if d.updated != nil {
		d.updated(state)
	}
	return d.router.Update(ctx, changed, state)
}

func newBadDay(t *testing.T) *badDay {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	d := &badDay{t: t, random: random, graph: squareTown(random), index: index.New(wire.EncodeEntity), moved: signal.NewMoved()}
	d.places = match.NewIndex(d.graph)
	topology, err := cch.Prepare(t.Context(), d.graph, cch.PrepareOptions{})
	if err == nil {
		d.live, err = nav.NewLive(t.Context(), nav.NewRoads(d.graph, d.places, "drawn"), topology)
	}
	if err != nil {
		t.Fatal(err)
	}
	d.feed = &mapdata.Feed{ID: mapdata.FeedID{1}, Visibility: mapdata.Public, ReviewState: mapdata.Approved, Active: true, Direction: mapdata.Push, Layer: mapdata.Layer{Slug: "x"}}
	sources := catalog.New(nil)
	sources.Apply([]mapdata.FeedChange{{Feed: d.feed, FeedID: d.feed.ID}}).Publish()
	d.near = nearby.New(nearby.Config{Index: d.index, Catalog: sources, Now: time.Now})
	roads := traffic.NewNetwork(d.graph, d.places)
	d.router = router{d.live, roads, new(signal.RoadsChanged), func([]uint32) {}}
	d.follow = traffic.New(traffic.Options{
		Network: roads, Bounds: geo.Box{South: 0, West: 0, North: townBlock * townStreets, East: townBlock * townStreets},
		Reader: reader{current: func() *nearby.Reader { return d.near }, answer: new(nearby.Answer)}, Router: d, Moved: d.moved, Now: time.Now,
		Failed: func(err error) { t.Error(err) },
	})
	return d
}

// day runs a function with a followed town in a synctest bubble.
func day(t *testing.T, do func(d *badDay)) {
	synctest.Test(t, func(t *testing.T) {
		d := newBadDay(t)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- d.follow.Run(ctx) }()
		synctest.Wait()
		do(d)
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// closure returns a closed road.
func closure(id string, at geo.Point, properties string) mapdata.Entity {
	kind, _ := mapdata.ParseKind("alert.road_closed")
	return mapdata.Entity{ExternalID: id, Kind: kind, Point: at, Properties: []byte(properties), FirstSeenAt: time.Now(), SeenAt: time.Now(), ChangedAt: time.Now(), Lifetime: time.Hour}
}

// push stores entities and waits until they are applied and every entity is matched.
func (d *badDay) push(entities []mapdata.Entity, gone ...string) {
	for i := range entities {
		entities[i].Feed = d.feed.ID
	}
	d.moved.Notify(d.index.Apply([]mapdata.FeedChange{{Feed: d.feed, FeedID: d.feed.ID, Entities: entities, Gone: gone}}))
	d.settle()
}

func (d *badDay) settle() {
	for version := uint64(math.MaxUint64); version != d.follow.State().Version; {
		version = d.follow.State().Version
		time.Sleep(50 * time.Millisecond) // more than the delay after which readers see a change
		synctest.Wait()
	}
}

// exact checks that exactly the arcs of closed are closed, and compares routes between random arcs with those of plain Dijkstra
// under the weights of the conditions.
func (d *badDay) exact(closed map[uint32]bool) {
	d.t.Helper()
	weights := d.graph.Weights()
	for arc := range weights {
		if weights[arc] = d.follow.State().Weight(d.graph, uint32(arc)); (weights[arc] == graph.Closed) != closed[uint32(arc)] {
			d.t.Errorf("arc %d weighs %d, must be closed: %t; %v", arc, weights[arc], closed[uint32(arc)], d.graph.PieceLine(d.graph.Arcs[arc].Piece))
		}
	}
	n, plain := d.live.Network(), graph.NewDijkstra(d.graph)
	defer n.Release()
	for range 300 {
		from, to := []graph.End{{Arc: d.random.Uint32N(uint32(len(weights)))}}, []graph.End{{Arc: d.random.Uint32N(uint32(len(weights)))}}
		want, there := plain.Route(weights, from, to)
		got, found, err := n.Search.Route(d.t.Context(), &nav.Query{From: from, To: to})
		if err != nil || found != there || found && got.Weight != want.Weight {
			d.t.Fatalf("from %v to %v: %d, %t (%v), want %d, %t", from, to, got.Weight, found, err, want.Weight, there)
		}
	}
}

// closedBy returns the arcs that closures at the entities' points close.
func (d *badDay) closedBy(entities []mapdata.Entity) map[uint32]bool {
	closed := map[uint32]bool{}
	for i := range entities {
		for _, arc := range d.places.At(entities[i].Point, "", 0, false) {
			closed[arc] = true
		}
	}
	return closed
}

// everyRoad returns closures in the middle of each road within a distance of a place.
func (d *badDay) everyRoad(around geo.Point, metres float64) (all []mapdata.Entity) {
	for i := range d.graph.Pieces {
		line := d.graph.PieceLine(uint32(i))
		at := geo.Between(line[0].Point(), line[1].Point(), 0.5)
		if geo.Distance(at, around) <= metres {
			all = append(all, closure(fmt.Sprint("road ", i), at, `{}`))
		}
	}
	return all
}

func ids(entities []mapdata.Entity) (all []string) {
	for i := range entities {
		all = append(all, entities[i].ExternalID)
	}
	return all
}

var townCenter = geo.Point{Lat: townBlock * townStreets / 2, Lng: townBlock * townStreets / 2}
