package match

import (
	"math"
	"slices"
	"strings"

	"wayside/internal/geo"
	"wayside/internal/roads/graph"
)

// The figures of D15.15.
const (
	lineDistance  = 25.0 // metres between a line and the road that it runs along
	pointDistance = 35.0 // metres between a point and its road
	coveredMetres = 25.0 // an arc counts from here on, or from the half of it on
	sameDirection = 60.0 // degrees
)

const (
	sampleMetres = 5.0
	// maxSamples bounds the work for a line: it is a hundred kilometres in steps of five metres; longer ones have longer steps.
	maxSamples = 20_000
	// maxCandidates is how many roads are looked at around one place. Three levels of a large junction have fewer.
	maxCandidates = 32
	// degreesAMetre is how many degrees off the road's direction count as much as one metre farther away, when the line could
	// run along either of two roads: a street that crosses is left for one that is parallel and a few metres away.
	degreesAMetre = 4.0
)

// Along are the arcs along a line in the direction of travel: those of which it covers 25 m or half, within 25 m. Each place of
// the line counts for one road, the one that is nearest and runs the same way. The arcs are ordered, and none is a copy.
func (x *Index) Along(line []geo.Point) []uint32 {
	length := 0.0
	for i := 1; i < len(line); i++ {
		length += geo.Distance(line[i-1], line[i])
	}
	step := max(sampleMetres, length/maxSamples)
	covered := map[uint32]float64{}
	var places []Place
	next := min(step, length) / 2 // from the beginning of the segment to the next sample
	for i := 1; i < len(line); i++ {
		a, b := line[i-1], line[i]
		segment := geo.Distance(a, b)
		bearing := geo.Bearing(a, b)
		for ; next < segment; next += step {
			places = x.Nearest(places[:0], geo.Between(a, b, next/segment), Nearest{Within: lineDistance, Count: maxCandidates})
			if arc, ok := x.runsAlong(places, bearing); ok {
				covered[arc] += min(step, length)
			}
		}
		next -= segment
	}
	var arcs []uint32
	for arc, metres := range covered {
		whole := float64(x.graph.Pieces[x.graph.Arcs[arc].Piece].Length) / 1000
		if metres >= min(coveredMetres, whole/2) {
			arcs = append(arcs, arc)
		}
	}
	slices.Sort(arcs)
	return arcs
}

// runsAlong is the arc of the places that agrees best with a direction.
func (x *Index) runsAlong(places []Place, bearing float64) (arc uint32, ok bool) {
	best := math.Inf(1)
	for _, p := range places {
		for _, candidate := range x.arcsOf(p.Piece) {
			if candidate == graph.None {
				continue
			}
			angle := geo.AngleBetween(bearing, x.Bearing(p, candidate))
			if score := p.Distance + angle/degreesAMetre; angle <= sameDirection && score < best {
				best, arc, ok = score, candidate, true
			}
		}
	}
	return arc, ok
}

// At are the arcs that a point stands for: those of the nearest road within 35 m, or of the nearest one with the name or the
// reference street, if one is there. A bearing leaves those within 60° of it, and roads that have none do not count.
func (x *Index) At(at geo.Point, street string, bearing float64, hasBearing bool) []uint32 {
	places := x.Nearest(nil, at, Nearest{Within: pointDistance, Count: maxCandidates})
	var first []uint32
	for _, p := range places {
		var arcs []uint32
		for _, arc := range x.arcsOf(p.Piece) {
			if arc != graph.None && (!hasBearing || geo.AngleBetween(bearing, x.Bearing(p, arc)) <= sameDirection) {
				arcs = append(arcs, arc)
			}
		}
		if len(arcs) == 0 {
			continue
		}
		if street == "" || x.isNamed(p.Piece, street) {
			return arcs
		}
		if first == nil {
			first = arcs
		}
	}
	return first
}

// Bearing is the direction of an arc of the place's piece at that place, in degrees from north.
func (x *Index) Bearing(p Place, arc uint32) float64 {
	line := x.graph.PieceLine(p.Piece)
	a, b := line[p.Segment].Point(), line[p.Segment+1].Point()
	if x.graph.Arcs[arc].Flags&graph.Backward != 0 {
		a, b = b, a
	}
	return geo.Bearing(a, b)
}

func (x *Index) arcsOf(piece uint32) [2]uint32 {
	return [2]uint32{x.graph.Pieces[piece].Forward, x.graph.Pieces[piece].Backward}
}

// isNamed tells whether a piece has this name, or this among its references.
func (x *Index) isNamed(piece uint32, street string) bool {
	way := &x.graph.Ways[x.graph.Pieces[piece].Way]
	street = strings.TrimSpace(street)
	if strings.EqualFold(x.graph.Text(way.Name), street) {
		return true
	}
	for ref := range strings.SplitSeq(x.graph.Text(way.Ref), ";") {
		if strings.EqualFold(strings.TrimSpace(ref), street) {
			return true
		}
	}
	return false
}
