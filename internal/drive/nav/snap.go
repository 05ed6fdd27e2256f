package nav

import (
	"maps"
	"math"
	"slices"
	"strconv"

	"wayside/internal/ground/geo"
	"wayside/internal/roads/graph"
	"wayside/internal/roads/match"
)

// The maximum distances that a coordinate snaps (D15.10), in metres.
const (
	maxSnap       = 10_000
	maxIslandSnap = 1_000 // if the nearest roads are not connected
)

// Candidate is an arc on which a route may begin or end at a coordinate.
type Candidate struct {
	Arc   uint32
	Share float64 // of the arc's length, before the place
	Place int     // index into Spot.Places
}

// Spot is the position of a coordinate on the network: at one place on a road, or where several roads meet.
type Spot struct {
	Input      geo.Point
	Places     []match.Place // all at the same position
	Candidates []Candidate
}

// snapper snaps the coordinates of one request.
type snapper struct {
	*Roads
	places *Places
	found  []match.Place
}

// snap finds the spot of each coordinate, on the nearest road.
func (n *Network) snap(p *Places) ([]Spot, error) {
	s := &snapper{Roads: n.Roads, places: p}
	spots := make([]Spot, len(p.Coordinates))
	for i := range spots {
		if spots[i] = s.spot(i, maxSnap, nil); len(spots[i].Candidates) == 0 {
			return nil, &Error{NoSegment, "Could not find a matching segment for coordinate " + strconv.Itoa(i)}
		}
	}
	return spots, nil
}

// join moves spots without a way between them to the nearest roads of one island within reach of all (D15.10). It
// returns nil if the spots are connected, or if there is no such island.
func (n *Network) join(p *Places, spots []Spot) []Spot {
	s := &snapper{Roads: n.Roads, places: p}
	if s.hangTogether(spots) {
		return nil
	}
	return s.joinIslands(spots)
}

// spot returns the nearest place of one coordinate on a road of the islands that accept takes, in at least one
// direction: the other direction is an island of its own where cars cannot turn back. A nil accept takes all islands.
func (s *snapper) spot(i int, within float64, accept func(island uint32) bool) Spot {
	spot := Spot{Input: s.places.Coordinates[i]}
	within = s.within(i, within)
	count := usualCandidates
	if len(s.places.Approaches) > 0 && len(s.places.Bearings) > 0 {
		count *= usualCandidates // the second condition may exclude what the first one leaves
	}
	for _, place := range s.nearest(i, within, count, accept) {
		if len(spot.Places) > 0 && !samePosition(spot.Places[0].Point, place.Point) {
			break
		}
		before := len(spot.Candidates)
		if spot.Candidates = s.appendCandidates(spot.Candidates, i, &place, len(spot.Places)); len(spot.Candidates) > before {
			spot.Places = append(spot.Places, place)
		}
	}
	return spot
}

// within returns the maximum distance that a coordinate may snap.
func (s *snapper) within(i int, limit float64) float64 {
	if len(s.places.Radiuses) > 0 && s.places.Radiuses[i] != Unlimited {
		return min(limit, s.places.Radiuses[i])
	}
	return limit
}

// usualCandidates is how many roads are considered where several meet at one place.
const usualCandidates = 8

// samePosition reports whether two places on roads are equal in the precision of answers.
func samePosition(a, b geo.Point) bool {
	const unit = 1e-6 // degrees
	return math.Abs(a.Lat-b.Lat) < unit && math.Abs(math.Remainder(a.Lng-b.Lng, 360)) < unit
}

// nearest returns the count nearest places of a coordinate on roads with a candidate, the nearest first.
func (s *snapper) nearest(i int, within float64, count int, accept func(island uint32) bool) []match.Place {
	near := match.Nearest{Within: within, Count: count, Accept: func(piece uint32) bool { return s.accepts(piece, accept) }}
	if len(s.places.Bearings) == 0 || !s.places.Bearings[i].Given {
		s.found = s.Index.Nearest(s.found[:0], s.places.Coordinates[i], near)
		return s.found
	}
	return s.nearestDirected(i, near)
}

// accepts reports whether a route may begin on a piece, in at least one direction.
func (s *snapper) accepts(piece uint32, accept func(island uint32) bool) bool {
	p := &s.Graph.Pieces[piece]
	return s.acceptsArc(p.Forward, accept) || s.acceptsArc(p.Backward, accept)
}

func (s *snapper) acceptsArc(arc uint32, accept func(island uint32) bool) bool {
	if arc == graph.None {
		return false
	}
	a := &s.Graph.Arcs[arc]
	return a.Flags&s.places.Exclude&excludable == 0 && (s.places.AnyRoad || a.Flags&(graph.MayBegin|graph.MayEnd) != 0) && (accept == nil || accept(a.Island))
}

// appendCandidates appends the arcs of a place that the request allows.
func (s *snapper) appendCandidates(to []Candidate, i int, place *match.Place, index int) []Candidate {
	p := &s.Graph.Pieces[place.Piece]
	forward, backward := s.acceptsArc(p.Forward, nil), s.acceptsArc(p.Backward, nil)
	if forward && backward && len(s.places.Approaches) > 0 && s.places.Approaches[i] != Unrestricted {
		forward, backward = s.onSide(i, place)
	}
	if forward && s.directed(i, place, false) {
		to = append(to, Candidate{Arc: p.Forward, Share: place.Share, Place: index})
	}
	if backward && s.directed(i, place, true) {
		to = append(to, Candidate{Arc: p.Backward, Share: 1 - place.Share, Place: index})
	}
	return to
}

// onSide reports in which directions of a road a coordinate lies on the side of its approach. A coordinate on the road
// is on both sides.
func (s *snapper) onSide(i int, place *match.Place) (forward, backward bool) {
	from, to := s.segment(place)
	at := s.places.Coordinates[i]
	east := math.Cos(at.Lat * math.Pi / 180)
	dx, dy := math.Remainder(to.Lng-from.Lng, 360)*east, to.Lat-from.Lat
	px, py := math.Remainder(at.Lng-from.Lng, 360)*east, at.Lat-from.Lat
	cross := dx*py - dy*px // positive: to the left
	if math.Abs(cross) < 1e-14 {
		return true, true
	}
	right := cross < 0
	if s.Graph.Arcs[s.Graph.Pieces[place.Piece].Forward].Flags&graph.DriveLeft != 0 {
		right = !right
	}
	if s.places.Approaches[i] == Opposite {
		right = !right
	}
	return right, !right
}

// segment returns the straight part of a piece that contains a place.
func (r *Roads) segment(place *match.Place) (from, to geo.Point) {
	line := r.Graph.PieceLine(place.Piece)
	return line[place.Segment].Point(), line[place.Segment+1].Point()
}

// directed reports whether the coordinate's bearing allows a direction of the road at a place.
func (s *snapper) directed(i int, place *match.Place, backward bool) bool {
	if len(s.places.Bearings) == 0 || !s.places.Bearings[i].Given {
		return true
	}
	from, to := s.segment(place)
	if backward {
		from, to = to, from
	}
	b := &s.places.Bearings[i]
	return geo.AngleBetween(math.Round(geo.Bearing(from, to)), b.Value) <= b.Range // whole degrees, like the request's
}

// hangTogether reports whether all spots have a candidate in one island.
func (s *snapper) hangTogether(spots []Spot) bool {
	for _, c := range spots[0].Candidates {
		island, all := s.Graph.Arcs[c.Arc].Island, true
		for i := 1; all && i < len(spots); i++ {
			all = s.reaches(&spots[i], island)
		}
		if all {
			return true
		}
	}
	return false
}

func (s *snapper) reaches(spot *Spot, island uint32) bool {
	for _, c := range spot.Candidates {
		if s.Graph.Arcs[c.Arc].Island == island {
			return true
		}
	}
	return false
}

// maxIslands is how many islands near all coordinates are considered, the largest first.
const maxIslands = 16

// joinIslands moves the spots to the nearest roads of one island within reach of all, if there is one (D15.10); of
// several, the one nearest to all together.
func (s *snapper) joinIslands(spots []Spot) []Spot {
	common := s.islandsAround(0)
	for i := 1; i < len(spots) && len(common) > 0; i++ {
		around := s.islandsAround(i)
		maps.DeleteFunc(common, func(island uint32, _ struct{}) bool { _, reached := around[island]; return !reached })
	}
	var best []Spot
	least := math.Inf(1)
	islands := slices.Sorted(maps.Keys(common))
	for _, island := range islands[:min(maxIslands, len(islands))] {
		if slices.ContainsFunc(spots, func(one Spot) bool { return !s.mayMove(&one, island) }) {
			continue
		}
		moved, sum := make([]Spot, len(spots)), 0.0
		for i := range moved {
			moved[i] = s.spot(i, maxIslandSnap, func(of uint32) bool { return of == island })
			if len(moved[i].Candidates) == 0 {
				sum = math.Inf(1)
				break
			}
			sum += moved[i].Places[0].Distance
		}
		if sum < least {
			best, least = moved, sum
		}
	}
	return best
}

// minGrowth is the ratio of an island's junctions to those of the island that a spot is moved away from, which must be
// exceeded.
const minGrowth = 10

// mayMove reports whether a spot may be moved to an island: only to one with more than ten times the junctions of the
// spot's own (D15.10). Otherwise a place behind a barrier would be moved to the near side.
func (s *snapper) mayMove(spot *Spot, island uint32) bool {
	var own uint64
	for _, c := range spot.Candidates {
		of := s.Graph.Arcs[c.Arc].Island
		if of == island {
			return true
		}
		own = max(own, uint64(s.islandSizes[of]))
	}
	return uint64(s.islandSizes[island]) > minGrowth*own
}

// islandsAround returns the islands with a road about within the distance that a coordinate may be moved.
func (s *snapper) islandsAround(i int) map[uint32]struct{} {
	around := make(map[uint32]struct{})
	visit := func(piece uint32) bool {
		p := &s.Graph.Pieces[piece]
		for _, arc := range [...]uint32{p.Forward, p.Backward} {
			if s.acceptsArc(arc, nil) {
				around[s.Graph.Arcs[arc].Island] = struct{}{}
			}
		}
		return false // false, so that all pieces are visited
	}
	s.Index.Nearest(nil, s.places.Coordinates[i], match.Nearest{Within: s.within(i, maxIslandSnap), Count: 1, Accept: visit})
	return around
}
