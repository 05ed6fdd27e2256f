package aheadtest

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"wayside/internal/drive/nav"
	"wayside/internal/drive/nav/guide"
	"wayside/internal/drive/nav/session"
	"wayside/internal/ground/geo"
	"wayside/internal/roads/graph"
)

// Guidance counts how well the drivers were guided in the same drives.
type Guidance struct {
	Turns     int // turns by more than sharpTurn where a road goes straighter on
	Announced int // of these, those that a maneuver announces, after the previous maneuver and before the turn
	Twice     int // of these, those announced by more maneuvers than there are turns, or by one maneuver twice in the same words
	Told      int // maneuvers that are turns to the left or right
	NotThere  int // of these, those where the route goes straight on, or turns to the other side
	Drives    int
	Rerouted  int // drives whose route was replaced although the driver never left it
}

// The limits of turns that must be announced, and of bends that must not.
const (
	sharpTurn  = 60.0  // degrees
	straighter = 30.0  // degrees, of another road at the junction
	noTurn     = 15.0  // degrees over turnReach
	seenTurn   = 15.0  // metres before and after a junction between which its angles are measured
	slightBend = 20.0  // degrees: a smaller bend is not a separate turn
	slipReach  = 160.0 // metres of a slip road around a junction; the turn is announced where the slip road leaves
	turnReach  = 45.0  // metres: a crossing of wide roads is announced at its first junction, and a turn there is one maneuver
)

// guided is a route with its request.
type guided struct {
	request nav.RouteRequest
	answer  *nav.RouteAnswer
}

// maneuver is an announced maneuver.
type maneuver struct {
	metres      float64 // along the route
	step        guide.Step
	isAnnounced bool
	isRepeated  bool // two of its announcements are the same
}

// side returns the side to which a maneuver turns, if more than slightly: -1 for left, 1 for right, otherwise 0.
func (m *maneuver) side() int {
	switch m.step.Direction {
	case guide.Left, guide.SharpLeft:
		return -1
	case guide.Right, guide.SharpRight:
		return 1
	}
	return 0
}

// maneuvers returns the maneuvers of a route.
func (g *guided) maneuvers(t *guide.Teller) []maneuver {
	steps := g.answer.Routes[0].Legs[0].Steps
	var (
		all []maneuver
		at  float64
	)
	for i := range steps {
		if i > 0 {
			said := t.Announcements(nil, steps, i-1)
			left := steps[i-1].Distance + 0.1 // distances are rounded
			m := maneuver{metres: at, step: steps[i]}
			for k, a := range said {
				m.isAnnounced = m.isAnnounced || a.At > 0 && a.At <= left
				m.isRepeated = m.isRepeated || slices.ContainsFunc(said[:k], func(b guide.Announcement) bool { return a.Text == b.Text })
			}
			all = append(all, m)
		}
		at += steps[i].Distance
	}
	return all
}

// guide compares the announcements of the route with the roads.
func (s *simulation) guide(t *guide.Teller) {
	g := &s.result.Guidance
	told := s.drive.guided.maneuvers(t)
	for _, turn := range s.drive.turns(s.roads) {
		g.Turns++
		g.Announced += one(turn.isTold(told))
		g.Twice += one(turn.isToldTwice(told))
	}
	for i := range told {
		m := &told[i]
		toLeft, toRight := m.side() < 0, m.side() > 0
		if m.step.Kind != guide.Turn && m.step.Kind != guide.EndOfRoad || !toLeft && !toRight {
			continue
		}
		if m.metres < s.drive.first+turnReach || m.metres > s.drive.first+s.drive.length-turnReach {
			continue // the first and the last arc are driven in part, so their directions are not known
		}
		g.Told++
		left, right := s.drive.bends(s.roads, m.metres-s.drive.first)
		g.NotThere += one((toLeft && left < noTurn || toRight && right < noTurn) && !s.drive.isOuter(s.roads, m.metres-s.drive.first, m.side()))
	}
}

// turn is a turn of the route that must be announced.
type turn struct {
	metres float64 // from the beginning of the route
	side   int     // -1 to the left, 1 to the right
	after  float64 // the bearing after it
	places int     // number of places within turnReach where the route bends to the same side
}

// isTold reports whether a maneuver announces the turn: one near it, or an earlier one onto a slip road that leads
// around the junction.
func (t *turn) isTold(told []maneuver) bool {
	for i := range told {
		m := &told[i]
		if m.step.Kind == guide.Arrive || !m.isAnnounced {
			continue
		}
		if math.Abs(m.metres-t.metres) <= turnReach {
			return true
		}
		isLast := i+1 == len(told) || told[i+1].metres > t.metres
		if m.metres <= t.metres && t.metres-m.metres <= slipReach && isLast && geo.AngleBetween(float64(m.step.After), t.after) <= straighter {
			return true
		}
	}
	return false
}

func (t *turn) isToldTwice(told []maneuver) bool {
	count := 0
	for i := range told {
		m := &told[i]
		if math.Abs(m.metres-t.metres) > turnReach || m.side() != t.side {
			continue
		}
		if count++; m.isRepeated {
			return true
		}
	}
	return count > t.places
}

// turns returns the turns of the route that must be announced.
func (d *drive) turns(r Roads) (all []turn) {
	const ring = graph.Roundabout | graph.Circular
	for i := 0; i+1 < len(d.arcs); i++ {
		arc, next := d.arcs[i], d.arcs[i+1]
		if (r.Graph.Arcs[arc].Flags|r.Graph.Arcs[next].Flags)&ring != 0 || d.starts[i+1] < turnReach || d.starts[i+1] > d.length-turnReach {
			continue
		}
		before, after := d.around(r, i)
		angle := math.Remainder(after-before, 360)
		if math.Abs(angle) < sharpTurn || d.goesStraightOver(r, i) {
			continue
		}
		for _, t := range r.Graph.TurnsFrom(arc) {
			if t.To != next && geo.AngleBetween(before, r.leaving(t.To)) <= straighter {
				side := int(math.Copysign(1, angle))
				all = append(all, turn{d.first + d.starts[i+1], side, after, d.bendsTo(r, i, side)})
				break
			}
		}
	}
	return all
}

// bendsTo counts the places around the end of an arc where the route bends to the given side. A maneuver may be
// announced up to this distance before each.
func (d *drive) bendsTo(r Roads, at, side int) (count int) {
	for i := 0; i+1 < len(d.arcs); i++ {
		if math.Abs(d.starts[i+1]-d.starts[at+1]) > 2*turnReach {
			continue
		}
		if before, after := d.around(r, i); float64(side)*math.Remainder(after-before, 360) >= slightBend {
			count++
		}
	}
	return count
}

// around returns the bearings of the route before and after the end of an arc, as a driver sees them from there.
func (d *drive) around(r Roads, i int) (before, after float64) {
	at := d.starts[i+1]
	from, middle, to := d.placeAt(r, at-seenTurn), d.placeAt(r, at), d.placeAt(r, at+seenTurn)
	return geo.Bearing(from, middle), geo.Bearing(middle, to)
}

// leaving returns the bearing of an arc at its beginning, as a driver sees it from the junction.
func (r Roads) leaving(arc uint32) float64 {
	from, bearing := r.at(arc, 0)
	if to, _ := r.at(arc, min(1, seenTurn/max(0.01, r.length(arc)))); to != from {
		return geo.Bearing(from, to)
	}
	return bearing
}

// goesStraightOver reports whether shortly after the end of an arc the route is on the same road as shortly before, in
// the same direction. This is so for a car that drives around the island of a junction.
func (d *drive) goesStraightOver(r Roads, i int) bool {
	for j := i + 1; j < len(d.arcs) && d.starts[j]-d.starts[i+1] <= turnReach; j++ {
		_, after := r.at(d.arcs[j], 0)
		for k := i; k >= 0 && d.starts[j]-d.starts[k+1] <= turnReach; k-- {
			_, before := r.at(d.arcs[k], 1)
			if geo.AngleBetween(before, after) <= straighter && sameName(r.Graph, d.arcs[k], d.arcs[j]) {
				return true
			}
		}
	}
	return false
}

// sameName reports whether two arcs have the same name, which must not be empty.
func sameName(g *graph.Graph, a, b uint32) bool {
	one, other := g.Ways[g.Pieces[g.Arcs[a].Piece].Way].Name, g.Ways[g.Pieces[g.Arcs[b].Piece].Way].Name
	return one.Length > 0 && other.Length > 0 && g.Text(one) == g.Text(other)
}

// bends returns by how many degrees the route turns around a place: the maximum within turnReach to the left and to the
// right.
func (d *drive) bends(r Roads, metres float64) (left, right float64) {
	for from := metres - turnReach; from <= metres+turnReach; from += 5 {
		a, b := d.bearingAt(r, from-turnReach/2), d.bearingAt(r, from+turnReach/2)
		turned := math.Remainder(b-a, 360)
		left, right = max(left, -turned), max(right, turned)
	}
	return left, right
}

func (d *drive) bearingAt(r Roads, metres float64) float64 {
	_, bearing := d.poseAt(r, metres)
	return bearing
}

func (d *drive) placeAt(r Roads, metres float64) geo.Point {
	at, _ := d.poseAt(r, metres)
	return at
}

func (d *drive) poseAt(r Roads, metres float64) (at geo.Point, bearing float64) {
	i := d.indexAt(metres)
	return r.at(d.arcs[i], max(0, min(1, (metres-d.starts[i])/max(0.01, r.length(d.arcs[i])))))
}

// indexAt returns the index of the route's arc at the given metre.
func (d *drive) indexAt(metres float64) int {
	i := 0
	for i+1 < len(d.arcs) && d.starts[i+1] <= metres {
		i++
	}
	return i
}

// isOuter reports whether, among the roads ahead at the junction at the given metre, the route takes the outermost one
// on a side. Such a fork is announced, however little its roads bend.
func (d *drive) isOuter(r Roads, metres float64, side int) bool {
	const within, ahead = 5.0, 100.0 // metres, degrees
	for i := 0; i+1 < len(d.arcs); i++ {
		if math.Abs(d.starts[i+1]-metres) > within {
			continue
		}
		_, before := r.at(d.arcs[i], 1)
		angleOf := func(arc uint32) float64 {
			_, after := r.at(arc, 0)
			return float64(side) * math.Remainder(after-before, 360)
		}
		taken, others, outer := angleOf(d.arcs[i+1]), 0, true
		for _, t := range r.Graph.TurnsFrom(d.arcs[i]) {
			if angle := angleOf(t.To); t.To != d.arcs[i+1] && math.Abs(angle) <= ahead {
				others++
				outer = outer && angle < taken
			}
		}
		if others > 0 && outer {
			return true
		}
	}
	return false
}

// follow sends each fix of the drive to a session, and counts whether the session changes the route.
func (s *simulation) follow(ctx context.Context, routes *nav.Service) error {
	g := &s.result.Guidance
	g.Drives++
	now := time.Unix(1_800_000_000, 0)
	hub := session.New(session.Options{Routes: routes, Now: func() time.Time { return now }})
	seat, err := hub.Reserve(session.Caller{}, 1)
	if err != nil {
		return err
	}
	defer seat.Release()
	drive, err := hub.Open(seat, &s.drive.guided.request, s.drive.guided.answer, 0, func(dst []byte, _ *nav.RouteAnswer, _ int) []byte { return append(dst, '{', '}') })
	if err != nil {
		return err
	}
	defer hub.Close(drive.ID)
	for i := range s.drive.moments {
		m := &s.drive.moments[i]
		now = m.fix.Now
		if !m.has {
			continue
		}
		if !drive.Admit().OK {
			return errors.New("a session reads no more than one position a second")
		}
		route, err := drive.Position(ctx, session.Position{At: m.fix.At, Heading: m.fix.Heading})
		if err != nil {
			return err
		}
		if route != nil {
			g.Rerouted++
			return nil
		}
	}
	return nil
}
