package match

import (
	"math"
	"slices"
	"strings"

	"wayside/internal/ground/geo"
	"wayside/internal/roads/graph"
)

// The figures of D15.15.
const (
	lineDistance  = 25.0 // metres between a line and the road that it runs along
	pointDistance = 35.0 // metres between a point and its road
	coveredMetres = 25.0 // an arc counts if at least this length of it, or half of it, is covered
	sameDirection = 60.0 // degrees
)

const (
	sampleMetres = 5.0
	// maxSamples bounds the work for a line: it is fifty kilometres in steps of five metres; longer ones have longer steps.
	maxSamples = 10_000
	// maxCandidates is how many roads are considered around one place. Three levels of a large junction have fewer.
	maxCandidates = 32
	// degreesAMetre is how many degrees off the road's direction count as much as one metre farther away, if the line
	// could run along either of two roads. So a parallel street a few metres away is preferred to one that crosses.
	degreesAMetre = 4.0
)

// Along returns the arcs along a line in the direction of travel: those of which the line covers 25 m or half, within 25
// m. Each place of the line counts for one road, the nearest one in the same direction. The arcs are sorted, and none is
// a copy.
func (x *Index) Along(line []geo.Point) []uint32 {
	length := lengthOf(line)
	step := max(sampleMetres, length/maxSamples)
	covered := map[uint32]float64{}
	near := vicinity{reach: vicinityReach}
	if step > sparse {
		near.reach = 0
	}
	next := min(step, length) / 2 // from the beginning of the segment to the next sample
	for i := 1; i < len(line); i++ {
		a, b := line[i-1], line[i]
		segment := geo.Distance(a, b)
		bearing := geo.Bearing(a, b)
		for ; next < segment; next += step {
			if arc, ok := x.runsAlong(&near, geo.Between(a, b, next/segment), bearing); ok {
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

// Samples returns the number of places of a line at which Along looks for roads.
func Samples(line []geo.Point) int { return int(min(maxSamples, lengthOf(line)/sampleMetres)) }

func lengthOf(line []geo.Point) (metres float64) {
	for i := 1; i < len(line); i++ {
		metres += geo.Distance(line[i-1], line[i])
	}
	return metres
}

// vicinity is the roads around a place. It is reused, because samples of a line are so close together that most see the
// same roads.
type vicinity struct {
	reach    float64 // metres from the center within which it has all roads within lineDistance
	center   geo.Point
	frame    frame
	segments []segment // those of a piece are consecutive
	known    bool
}

// segment is a segment of a piece in the vicinity's frame.
type segment struct {
	piece          uint32
	x, y, dx, dy   float64
	bearing, scale float64 // in the piece's direction; 1 over the squared length
}

const (
	// vicinityReach is the reach for samples that are near each other.
	vicinityReach = 50.0
	// sparse is the distance between samples from which each looks for its own roads.
	sparse = vicinityReach / 2
)

// lookAround makes sure that v covers a place.
func (x *Index) lookAround(v *vicinity, at geo.Point) {
	if v.known && geo.Distance(v.center, at) <= v.reach {
		return
	}
	v.center, v.frame, v.segments, v.known = at, newFrame(at), v.segments[:0], true
	within := lineDistance + v.reach
	s := x.start(at, within)
	defer x.pool.Put(s)
	for {
		next, ok := s.next(x, nil)
		if !ok {
			return
		}
		line := x.graph.PieceLine(next.index)
		ax, ay := v.frame.place(line[0])
		for _, p := range line[1:] {
			bx, by := v.frame.place(p)
			if s, near := newSegment(ax, ay, bx, by, within); near {
				s.piece = next.index
				v.segments = append(v.segments, s)
			}
			ax, ay = bx, by
		}
	}
}

// newSegment returns the segment between two places of a frame, and whether it is near the frame's center.
func newSegment(ax, ay, bx, by, within float64) (segment, bool) {
	s := segment{x: ax, y: ay, dx: bx - ax, dy: by - ay}
	if squared := s.dx*s.dx + s.dy*s.dy; squared > 0 {
		s.scale = 1 / squared
	}
	if s.squared(0, 0) > within*within {
		return s, false
	}
	s.bearing = math.Atan2(s.dx, s.dy) * 180 / math.Pi
	return s, true
}

// squared returns the squared distance of a place from the segment.
func (s *segment) squared(x, y float64) float64 {
	along := ((x-s.x)*s.dx + (y-s.y)*s.dy) * s.scale
	along = max(0, min(1, along))
	x, y = x-s.x-along*s.dx, y-s.y-along*s.dy
	return x*x + y*y
}

// runsAlong returns the arc within reach that fits a direction best. Each piece counts by its nearest segment.
func (x *Index) runsAlong(v *vicinity, at geo.Point, bearing float64) (arc uint32, ok bool) {
	x.lookAround(v, at)
	best := math.Inf(1)
	px, py := v.frame.place(graph.Position{Lng: int32(math.Round(at.Lng * 1e7)), Lat: int32(math.Round(at.Lat * 1e7))})
	for i := 0; i < len(v.segments); {
		piece, squared, along := v.segments[i].piece, math.Inf(1), 0.0
		for ; i < len(v.segments) && v.segments[i].piece == piece; i++ {
			if d := v.segments[i].squared(px, py); d < squared {
				squared, along = d, v.segments[i].bearing
			}
		}
		if squared > lineDistance*lineDistance {
			continue
		}
		for direction, candidate := range x.arcsOf(piece) {
			angle := geo.AngleBetween(bearing, along+180*float64(direction))
			if candidate == graph.None || angle > sameDirection {
				continue
			}
			// Equally good arcs are ordered by index, so that the result does not depend on the vicinity's center.
			score := math.Sqrt(squared) + angle/degreesAMetre
			if score < best || score == best && candidate < arc {
				best, arc, ok = score, candidate, true
			}
		}
	}
	return arc, ok
}

// At returns the arcs that a point refers to: those of the nearest road within 35 m, or of the nearest one whose name or
// reference is street, if there is one. With a bearing, only arcs within 60° of it count, and roads that have none are
// skipped.
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

// Bearing returns the direction of an arc of the place's piece at that place, in degrees from north.
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

// isNamed reports whether a piece has this name, or has it among its references.
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
