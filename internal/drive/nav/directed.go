package nav

import (
	"cmp"
	"slices"

	"wayside/internal/ground/geo"
	"wayside/internal/roads/graph"
	"wayside/internal/roads/match"
)

// maxLookedAt is how many roads are considered in the search for one in the direction of a bearing.
const maxLookedAt = 4096

// nearestDirected returns the nearest places on parts of roads that lead in the direction of the coordinate's bearing.
// The index only knows whole pieces, so they are considered in order of distance, until none of the remaining ones can
// be nearer.
func (s *snapper) nearestDirected(i int, near match.Nearest) []match.Place {
	count, at := near.Count, s.places.Coordinates[i]
	for near.Count = 4 * count; ; near.Count *= 4 {
		s.found = s.Index.Nearest(s.found[:0], at, near)
		all := len(s.found) < near.Count || near.Count >= maxLookedAt
		var directed []match.Place
		for k := range s.found {
			if place, ok := s.direct(i, &s.found[k]); ok && place.Distance <= near.Within {
				directed = append(directed, place)
			}
		}
		slices.SortStableFunc(directed, func(a, b match.Place) int { return cmp.Compare(a.Distance, b.Distance) })
		if all || len(directed) >= count && directed[count-1].Distance <= s.found[len(s.found)-1].Distance {
			return directed[:min(count, len(directed))]
		}
	}
}

// direct returns the place on a piece that is nearest to a coordinate, on a part in the direction of its bearing, and
// false if there is none.
func (s *snapper) direct(i int, on *match.Place) (match.Place, bool) {
	if s.directed(i, on, false) && s.Graph.Pieces[on.Piece].Forward != graph.None || s.directed(i, on, true) && s.Graph.Pieces[on.Piece].Backward != graph.None {
		return *on, true
	}
	line := s.Graph.PieceLine(on.Piece)
	best, found := match.Place{Piece: on.Piece}, false
	var before, total, bestBefore float64
	for k := range len(line) - 1 {
		from, to := line[k].Point(), line[k+1].Point()
		length := geo.Distance(from, to)
		place := match.Place{Piece: on.Piece, Segment: uint32(k)}
		forward := s.Graph.Pieces[on.Piece].Forward != graph.None && s.directed(i, &place, false)
		backward := s.Graph.Pieces[on.Piece].Backward != graph.None && s.directed(i, &place, true)
		if forward || backward {
			place.Point = geo.NearestOnSegment(s.places.Coordinates[i], from, to)
			place.Distance = geo.Distance(s.places.Coordinates[i], place.Point)
			if !found || place.Distance < best.Distance {
				best, found, bestBefore = place, true, before+geo.Distance(from, place.Point)
			}
		}
		before += length
		total = before
	}
	if found && total > 0 {
		best.Share = min(1, bestBefore/total)
	}
	return best, found
}
