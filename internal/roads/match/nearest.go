package match

import (
	"math"

	"wayside/internal/ground/geo"
)

// Nearest describes the places to find.
type Nearest struct {
	Within float64 // metres
	Count  int     // maximum number of places, each on another piece
	// Accept reports whether a piece counts. If it is nil, all do.
	Accept func(piece uint32) bool
}

// Nearest appends the nearest places on roads to dst, the nearest first, one for each piece. Equally near ones are
// ordered by piece.
func (x *Index) Nearest(dst []Place, at geo.Point, o Nearest) []Place {
	s := x.start(at, o.Within)
	defer x.pool.Put(s)
	for found := 0; found < o.Count; {
		next, ok := s.next(x, o.Accept)
		if !ok {
			break
		}
		dst = append(dst, x.placeOf(s.frame, next.index, at))
		found++
	}
	return dst
}

// placeOf returns the nearest place of a piece.
func (x *Index) placeOf(f frame, piece uint32, at geo.Point) Place {
	line := x.graph.PieceLine(piece)
	segment, share, _ := f.nearestOn(line)
	a, b := line[segment].Point(), line[segment+1].Point()
	place := Place{Piece: piece, Segment: uint32(segment), Point: geo.Between(a, b, share)}
	var before, whole float64
	for i := range line[1:] {
		length := geo.Distance(line[i].Point(), line[i+1].Point())
		switch {
		case i < segment:
			before += length
		case i == segment:
			before += length * share
		}
		whole += length
	}
	if whole > 0 {
		place.Share = math.Min(1, before/whole)
	}
	place.Distance = geo.Distance(at, place.Point)
	return place
}

// search is the reusable state of a search for the nearest pieces.
type search struct {
	frame frame
	limit float64 // squared metres
	queue []entry
}

// entry is a box or a piece still to be considered, with a lower bound of its squared distance.
type entry struct {
	distance float64
	index    uint32
	kind     uint8
}

// The kinds of entries. Of equally near ones the higher kind comes first, so that a measured piece is returned after
// everything that might be as near.
const (
	measured uint8 = iota // a piece whose distance is exact
	level                 // and above: a box of that level, the lowest first
)

func (x *Index) start(at geo.Point, within float64) *search {
	s := x.pool.Get().(*search) //nolint:forcetypeassert // the pool contains nothing else
	s.frame, s.limit, s.queue = newFrame(at), within*within, s.queue[:0]
	if len(x.boxes) > 0 {
		s.add(entry{s.frame.distanceTo(x.boxes[len(x.boxes)-1].unpack()), uint32(len(x.boxes) - 1), level + uint8(len(x.levels)-2)})
	}
	return s
}

// next returns the nearest piece not returned yet.
func (s *search) next(x *Index, accept func(piece uint32) bool) (entry, bool) {
	for len(s.queue) > 0 {
		e := s.take()
		switch e.kind {
		case measured:
			return e, true
		case level:
			from := int(e.index) * leafPieces
			for _, piece := range x.pieces[from:min(from+leafPieces, len(x.pieces))] {
				if accept == nil || accept(piece) {
					_, _, distance := s.frame.nearestOn(x.graph.PieceLine(piece))
					s.add(entry{distance, piece, measured})
				}
			}
		default:
			own := int(e.kind - level)
			from := int(x.levels[own-1]) + (int(e.index)-int(x.levels[own]))*fanout
			for at := from; at < min(from+fanout, int(x.levels[own])); at++ {
				s.add(entry{s.frame.distanceTo(x.boxes[at].unpack()), uint32(at), e.kind - 1})
			}
		}
	}
	return entry{}, false
}

func (e entry) before(o entry) bool {
	if e.distance != o.distance {
		return e.distance < o.distance
	}
	if e.kind != o.kind {
		return e.kind > o.kind
	}
	return e.index < o.index
}

func (s *search) add(e entry) {
	if e.distance > s.limit {
		return
	}
	s.queue = append(s.queue, e)
	at := len(s.queue) - 1
	for at > 0 && e.before(s.queue[(at-1)/2]) {
		s.queue[at] = s.queue[(at-1)/2]
		at = (at - 1) / 2
	}
	s.queue[at] = e
}

func (s *search) take() entry {
	first, last := s.queue[0], len(s.queue)-1
	e := s.queue[last]
	s.queue = s.queue[:last]
	if last == 0 {
		return first
	}
	at := 0
	for child := 1; child < last; child = 2*at + 1 {
		if child+1 < last && s.queue[child+1].before(s.queue[child]) {
			child++
		}
		if !s.queue[child].before(e) {
			break
		}
		s.queue[at] = s.queue[child]
		at = child
	}
	s.queue[at] = e
	return first
}
