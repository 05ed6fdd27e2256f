package aheadtest

import (
	"context"
	"math"
	"math/rand/v2"
	"time"

	"wayside/internal/drive/alerts"
	"wayside/internal/drive/alerts/ahead"
	"wayside/internal/drive/nav"
	"wayside/internal/drive/nav/guide"
	"wayside/internal/ground/geo"
	"wayside/internal/roads/graph"
)

// Method is a way to decide which pins lie ahead.
type Method int

// The methods.
const (
	Session  Method = iota // along the route of a session
	Probable               // along the most probable way, with the token of the previous answer
	Cone                   // by the corridor, as without roads
	Circle                 // within 90° of the heading
	Methods
)

func (m Method) String() string {
	return [...]string{"session", "probable way", "cone", "circle"}[m]
}

// Count is the result of one method.
type Count struct {
	Expected  int        // pins that the driver comes to
	Announced int        // of these, announced
	InTime    int        // of these, announced within a fifth of the right distance
	Straight  int        // of Expected, those without a turn off the usual way between the announcement and the pin
	Known     int        // of Straight, announced
	KnownTime int        // of Known, in time
	False     [sorts]int // announcements of pins that the driver never comes to
	Decoys    [sorts]int
}

// AllFalse returns the number of announcements of pins that the driver never comes to.
func (c *Count) AllFalse() (n int) {
	for _, one := range c.False {
		n += one
	}
	return n
}

// FalseShare returns the share of false announcements in all.
func (c *Count) FalseShare() float64 {
	return float64(c.AllFalse()) / float64(max(1, c.AllFalse()+c.Announced))
}

// Result holds the results of all methods in the same drives.
type Result struct {
	Routes  int
	Metres  float64
	Counts  [Methods]Count
	Matched int // fixes for which the probable way began on the right arc
	Fixes   int
	Took    []time.Duration // durations of the looks along the roads
	Guidance
}

// Run drives count routes.
func Run(ctx context.Context, r Roads, routes *nav.Service, count int, seed uint64) (*Result, error) {
	random := rand.New(rand.NewPCG(seed, 17))
	words, err := guide.ReadWords()
	if err != nil {
		return nil, err
	}
	teller := &guide.Teller{Graph: r.Graph, Words: words.In("en"), Last: true}
	result := &Result{}
	for range count {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		d, err := newDrive(ctx, r, routes, random)
		if err != nil {
			return nil, err
		}
		result.Routes++
		result.Metres += d.length
		s := &simulation{roads: r, drive: d, pins: d.pins(r, random), result: result}
		s.run()
		s.guide(teller)
		if err := s.follow(ctx, routes); err != nil {
			return nil, err
		}
	}
	return result, nil
}

// simulation is one drive with its pins.
type simulation struct {
	roads  Roads
	drive  *drive
	pins   []pin
	result *Result
	state  *ahead.State
	walk   ahead.Walk
	said   [Methods][]bool
	due    []float64 // for each pin on the route, the metre of the route at which it should be announced; NaN: not reached yet
	when   [Methods][]float64
}

func (s *simulation) run() {
	s.due = make([]float64, len(s.pins))
	for m := range s.said {
		s.said[m], s.when[m] = make([]bool, len(s.pins)), make([]float64, len(s.pins))
	}
	for i := range s.due {
		s.due[i] = math.NaN()
	}
	for i := range s.drive.moments {
		if m := &s.drive.moments[i]; m.has {
			s.look(m)
		}
	}
	s.count()
}

// look applies each method at one moment.
func (s *simulation) look(m *moment) {
	car := alerts.Car{At: m.fix.At, Heading: m.fix.Heading, Directed: true, Speed: m.fix.Speed}
	pins := make([]alerts.Pin, len(s.pins))
	for i := range s.pins {
		pins[i] = s.pins[i].alert()
		if p := &s.pins[i]; p.sort == OnRoute && math.IsNaN(s.due[i]) && p.metres > m.metres && p.metres-m.metres <= alerts.Lead(p.kind, m.speed) {
			s.due[i] = m.metres
		}
	}
	roads := ahead.Roads{Graph: s.roads.Graph, Index: s.roads.Index, Version: 1}
	began := time.Now()
	state, ok := s.walk.Probable(roads, m.fix, s.state, alerts.DetourRange)
	places := s.places(ok)
	s.result.Took = append(s.result.Took, time.Since(began))
	s.result.Fixes++
	if s.state = nil; ok {
		text := state.Append(nil)
		s.state, _ = ahead.ParseState(string(text))
		if _, on := s.drive.on[state.Arc()]; on {
			s.result.Matched++
		}
	}
	s.announce(Probable, m, &car, pins, places)
	if _, ok := s.walk.Along(roads, m.fix, s.drive.ahead(s.roads, max(0, m.metres-30)), nil, alerts.DetourRange); ok {
		places = s.places(true)
	}
	s.announce(Session, m, &car, pins, places)
	s.announce(Cone, m, &car, pins, nil)
	for i := range s.pins {
		metres := geo.Distance(m.fix.At, s.pins[i].pin.At)
		if metres <= alerts.Lead(s.pins[i].kind, m.fix.Speed) && geo.AngleBetween(m.fix.Heading, geo.Bearing(m.fix.At, s.pins[i].pin.At)) <= 90 {
			s.say(Circle, i, m)
		}
	}
}

// places returns the places of the pins along the walk, or nil if there is no walk.
func (s *simulation) places(ok bool) []alerts.Ahead {
	if !ok {
		return nil
	}
	places := make([]alerts.Ahead, len(s.pins))
	for i := range s.pins {
		if !s.walk.Near(s.pins[i].pin.At, 60) {
			continue
		}
		if place, ok := s.walk.Find(&s.pins[i].pin); ok {
			places[i] = alerts.Ahead{Match: alerts.ByRoad, Distance: place.Distance, Reached: place.Reached, Unsure: place.Unsure()}
		}
	}
	return places
}

// announce records the alerts that are due.
func (s *simulation) announce(method Method, m *moment, car *alerts.Car, pins []alerts.Pin, places []alerts.Ahead) {
	for _, a := range car.ListAlong(nil, pins, places, func(i int) alerts.Details {
		return alerts.Details{Bearing: s.pins[i].pin.Bearing, Directed: s.pins[i].pin.Directed}
	}) {
		if a.Due {
			s.say(method, a.Pin, m)
		}
	}
}

func (s *simulation) say(method Method, i int, m *moment) {
	if !s.said[method][i] {
		s.said[method][i], s.when[method][i] = true, m.metres
	}
}

// count adds up the announcements of the drive.
func (s *simulation) count() {
	for i := range s.pins {
		p := &s.pins[i]
		if p.sort == OnRoute && math.IsNaN(s.due[i]) {
			continue // no fix came in time
		}
		straight := p.sort == OnRoute && s.isStraight(s.due[i], p.metres)
		for m := range Methods {
			c := &s.result.Counts[m]
			if p.sort != OnRoute {
				c.Decoys[p.sort]++
				if s.said[m][i] {
					c.False[p.sort]++
				}
				continue
			}
			c.Expected++
			announced := s.said[m][i] && s.when[m][i] < p.metres
			lead := p.metres - s.due[i]
			inTime := announced && math.Abs(p.metres-s.when[m][i]-lead) <= lead/5
			c.Announced += one(announced)
			c.InTime += one(inTime)
			c.Straight += one(straight)
			c.Known += one(straight && announced)
			c.KnownTime += one(straight && inTime)
		}
	}
}

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// isStraight reports whether most drivers would take the route between two places: it has no turn by more than 40° where
// it could go straighter.
func (s *simulation) isStraight(from, to float64) bool {
	g := s.roads.Graph
	for i := 0; i+1 < len(s.drive.arcs); i++ {
		if end := s.drive.starts[i+1]; end < from || end > to {
			continue
		}
		arc, next := s.drive.arcs[i], s.drive.arcs[i+1]
		_, before := s.roads.at(arc, 1)
		angleOf := func(arc uint32) float64 {
			_, after := s.roads.at(arc, 0)
			return geo.AngleBetween(before, after)
		}
		taken := angleOf(next)
		for _, t := range g.TurnsFrom(arc) {
			if g.Arcs[t.To].Piece == g.Arcs[arc].Piece || t.To == next || sameRoad(g, arc, next) {
				continue
			}
			if taken > 40 || angleOf(t.To) < taken+20 {
				return false
			}
		}
	}
	return true
}

// sameRoad reports whether two arcs belong to one way.
func sameRoad(g *graph.Graph, a, b uint32) bool {
	return g.Pieces[g.Arcs[a].Piece].Way == g.Pieces[g.Arcs[b].Piece].Way
}
