package guide

import (
	"math"

	"wayside/internal/roads/graph"
)

// Network is the road network with the data that guidance needs: which pieces meet at each node.
type Network struct {
	graph *graph.Graph
	first []uint32 // the ends at node n are ends[first[n]:first[n+1]]
	ends  []end
}

// end is an end of a piece: twice the index of the piece, plus 1 for the end of its line.
type end uint32

func (e end) piece() uint32 { return uint32(e) >> 1 }
func (e end) isTo() bool    { return e&1 == 1 }

// NewNetwork makes the network of a graph, in one pass over its pieces.
func NewNetwork(g *graph.Graph) *Network {
	n := &Network{graph: g, first: make([]uint32, len(g.Nodes)+1), ends: make([]end, 2*len(g.Pieces))}
	for i := range g.Pieces {
		from, to := n.nodesOf(uint32(i))
		n.first[from+1]++
		n.first[to+1]++
	}
	for i := range g.Nodes {
		n.first[i+1] += n.first[i]
	}
	next := make([]uint32, len(g.Nodes))
	for i := range g.Pieces {
		from, to := n.nodesOf(uint32(i))
		for side, node := range [...]uint32{from, to} {
			n.ends[n.first[node]+next[node]] = end(2*i + side)
			next[node]++
		}
	}
	return n
}

// nodesOf returns the nodes at which a piece begins and ends, in its own direction.
func (n *Network) nodesOf(piece uint32) (from, to uint32) {
	p := &n.graph.Pieces[piece]
	if p.Forward != graph.None {
		a := &n.graph.Arcs[p.Forward]
		return a.From, a.To
	}
	a := &n.graph.Arcs[p.Backward]
	return a.To, a.From
}

func (n *Network) endsAt(node uint32) []end { return n.ends[n.first[node]:n.first[node+1]] }

// node returns the node of an end.
func (n *Network) node(e end) uint32 {
	from, to := n.nodesOf(e.piece())
	if e.isTo() {
		return to
	}
	return from
}

// leaving returns the arc that leaves a node at an end, and arriving the one that arrives there. They return None if
// that direction is closed.
func (n *Network) leaving(e end) uint32 {
	p := &n.graph.Pieces[e.piece()]
	if e.isTo() {
		return p.Backward
	}
	return p.Forward
}

func (n *Network) arriving(e end) uint32 { return n.leaving(e ^ 1) }

// headOf returns the end at which an arc arrives, and tailOf that at which it leaves.
func (n *Network) headOf(arc uint32) end {
	a := &n.graph.Arcs[arc]
	if a.Flags&graph.Backward != 0 {
		return end(a.Piece << 1)
	}
	return end(a.Piece<<1 | 1)
}

func (n *Network) tailOf(arc uint32) end { return n.headOf(arc) ^ 1 }

func (n *Network) wayOf(arc uint32) *graph.Way { return n.wayOfPiece(n.graph.Arcs[arc].Piece) }

func (n *Network) wayOfPiece(piece uint32) *graph.Way {
	return &n.graph.Ways[n.graph.Pieces[piece].Way]
}

// metres returns the length of a piece.
func (n *Network) metres(piece uint32) float64 {
	return float64(n.graph.Pieces[piece].Length) / 1000
}

// flags returns the flags of a piece that are the same in both directions.
func (n *Network) flags(piece uint32) graph.Flags {
	p := &n.graph.Pieces[piece]
	if p.Forward != graph.None {
		return n.graph.Arcs[p.Forward].Flags
	}
	return n.graph.Arcs[p.Backward].Flags
}

// isOneway reports whether a piece is open in one direction only.
func (n *Network) isOneway(piece uint32) bool {
	p := &n.graph.Pieces[piece]
	return p.Forward == graph.None || p.Backward == graph.None
}

// allows reports whether a turn from an arc onto the road at an end is allowed.
func (n *Network) allows(from uint32, e end) bool {
	to := n.leaving(e)
	if to == graph.None {
		return false
	}
	for _, turn := range n.graph.TurnsFrom(from) {
		if n.graph.Arcs[turn.To].CopyOf == to {
			return true
		}
	}
	return false
}

// across returns the end at which a road continues where exactly two pieces meet, and false at junctions and dead ends.
func (n *Network) across(e end) (end, bool) {
	ends := n.endsAt(n.node(e))
	if len(ends) != 2 {
		return 0, false
	}
	other := ends[0]
	if other == e {
		other = ends[1]
	}
	return other, other.piece() != e.piece()
}

// goesOnUnchanged reports whether a road continues under the same name where two pieces meet, so that nothing need be
// announced.
func (n *Network) goesOnUnchanged(head, tail end) bool {
	if len(n.endsAt(n.node(head))) != 2 || head.piece() == tail.piece() || (n.flags(head.piece())^n.flags(tail.piece()))&(graph.Ferry|circles) != 0 {
		return false
	}
	return !n.renamed(n.wayOfPiece(head.piece()), n.wayOfPiece(tail.piece()))
}

// maxFollowed is the maximum number of pieces along which a road is followed.
const maxFollowed = 64

// plane measures around a position in metres, on a flat map.
type plane struct {
	origin graph.Position
	east   float64 // metres per unit of longitude
}

// metresPerUnit is the length of 1e-7 degrees of latitude, on a sphere.
const metresPerUnit = 6_371_008.8 * math.Pi / 180 / 1e7

func planeAt(p graph.Position) plane {
	return plane{p, metresPerUnit * math.Cos(float64(p.Lat)/1e7*math.Pi/180)}
}

// offset returns the offset of a position in metres to the east and north.
func (p plane) offset(q graph.Position) (east, north float64) {
	lng := int64(q.Lng) - int64(p.origin.Lng)
	if lng > 1_800_000_000 {
		lng -= 3_600_000_000
	} else if lng < -1_800_000_000 {
		lng += 3_600_000_000
	}
	return float64(lng) * p.east, float64(int64(q.Lat)-int64(p.origin.Lat)) * metresPerUnit
}

func length(x, y float64) float64 { return math.Sqrt(x*x + y*y) }

// bearingOf returns the bearing of an offset, from 0 to 360.
func bearingOf(east, north float64) float64 {
	b := math.Atan2(east, north) * 180 / math.Pi
	if b < 0 {
		b += 360
	}
	return b
}

// bearingFrom returns the bearing from an end of a piece to the place at the given distance along the road.
func (n *Network) bearingFrom(e end, ahead float64) float64 {
	_, far := n.bearingsFrom(planeAt(n.graph.Nodes[n.node(e)].Position), e, ahead, ahead)
	return far
}

// bearingsFrom returns the bearings to two places along the road, the nearer one first, on a plane around the end.
func (n *Network) bearingsFrom(p plane, e end, near, far float64) (toNear, toFar float64) {
	var x, y, driven float64
	found := false
	for range maxFollowed {
		line := n.graph.PieceLine(e.piece())
		for i := 1; i < len(line); i++ {
			at := i
			if e.isTo() {
				at = len(line) - 1 - i
			}
			nx, ny := p.offset(line[at])
			step := length(nx-x, ny-y)
			if !found && step > 0 && driven+step >= near {
				share := (near - driven) / step
				toNear, found = bearingOf(x+share*(nx-x), y+share*(ny-y)), true
			}
			if step > 0 && driven+step >= far {
				if far == near {
					return toNear, toNear
				}
				share := (far - driven) / step
				return toNear, bearingOf(x+share*(nx-x), y+share*(ny-y))
			}
			driven += step
			x, y = nx, ny
		}
		next, ok := n.across(e ^ 1)
		if !ok {
			break
		}
		e = next
	}
	toFar = bearingOf(x, y)
	if !found {
		toNear = toFar
	}
	return toNear, toFar
}
