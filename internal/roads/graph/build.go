package graph

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"wayside/internal/ground/geo"
	"wayside/internal/roads/car"
	"wayside/internal/roads/osmpbf"
)

// BuildOptions control how a network is built. They do not change the result.
type BuildOptions struct {
	Workers int // number of blocks decoded concurrently; 0: one for each processor
}

// Counts are the figures of an import: of the network and of what was left out (D15.2).
type Counts struct {
	Nodes, Ways, Relations int64 // in the files; duplicates count once
	Junctions              int
	Arcs                   int // including copies
	Turns                  int
	RoadMetres             float64 // of all arcs except copies
	Restrictions           RestrictionCounts
	Islands                int
	LeftOut                map[string]int
	Bounds                 geo.Box // of the roads
}

// RestrictionCounts counts the restrictions that concern cars by their outcome.
type RestrictionCounts struct{ Applied, Ignored int }

// Reasons for which something is left out, used as keys of Counts.LeftOut.
const (
	missingNodes     = "missing_nodes"         // references to nodes that the files lack; they split a way
	shortWays        = "ways_of_one_node"      // no part of the way has two consecutive nodes
	offGlobe         = "nodes_off_the_globe"   // positions outside the globe
	invalidTexts     = "invalid_texts"         // names that are not UTF-8, are too long, or have control characters
	invalidLanes     = "invalid_lanes"         // lanes of a direction with unknown arrows, or too many
	disagreeingLanes = "disagreeing_lanes"     // lanes of a direction whose number contradicts other tags
	invalidManeuvers = "invalid_maneuvers"     // maneuvers with unknown words, or with missing or too many members
	crowdedJunctions = "crowded_junctions"     // nodes with more than maxEnds ends of pieces: only turning back is possible there
	relationTimed    = "restrictions_timed"    // restrictions that apply only at some times
	relationUnknown  = "restrictions_unknown"  // neither no_… nor only_…
	relationMembers  = "restrictions_members"  // members are missing, or too many
	relationAbsent   = "restrictions_absent"   // a way or node does not exist, or no car can drive it
	relationParted   = "restrictions_parted"   // the members are not connected
	relationTooLarge = "restrictions_too_many" // beyond the bounds of copies
)

// ErrTooLarge is returned for a network that does not fit into the arrays.
var ErrTooLarge = errors.New("the road network is too large for one region")

// Build makes the network of one or several extracts. Where they overlap, the first file's version of an object counts.
// The same files give the same graph, whatever the order of objects within them. Build reads each file twice.
func Build(ctx context.Context, files []*osmpbf.File, p *car.Profile, o BuildOptions) (*Graph, Counts, error) {
	sides, err := parseLeftDriving(leftDriving)
	if err != nil {
		return nil, Counts{}, err
	}
	counts := Counts{LeftOut: map[string]int{}}
	x := &extract{profile: p, workers: o.Workers, counts: &counts}
	if err := x.read(ctx, files); err != nil {
		return nil, counts, err
	}
	b := builder{extract: x, graph: &Graph{}, sides: sides}
	for _, step := range []func() error{b.pieces, b.arcs, b.turns} {
		if err := errors.Join(ctx.Err(), step()); err != nil {
			return nil, counts, err
		}
	}
	g := b.graph
	b.count()
	b = builder{} // frees memory, because the rest makes copies of arrays
	g.Arcs, g.Turns = exactly(g.Arcs), exactly(g.Turns)
	counts.Islands = g.number()
	return g, counts, nil
}

// builder makes a graph from an extract.
type builder struct {
	*extract
	graph *Graph
	sides leftDrivingAreas

	nodeOf    []uint32    // the graph's node of each node of the extract, or None
	signOf    []uint32    // for each node of the graph, the index of its effect in nodes.signs plus 1; 0: none
	carriages []carriage  // of each way
	wayFirst  []uint32    // the first piece of each way, and one more
	wayEnds   [][2]uint32 // the nodes at which each way begins and ends, or None if the extract lacks them
	lengths   []float64   // of pieces, in metres
	pieceEnds [][2]uint32 // the nodes at which each piece begins and ends

	ends      []end // of pieces, by node
	firstEnd  []uint32
	bearings  []float64 // of each end of each piece: see end
	baseArcs  int
	automaton automaton
}

// end is an end of a piece: twice the index of the piece, plus 1 for the end of its line.
type end uint32

func (e end) piece() uint32 { return uint32(e) >> 1 }
func (e end) isTo() bool    { return e&1 == 1 }

// out returns the arc that leaves the node at the end e, or None if the direction is closed.
func (g *Graph) out(e end) uint32 {
	if e.isTo() {
		return g.Pieces[e.piece()].Backward
	}
	return g.Pieces[e.piece()].Forward
}

// arrival returns the end at which an arc arrives at its node.
func (g *Graph) arrival(arc uint32) end {
	if a := &g.Arcs[arc]; a.Flags&Backward == 0 {
		return end(a.Piece<<1 | 1)
	}
	return end(g.Arcs[arc].Piece << 1)
}

// milliseconds converts seconds to a cost.
func milliseconds(seconds float64) uint32 {
	return uint32(min(math.Round(seconds*1000), Closed-1))
}

func (b *builder) count() {
	g, c := b.graph, b.counts
	c.Junctions, c.Arcs, c.Turns = len(g.Nodes), len(g.Arcs), len(g.Turns)
	for arc := range g.Arcs[:b.baseArcs] {
		c.RoadMetres += b.lengths[g.Arcs[arc].Piece]
	}
	c.Bounds = boundsOf(g.Line)
}

// exactly returns an array without spare capacity, if that exceeds a twentieth of its length.
func exactly[T any](all []T) []T {
	if cap(all)-len(all) <= len(all)/20 {
		return all
	}
	return append(make([]T, 0, len(all)), all...)
}

// boundsOf returns the box of positions, on the shorter way around the globe.
func boundsOf(line []Position) geo.Box {
	if len(line) == 0 {
		return geo.Box{}
	}
	const turn = 3_600_000_000
	south, north := line[0].Lat, line[0].Lat
	west, east := int64(math.MaxInt64), int64(math.MinInt64)
	pacificWest, pacificEast := west, east // with positions west of Greenwich shifted by a turn to the east
	for _, p := range line {
		south, north = min(south, p.Lat), max(north, p.Lat)
		lng := int64(p.Lng)
		west, east = min(west, lng), max(east, lng)
		if lng < 0 {
			lng += turn
		}
		pacificWest, pacificEast = min(pacificWest, lng), max(pacificEast, lng)
	}
	if pacificEast-pacificWest < east-west {
		west, east = pacificWest, pacificEast
	}
	return geo.Box{South: float64(south) / 1e7, West: float64(west) / 1e7, North: float64(north) / 1e7, East: float64(east) / 1e7}
}

// firstOfEach sorts by id and keeps the first element of each id.
func firstOfEach[T any](all []T, id func(*T) int64) []T {
	slices.SortStableFunc(all, func(a, b T) int { return cmp.Compare(id(&a), id(&b)) })
	return slices.CompactFunc(all, func(a, b T) bool { return id(&a) == id(&b) })
}

// fits returns ErrTooLarge if 32 bits cannot number n elements.
func fits(what string, n int) error {
	if uint64(n) >= None>>1 {
		return fmt.Errorf("%w: %d %s", ErrTooLarge, n, what)
	}
	return nil
}
