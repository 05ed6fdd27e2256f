package graph

import (
	"math"
	"slices"

	"wayside/internal/ground/geo"
	"wayside/internal/roads/car"
)

// pieces splits ways where they meet, cross themselves or end, and at nodes with an effect (D15.8).
func (b *builder) pieces() error {
	parted := b.findEnds()
	b.numberNodes(parted)
	b.reserve(parted)
	g := b.graph
	b.exits()
	g.Texts, g.Signs, g.Lanes = slices.Clone(b.texts.all), slices.Clip(b.waySigns.signs), slices.Clip(b.waySigns.lanes)
	b.texts, b.waySigns = texts{}, signTable{}
	for i := range b.ways {
		b.wayFirst = append(b.wayFirst, uint32(len(g.Pieces)))
		g.Ways = append(g.Ways, b.ways[i].way)
		b.carriages = append(b.carriages, b.ways[i].carriage)
		for run := range b.runs(uint32(i)) {
			b.cut(uint32(i), run)
		}
		b.wayEnds = append(b.wayEnds, b.endsOfWay(&b.ways[i]))
		if b.wayFirst[i] == uint32(len(g.Pieces)) {
			b.counts.LeftOut[shortWays]++
		}
	}
	b.wayFirst = append(b.wayFirst, uint32(len(g.Pieces)))
	b.findViaNodes()
	b.storeManeuvers()
	b.at, b.ways, b.nodeOf, b.nodes.ids, b.nodes.at = nil, nil, nil, nil, nil
	if err := fits("pieces of road", 2*len(g.Pieces)); err != nil {
		return err
	}
	return fits("positions", len(g.Line))
}

// reserve allocates the arrays with their exact sizes, because an array that grows needs twice the memory while it is
// copied.
func (b *builder) reserve(parted []bool) {
	pieces, positions := 0, 0
	for i := range b.ways {
		for run := range b.runs(uint32(i)) {
			pieces, positions = pieces+1, positions+len(run)
			for _, node := range run[1 : len(run)-1] {
				if parted[node] {
					pieces, positions = pieces+1, positions+1
				}
			}
		}
	}
	g := b.graph
	g.Ways, b.carriages = make([]Way, 0, len(b.ways)), make([]carriage, 0, len(b.ways))
	b.wayFirst, b.wayEnds = make([]uint32, 0, len(b.ways)+1), make([][2]uint32, 0, len(b.ways))
	g.Pieces, b.lengths, b.pieceEnds = make([]Piece, 0, pieces), make([]float64, 0, pieces), make([][2]uint32, 0, pieces)
	g.Line, g.LineNodes = make([]Position, 0, positions), make([]int64, 0, positions)
}

// runs yields the stretches of a way between nodes that the extract lacks, each of at least two nodes.
func (b *builder) runs(way uint32) func(yield func([]uint32) bool) {
	w := &b.ways[way]
	return func(yield func([]uint32) bool) {
		rest := b.at[w.first : w.first+w.count]
		for len(rest) > 0 {
			n := slices.Index(rest, None)
			if n < 0 {
				n = len(rest)
			}
			if n >= 2 && !yield(rest[:n]) {
				return
			}
			rest = rest[min(n+1, len(rest)):]
		}
	}
}

// endsOfWay returns the nodes of the graph at which a way begins and ends.
func (b *builder) endsOfWay(w *road) [2]uint32 {
	ends := [2]uint32{None, None}
	if w.count == 0 {
		return ends
	}
	for i, at := range [...]uint32{b.at[w.first], b.at[w.first+w.count-1]} {
		if at != None {
			ends[i] = b.nodeOf[at]
		}
	}
	return ends
}

// findEnds reports for each node of the extract whether pieces end there.
func (b *builder) findEnds() []bool {
	seen, parted := make([]bool, len(b.nodes.ids)), make([]bool, len(b.nodes.ids))
	for i := range b.ways {
		for run := range b.runs(uint32(i)) {
			parted[run[0]], parted[run[len(run)-1]] = true, true
			for _, node := range run {
				parted[node] = parted[node] || seen[node]
				seen[node] = true
			}
		}
	}
	for _, s := range b.nodes.signs {
		if seen[s.index] && s.node.EndsPieces() {
			parted[s.index] = true
		}
	}
	return parted
}

func (b *builder) numberNodes(parted []bool) {
	count := 0
	for _, ends := range parted {
		if ends {
			count++
		}
	}
	b.nodeOf = make([]uint32, len(parted))
	b.graph.Nodes = make([]Node, 0, count)
	for i, ends := range parted {
		if !ends {
			b.nodeOf[i] = None
			continue
		}
		b.nodeOf[i] = uint32(len(b.graph.Nodes))
		b.graph.Nodes = append(b.graph.Nodes, Node{b.nodes.at[i], b.nodes.ids[i]})
	}
	b.signOf = make([]uint32, count)
	for i, s := range b.nodes.signs {
		if node := b.nodeOf[s.index]; node != None {
			b.signOf[node] = uint32(i) + 1
		}
	}
}

// cut splits a run into pieces.
func (b *builder) cut(way uint32, run []uint32) {
	g := b.graph
	for start := 0; start < len(run)-1; {
		end := start + 1
		for b.nodeOf[run[end]] == None {
			end++
		}
		first, length := uint32(len(g.Line)), 0.0
		for i := start; i <= end; i++ {
			g.Line = append(g.Line, b.nodes.at[run[i]])
			g.LineNodes = append(g.LineNodes, b.nodes.ids[run[i]])
			if i > start {
				length += distance(b.nodes.at[run[i-1]], b.nodes.at[run[i]])
			}
		}
		g.Pieces = append(g.Pieces, Piece{
			Way: way, FirstLine: first, Positions: uint32(end - start + 1), Forward: None, Backward: None,
			Length: uint32(min(math.Round(length*1000), math.MaxUint32)),
		})
		b.lengths = append(b.lengths, length)
		b.pieceEnds = append(b.pieceEnds, [2]uint32{b.nodeOf[run[start]], b.nodeOf[run[end]]})
		start = end
	}
}

func distance(a, b Position) float64 {
	if a == b {
		return 0
	}
	return geo.Distance(a.Point(), b.Point())
}

// arcs makes an arc of each piece in each open direction, in the order of pieces.
func (b *builder) arcs() error {
	g := b.graph
	g.Arcs = make([]Arc, 0, b.countArcs())
	for way := range g.Ways {
		first, after := b.wayFirst[way], b.wayFirst[way+1]
		whole := 0.0
		for piece := first; piece < after; piece++ {
			whole += b.lengths[piece]
		}
		for piece := first; piece < after; piece++ {
			b.addArcs(piece, whole)
		}
	}
	b.baseArcs = len(g.Arcs)
	b.findNodes()
	return nil
}

// countArcs returns the number of arcs, with a reserve for copies.
func (b *builder) countArcs() int {
	n := 0
	for i := range b.graph.Pieces {
		drive := b.driveOfPiece(uint32(i))
		if drive.Forward.Access != car.Closed {
			n++
		}
		if drive.Backward.Access != car.Closed {
			n++
		}
	}
	return n + n/copiesExpected
}

// copiesExpected is the number of arcs for each copy that restrictions are expected to make. A city has fewer copies.
const copiesExpected = 64

// driveOfPiece returns what a car may do on a piece.
func (b *builder) driveOfPiece(piece uint32) *car.Way {
	return &b.drives[b.carriages[b.graph.Pieces[piece].Way].drive]
}

func (b *builder) addArcs(piece uint32, whole float64) {
	p := &b.graph.Pieces[piece]
	way := b.driveOfPiece(piece)
	ends := b.pieceEnds[piece]
	flags := b.carriages[p.Way].flags
	if b.drivesLeft(way, p) {
		flags |= DriveLeft
	}
	if way.Forward.Access != car.Closed {
		p.Forward = b.addArc(piece, ends[0], ends[1], way, car.Forward, flags, whole)
	}
	if way.Backward.Access != car.Closed {
		p.Backward = b.addArc(piece, ends[1], ends[0], way, car.Backward, flags|Backward, whole)
	}
}

func (b *builder) addArc(piece, from, to uint32, way *car.Way, d car.Direction, flags Flags, whole float64) uint32 {
	drive := way.Direction(d)
	duration, weight := way.Cost(d, b.lengths[piece], whole)
	if drive.MayBegin {
		flags |= MayBegin | MayEnd
	}
	if drive.Toll {
		flags |= Toll
	}
	if drive.Access == car.Local {
		flags |= LocalOnly
	}
	arc := uint32(len(b.graph.Arcs))
	b.graph.Arcs = append(b.graph.Arcs, Arc{
		From: from, To: to, Piece: piece, CopyOf: arc, Flags: flags,
		Weight: max(milliseconds(weight), 1), Duration: max(milliseconds(duration), 1),
	})
	return arc
}

// drivesLeft reports whether traffic drives on the left, by the way's tag or otherwise by the location of its piece.
func (b *builder) drivesLeft(way *car.Way, p *Piece) bool {
	if way.DrivingSide != car.SideUnknown {
		return way.DrivingSide == car.Left
	}
	return b.sides.contain(b.graph.Line[p.FirstLine])
}

// findNodes sorts the ends of pieces by their nodes, and computes their bearings.
func (b *builder) findNodes() {
	g := b.graph
	b.firstEnd = make([]uint32, len(g.Nodes)+1)
	for _, nodes := range b.pieceEnds {
		b.firstEnd[nodes[0]+1]++
		b.firstEnd[nodes[1]+1]++
	}
	for i := 1; i < len(b.firstEnd); i++ {
		b.firstEnd[i] += b.firstEnd[i-1]
	}
	next := slices.Clone(b.firstEnd)
	b.ends = make([]end, 2*len(g.Pieces))
	b.bearings = make([]float64, 2*len(g.Pieces))
	lookAhead := b.profile.LookAhead()
	for piece, nodes := range b.pieceEnds {
		line := g.PieceLine(uint32(piece))
		for side, node := range nodes {
			e := end(2*piece + side)
			b.ends[next[node]] = e
			next[node]++
			b.bearings[e] = bearing(line, e.isTo(), lookAhead)
		}
	}
	for node := range g.Nodes {
		if len(b.endsAt(uint32(node))) > maxEnds {
			b.counts.LeftOut[crowdedJunctions]++
		}
	}
}

func (b *builder) endsAt(node uint32) []end { return b.ends[b.firstEnd[node]:b.firstEnd[node+1]] }

// bearing returns the direction, in degrees from north, from one end of a line to the place at the given distance along
// it (D15.8).
func bearing(line []Position, fromTo bool, ahead float64) float64 {
	at := func(i int) Position {
		if fromTo {
			return line[len(line)-1-i]
		}
		return line[i]
	}
	start := at(0).Point()
	for i := 1; i < len(line); i++ {
		a, b := at(i-1).Point(), at(i).Point()
		step := geo.Distance(a, b)
		if step >= ahead {
			return geo.Bearing(start, between(a, b, ahead/step))
		}
		ahead -= step
	}
	return geo.Bearing(start, at(len(line)-1).Point())
}

// between returns an approximate place on the great circle from a to b at a share of the way. It is only accurate for a
// small share, or a short way.
func between(a, b geo.Point, share float64) geo.Point {
	v, w := a.Vector(), b.Vector()
	x, y, z := v.X+share*(w.X-v.X), v.Y+share*(w.Y-v.Y), v.Z+share*(w.Z-v.Z)
	return geo.Point{Lat: math.Atan2(z, math.Hypot(x, y)) * 180 / math.Pi, Lng: math.Atan2(y, x) * 180 / math.Pi}
}
