package nav

import (
	"context"
	"iter"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"wayside/internal/drive/nav/guide"
	"wayside/internal/roads/graph"
	"wayside/internal/roads/match"
)

// Network is the road network of a region at one moment. It is immutable, and must be released.
type Network struct {
	*Roads
	Search     Search
	Conditions Conditions // nil: nothing is closed or slowed

	avoided map[uint32]struct{} // arcs that one request avoids
	release func()              // nil: nothing needs to be released
}

// Release gives back the resources of a network. The caller that got the network must call it once, when none of its
// searches runs any more; the parts that are not searched, such as the roads and the conditions, stay valid. Copies of a
// network need not be released.
func (n *Network) Release() {
	if n.release != nil {
		n.release()
	}
}

// Roads is the part of a network that does not change while a region is the current one.
type Roads struct {
	Graph       *graph.Graph
	Index       *match.Index
	DataVersion string

	copies      map[uint32][]uint32   // of an arc on which routes end
	islandSizes []uint32              // number of junctions of an island, by its number
	junctions   func() *guide.Network // for guidance; made for the first route with steps
	words       func() (*guide.Words, error)
	local       func() *Plain // for short ways, without conditions; made when the first trace is matched
	middles     atomic.Pointer[middles]
}

// NewRoads prepares a graph for routes, in a pass over its pieces and arcs.
func NewRoads(g *graph.Graph, index *match.Index, dataVersion string) *Roads {
	r := &Roads{Graph: g, Index: index, DataVersion: dataVersion, copies: make(map[uint32][]uint32)}
	for i := range g.Arcs {
		if base := g.Arcs[i].CopyOf; base != uint32(i) {
			r.copies[base] = append(r.copies[base], uint32(i))
		}
	}
	r.islandSizes = countIslands(g)
	r.local = sync.OnceValue(func() *Plain { return NewPlain(g, nil, nil) })
	r.words = sync.OnceValues(guide.ReadWords)
	r.junctions = sync.OnceValue(func() *guide.Network { return guide.NewNetwork(g) })
	return r
}

// countIslands returns the number of junctions of each island. A junction at which arcs of several islands end counts
// once for each.
func countIslands(g *graph.Graph) []uint32 {
	// The arcs that end at node n are ending[first[n]:first[n+1]].
	first := make([]uint32, len(g.Nodes)+1)
	islands := uint32(0)
	for i := range g.Arcs {
		first[g.Arcs[i].To+1]++
		islands = max(islands, g.Arcs[i].Island+1)
	}
	for i := range g.Nodes {
		first[i+1] += first[i]
	}
	ending, next := make([]uint32, len(g.Arcs)), slices.Clone(first)
	for i := range g.Arcs {
		node := g.Arcs[i].To
		ending[next[node]] = uint32(i)
		next[node]++
	}
	counts, counted := make([]uint32, islands), make([]uint32, islands) // counted: the last node that was, plus 1
	for node := range g.Nodes {
		for _, arc := range ending[first[node]:first[node+1]] {
			if island := g.Arcs[arc].Island; counted[island] != uint32(node)+1 {
				counted[island] = uint32(node) + 1
				counts[island]++
			}
		}
	}
	return counts
}

// Language returns the sentences of guidance in a language, or nil if the embedded files cannot be read, which a test
// excludes.
func (r *Roads) Language(tag string) *guide.Language {
	words, err := r.words()
	if err != nil {
		return nil
	}
	return words.In(tag)
}

// Conditions are the effects of entities on arcs, in one version (D15.13 to D15.17).
type Conditions interface {
	// Version grows with each change.
	Version() uint64
	// None reports whether there are no conditions on any arc.
	None() bool
	// On returns the condition on an arc, for copies the same as for the original, and false if there is none.
	On(arc uint32) (Condition, bool)
	// Events calls each with the entities on an arc.
	Events(arc uint32, each func(Event))
	// Arcs yields the arcs with conditions, including copies.
	Arcs() iter.Seq[uint32]
}

// Condition is the effect of entities on one arc.
type Condition struct {
	Weight, Duration uint32 // current values of the whole arc, in ms; for a closed arc, those for routes that begin or end there
	Closed           bool   // not to be driven from one end to the other (D15.16)
}

// Event is an entity on an arc.
type Event struct {
	EntityID, KindID string
	Type             EventType
	Description      string // for drivers
	Created          time.Time
	Starts, Ends     time.Time // zero: unknown
	Closed           bool
	Factor           float64       // share of the usual speed that is left; 1: it does not slow
	Delay            time.Duration // delay that it causes once
}

// EventType is the sort of event that an entity reports.
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
	Free     bool        // ignore conditions
}

// TableQuery asks for the paths from each set of ends in From to each in To. Its cells are row by row, with a row for
// each element of From.
type TableQuery struct {
	From, To [][]graph.End
	Exclude  graph.Flags
	Cells    []Cell // len(From)*len(To) cells to be filled
}

// Cell is one path of a table. The parts on its first and last arc are only included in Weight; From and To identify the
// ends.
type Cell struct {
	Weight   uint64 // ms, including the costs of both ends; NoPath if there is none
	Duration uint64 // ms, of the turns and the arcs between
	Length   uint64 // mm, of the arcs between
	From, To uint32 // indexes into TableQuery.From[i] and To[j]
}

// NoPath is the weight of a cell without a path.
const NoPath = ^uint64(0)

// Search finds paths. It is implemented without preparation and with hierarchies, and is safe for concurrent use. A
// search returns the error of its context when that ends.
type Search interface {
	Route(ctx context.Context, q *Query) (path graph.Path, found bool, err error)
	// Alternatives returns the best path, if there is a route, and up to count others, each at most a quarter longer,
	// and different from the others in at least a fifth.
	Alternatives(ctx context.Context, q *Query, count int) ([]graph.Path, error)
	Table(ctx context.Context, q *TableQuery) error
}

// condition returns the condition on an arc, or the arc's usual costs and false.
func (n *Network) condition(arc uint32) (Condition, bool) {
	if n.Conditions != nil {
		if c, ok := n.Conditions.On(arc); ok {
			return c, true
		}
	}
	a := &n.Graph.Arcs[arc]
	return Condition{Weight: a.Weight, Duration: a.Duration}, false
}

// Version returns the version of the conditions.
func (n *Network) Version() uint64 {
	if n.Conditions == nil {
		return 0
	}
	return n.Conditions.Version()
}

// turn returns the turn from one arc onto another, the lightest if there are several.
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

// TurnTime returns the duration of the turn from one arc onto another in ms, or 0 if there is none.
func (r *Roads) TurnTime(from, to uint32) uint32 {
	if turn := r.turn(from, to); turn != nil {
		return turn.Duration
	}
	return 0
}

// way returns the way of an arc.
func (r *Roads) way(arc uint32) *graph.Way {
	return &r.Graph.Ways[r.Graph.Pieces[r.Graph.Arcs[arc].Piece].Way]
}

// NameOf returns the name of the road of a piece.
func (r *Roads) NameOf(piece uint32) string {
	return r.Graph.Text(r.Graph.Ways[r.Graph.Pieces[piece].Way].Name)
}
