package engine

import (
	"encoding/json"
	"math"

	"wayside/internal/ground/geo"
	"wayside/internal/roads/graph"
)

// ghPath is a route of GraphHopper.
type ghPath struct {
	Distance     number          `json:"distance"` // metres
	Time         number          `json:"time"`     // ms
	Weight       number          `json:"weight"`
	Points       *line           `json:"points"`
	Snapped      *line           `json:"snapped_waypoints"`
	Instructions []ghInstruction `json:"instructions"`
}

type ghInstruction struct {
	Text        text   `json:"text"`
	Street      text   `json:"street_name"`
	Ref         text   `json:"street_ref"`
	Destination text   `json:"street_destination"`
	Distance    number `json:"distance"`
	Time        number `json:"time"`
	Sign        int    `json:"sign"`
	Interval    [2]int `json:"interval"`
	Exit        int    `json:"exit_number"`
	TurnAngle   any    `json:"turn_angle"` // radians, or "NaN"; of roundabouts: positive clockwise, which is where traffic drives on the left
}

// Signs of instructions.
const (
	ghFinish     = 4
	ghVia        = 5
	ghRoundabout = 6
)

// routesOfGraphhopper converts GraphHopper's answer to OSRM's form.
func routesOfGraphhopper(body []byte, q *question) (*answer, error) {
	var of struct {
		Paths []ghPath `json:"paths"`
	}
	if json.Unmarshal(body, &of) != nil || len(of.Paths) == 0 {
		return nil, errUnreadable
	}
	a := &answer{Code: "Ok"}
	for i := range of.Paths {
		r, err := of.Paths[i].route()
		if err != nil {
			return nil, err
		}
		a.Routes = append(a.Routes, *r)
	}
	if snapped := of.Paths[0].Snapped; snapped != nil && len(snapped.positions) == len(q.Places.Coordinates) {
		for i, at := range snapped.positions {
			a.Waypoints = append(a.Waypoints, waypoint{Location: position(at), Distance: number(geo.Distance(at.Point(), q.Places.Coordinates[i]))})
		}
	}
	return a, nil
}

// route makes a leg of the instructions up to each waypoint.
func (p *ghPath) route() (*route, error) {
	if p.Points == nil || len(p.Points.positions) == 0 {
		return nil, errUnreadable
	}
	seconds := p.Time / 1000
	r := &route{Geometry: p.Points, Distance: p.Distance, Duration: seconds, Weight: seconds, WeightName: "duration"}
	positions := p.Points.positions
	var l leg
	first, depart := 0, true
	for i := range p.Instructions {
		in := &p.Instructions[i]
		from, to := in.Interval[0], in.Interval[1]
		if from < first || to < from || to >= len(positions) {
			return nil, errUnreadable
		}
		s := in.step(positions, depart)
		l.Steps = append(l.Steps, s)
		l.Distance, l.Duration, l.Weight = l.Distance+s.Distance, l.Duration+s.Duration, l.Weight+s.Weight
		depart = in.Sign == ghFinish || in.Sign == ghVia
		if depart {
			l.line = positions[first : to+1]
			l.Summary = longestStreets(l.Steps)
			r.Legs = append(r.Legs, l)
			l, first = leg{}, to
		}
	}
	if len(l.Steps) > 0 {
		return nil, errUnreadable // the last instruction must be the arrival
	}
	return r, nil
}

// longestStreets returns the name of the road of a leg's longest step.
func longestStreets(steps []step) (name text) {
	longest := number(-1)
	for i := range steps {
		if s := &steps[i]; s.Name != "" && s.Distance > longest {
			name, longest = s.Name, s.Distance
		}
	}
	return name
}

// step converts an instruction to OSRM's form.
func (in *ghInstruction) step(positions []graph.Position, depart bool) step {
	from, to := in.Interval[0], in.Interval[1]
	seconds := in.Time / 1000
	s := step{
		Geometry: &line{positions: positions[from : to+1]}, Mode: "driving", DrivingSide: "right", Name: in.Street, Ref: in.Ref, Destinations: in.Destination,
		Distance: in.Distance, Duration: seconds, Weight: seconds,
	}
	m := &s.Maneuver
	m.Location, m.Instruction = position(positions[from]), in.Text
	m.Type, m.Modifier = in.maneuver()
	before, after := bearingInto(positions, from), bearingFrom(positions, from)
	if depart {
		m.Type, m.Modifier, before = "depart", "", 0
	}
	if in.Sign == ghFinish || in.Sign == ghVia {
		after = 0
	}
	m.BearingBefore, m.BearingAfter = number(before), number(after)
	if in.Sign == ghRoundabout {
		m.Exit = max(0, in.Exit)
		if angle, ok := in.TurnAngle.(float64); ok && angle > 0 {
			s.DrivingSide = "left"
		}
	}
	at := intersection{Location: m.Location}
	zero, one := 0, 1
	switch {
	case m.Type == "depart":
		at.Out, at.Entry, at.Bearings = &zero, []bool{true}, []number{number(after)}
	case m.Type == "arrive":
		at.In, at.Entry, at.Bearings = &zero, []bool{true}, []number{number(math.Mod(before+180, 360))}
	default:
		at.In, at.Out, at.Entry, at.Bearings = &zero, &one, []bool{false, true}, []number{number(math.Mod(before+180, 360)), number(after)}
	}
	s.Intersections = []intersection{at}
	return s
}

// maneuver returns OSRM's type and modifier for a sign.
func (in *ghInstruction) maneuver() (kind, modifier word) {
	switch in.Sign {
	case -98, -8, 8:
		return "turn", "uturn"
	case -7:
		return "fork", "slight left"
	case 7:
		return "fork", "slight right"
	case -6:
		return "exit roundabout", "right"
	case -3:
		return "turn", "sharp left"
	case -2:
		return "turn", "left"
	case -1:
		return "turn", "slight left"
	case 1:
		return "turn", "slight right"
	case 2:
		return "turn", "right"
	case 3:
		return "turn", "sharp right"
	case ghFinish, ghVia:
		return "arrive", ""
	case ghRoundabout:
		return "roundabout", "right"
	}
	return "new name", "straight" // 0 means continue; later versions may add signs
}

// bearingInto returns the direction in which a line reaches a position, in whole degrees, or 0 at its beginning.
func bearingInto(positions []graph.Position, at int) float64 {
	for k := at - 1; k >= 0; k-- {
		if positions[k] != positions[at] {
			return wholeBearing(positions[k], positions[at])
		}
	}
	return 0
}

// bearingFrom returns the direction in which a line leaves a position, or 0 at its end.
func bearingFrom(positions []graph.Position, at int) float64 {
	for k := at + 1; k < len(positions); k++ {
		if positions[k] != positions[at] {
			return wholeBearing(positions[at], positions[k])
		}
	}
	return 0
}

func wholeBearing(from, to graph.Position) float64 {
	return math.Mod(math.Round(geo.Bearing(from.Point(), to.Point())), 360)
}
