package nav

import (
	"context"
	"iter"
	"sync"
	"sync/atomic"
	"time"

	"wayside/internal/nav/guide"
	"wayside/internal/roads/graph"
	"wayside/internal/roads/match"
)

// Network is the road network of a region at one moment. It is immutable, and has to be released.
type Network struct {
	*Roads
	Search     Search
	Conditions Conditions // nil: nothing is closed or slowed

	avoided map[uint32]struct{} // arcs that one request avoids
	release func()              // nil: nothing waits for its readers
}

// Release gives back what a network holds. The caller who got the network calls it once, when no search of it runs any more; what is not searched,
// such as the roads and the conditions, stays valid. A copy of a network is not released by itself.
func (n *Network) Release() {
	if n.release != nil {
		n.release()
	}
}

// Roads is what does not change as long as a region is the current one.
type Roads struct {
	Graph       *graph.Graph
	Index       *match.Index
	DataVersion string

	copies       map[uint32][]uint32   // of an arc on which routes end
	islandMetres []float64             // of all roads of an island, by its number
	junctions    func() *guide.Network // for guidance; made for the first route with steps
	words        func() (*guide.Words, error)
	local        func() *Plain // for short ways, without conditions; made when the first trace is matched
	middles      atomic.Pointer[middles]
}

// NewRoads prepares a graph for routes: it takes a pass over its pieces and arcs.
func NewRoads(g *graph.Graph, index *match.Index, dataVersion string) *Roads {
	r := &Roads{Graph: g, Index: index, DataVersion: dataVersion, copies: make(map[uint32][]uint32)}
	for i := range g.Arcs {
		if base := g.Arcs[i].CopyOf; base != uint32(i) {
			r.copies[base] = append(r.copies[base], uint32(i))
		}
	}
	r.islandMetres = measureIslands(g)
	r.local = sync.OnceValue(func() *Plain { return NewPlain(g, nil, nil) })
	r.words = sync.OnceValues(guide.ReadWords)
	r.junctions = sync.OnceValue(func() *guide.Network { return guide.NewNetwork(g) })
	return r
}

// measureIslands adds up the lengths of the roads of each island. A road of two directions counts once for each island that it is in.
func measureIslands(g *graph.Graph) []float64 {
	var metres []float64
	for i := range g.Pieces {
		p := &g.Pieces[i]
		before := uint32(graph.None)
		for _, arc := range [...]uint32{p.Forward, p.Backward} {
			if arc == graph.None || g.Arcs[arc].Island == before {
				continue
			}
			before = g.Arcs[arc].Island
			for int(before) >= len(metres) {
				metres = append(metres, 0)
			}
			metres[before] += float64(p.Length) / 1000
		}
	}
	return metres
}

// Language are the sentences of guidance in a language; nil if the program's own files cannot be read, which a test excludes.
func (r *Roads) Language(tag string) *guide.Language {
	words, err := r.words()
	if err != nil {
		return nil
	}
	return words.In(tag)
}

// Conditions are what entities do to arcs, in one version (D15.13 to D15.17).
type Conditions interface {
	// Version grows with each change.
	Version() uint64
	// None says that nothing concerns any arc.
	None() bool
	// On is what concerns an arc, a copy as well as what it is a copy of; false: nothing does.
	On(arc uint32) (Condition, bool)
	// Events calls each with the entities that concern an arc.
	Events(arc uint32, each func(Event))
	// Arcs are those that something concerns, copies among them.
	Arcs() iter.Seq[uint32]
}

// Condition is what entities do to one arc.
type Condition struct {
	Weight, Duration uint32 // of the whole arc now, in ms; of a closed one, what they are for who begins or ends there
	Closed           bool   // not to be driven from one end to the other (D15.16)
}

// Event is an entity that concerns an arc.
type Event struct {
	EntityID, KindID string
	Type             EventType
	Description      string // for drivers
	Created          time.Time
	Starts, Ends     time.Time // zero: not known
	Closed           bool
	Factor           float64       // the share of the usual speed that is left; 1: it does not slow
	Delay            time.Duration // that it costs once
}

// EventType is what sort of event an entity is.
type EventType uint8

// The types of events.
const (
	RoadClosure EventType = iota
	Construction
	Congestion
	Hazard
	Accident
)

// Query asks for the path of the least weight that takes at least one turn.
type Query struct {
	From, To []graph.End
	Exclude  graph.Flags // arcs with one of these flags are not driven
	Free     bool        // as if there were no conditions
}

// TableQuery asks for the paths from each of some sets of ends to each of others. Its cells are row by row, a row for each of From.
type TableQuery struct {
	From, To [][]graph.End
	Exclude  graph.Flags
	Cells    []Cell // len(From)*len(To) of them, to be filled
}

// Cell is one path of a table. What lies on its first and last arc is in Weight alone: From and To say which ends were taken.
type Cell struct {
	Weight   uint64 // ms, with the costs of both ends; NoPath if there is none
	Duration uint64 // ms, of the turns and the arcs between
	Length   uint64 // mm, of the arcs between
	From, To uint32 // indexes into TableQuery.From[i] and To[j]
}

// NoPath is the weight of a cell without a path.
const NoPath = ^uint64(0)

// Search finds paths. The searches without preparation and by hierarchies are two of them; any number of goroutines may use one. A
// search ends with the context's error when the request that asked is gone.
type Search interface {
	Route(ctx context.Context, q *Query) (path graph.Path, found bool, err error)
	// Alternatives are the best path, if there is a route, and up to count others: no more than a quarter longer, and different from
	// each other in a fifth at least.
	Alternatives(ctx context.Context, q *Query, count int) ([]graph.Path, error)
	Table(ctx context.Context, q *TableQuery) error
}

// condition is what concerns an arc now, and what it costs.
func (n *Network) condition(arc uint32) (Condition, bool) {
	if n.Conditions != nil {
		if c, ok := n.Conditions.On(arc); ok {
			return c, true
		}
	}
	a := &n.Graph.Arcs[arc]
	return Condition{Weight: a.Weight, Duration: a.Duration}, false
}

// Version is that of the conditions.
func (n *Network) Version() uint64 {
	if n.Conditions == nil {
		return 0
	}
	return n.Conditions.Version()
}

// turn is the turn from one arc onto another; the lightest, if there are several.
func (r *Roads) turn(from, to uint32) *graph.Turn {
	var best *graph.Turn
	turns := r.Graph.TurnsFrom(from)
	for i := range turns {
		if turns[i].To == to && (best == nil || turns[i].Weight < best.Weight) {
			best = &turns[i]
		}
	}
	return best
}

// TurnTime is how long the turn from one arc onto another takes, in ms; 0: there is none.
func (r *Roads) TurnTime(from, to uint32) uint32 {
	if turn := r.turn(from, to); turn != nil {
		return turn.Duration
	}
	return 0
}

// way is the way that an arc is on.
func (r *Roads) way(arc uint32) *graph.Way {
	return &r.Graph.Ways[r.Graph.Pieces[r.Graph.Arcs[arc].Piece].Way]
}

// NameOf is the name of the road of a piece.
func (r *Roads) NameOf(piece uint32) string {
	return r.Graph.Text(r.Graph.Ways[r.Graph.Pieces[piece].Way].Name)
}
