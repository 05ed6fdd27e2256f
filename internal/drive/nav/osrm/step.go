package osrm

import (
	"strconv"

	"wayside/internal/drive/nav"
	"wayside/internal/drive/nav/guide"
	"wayside/internal/entities/wire"
	"wayside/internal/roads/graph"
)

// appendStep appends a step of a leg, without its closing brace.
func (r *Request) appendStep(dst []byte, n *nav.Network, leg *nav.Leg, s *nav.Step) []byte {
	dst = append(dst, `{"geometry":`...)
	line := leg.Locations[s.First : s.Last+1]
	if s.First == s.Last { // a line must have two positions
		line = []graph.Position{leg.Locations[s.First], leg.Locations[s.First]}
	}
	dst = AppendGeometry(dst, r.Geometries, line)
	dst = appendManeuver(dst, s, leg.Locations[s.First])
	dst = append(dst, `,"mode":"`...)
	dst = append(dst, modeOf(s.Flags)...)
	dst = append(dst, `","driving_side":"`...)
	dst = append(dst, sideOf(s.Flags)...)
	dst = append(dst, `","name":`...)
	dst = appendNames(dst, n.Graph, s)
	dst = append(dst, `,"intersections":[`...)
	for i := range s.Intersections {
		dst = appendIntersection(wire.AppendComma(dst, i > 0), &s.Intersections[i])
	}
	dst = append(dst, `],"weight":`...)
	dst = appendSeconds(dst, s.Weight)
	dst = append(dst, `,"duration":`...)
	dst = appendSeconds(dst, s.Duration)
	dst = append(dst, `,"distance":`...)
	return appendMetres(dst, s.Distance)
}

func appendManeuver(dst []byte, s *nav.Step, at graph.Position) []byte {
	dst = append(dst, `,"maneuver":{"bearing_after":`...)
	dst = strconv.AppendInt(dst, int64(s.After), 10)
	dst = append(dst, `,"bearing_before":`...)
	dst = strconv.AppendInt(dst, int64(s.Before), 10)
	if s.Exit > 0 {
		dst = append(dst, `,"exit":`...)
		dst = strconv.AppendInt(dst, int64(s.Exit), 10)
	}
	dst = append(dst, `,"location":`...)
	dst = appendPosition(dst, at)
	if s.Direction != guide.NoDirection {
		dst = append(dst, `,"modifier":"`...)
		dst = append(dst, s.Direction.String()...)
		dst = append(dst, '"')
	}
	dst = append(dst, `,"type":"`...)
	dst = append(dst, s.Kind.String()...)
	return append(dst, `"}`...)
}

func modeOf(f graph.Flags) string {
	if f&graph.Ferry != 0 {
		return "ferry"
	}
	return "driving"
}

func sideOf(f graph.Flags) string {
	if f&graph.DriveLeft != 0 {
		return "left"
	}
	return "right"
}

// appendNames appends the name of a step, and the other texts on its signs.
func appendNames(dst []byte, g *graph.Graph, s *nav.Step) []byte {
	way := &g.Ways[g.Pieces[g.Arcs[s.Arc].Piece].Way]
	signs := g.SignsOf(way)
	dst = wire.AppendString(dst, g.Bytes(way.Name))
	exits := signs.Exit
	if exits.Length == 0 {
		exits = s.Exits
	}
	for _, text := range [...]struct {
		name string
		text graph.TextRange
	}{{"ref", way.Ref}, {"destinations", signs.Destination}, {"exits", exits}, {"pronunciation", signs.Pronunc}} {
		if text.text.Length > 0 {
			dst = append(append(append(dst, `,"`...), text.name...), `":`...)
			dst = wire.AppendString(dst, g.Bytes(text.text))
		}
	}
	if s.Rotary != nil {
		dst = append(dst, `,"rotary_name":`...)
		dst = wire.AppendString(dst, g.Bytes(s.Rotary.Name))
		if spoken := g.SignsOf(s.Rotary).Pronunc; spoken.Length > 0 {
			dst = append(dst, `,"rotary_pronunciation":`...)
			dst = wire.AppendString(dst, g.Bytes(spoken))
		}
	}
	return dst
}

// roundedTo is the unit in degrees to which bearings of intersections are rounded, as in OSRM. They describe how a
// junction looks.
const roundedTo = 15

func appendIntersection(dst []byte, i *guide.Intersection) []byte {
	dst = append(dst, '{')
	for _, index := range [...]struct {
		name  string
		value int
	}{{`"out":`, i.Out}, {`"in":`, i.In}} {
		if index.value >= 0 {
			dst = append(dst, index.name...)
			dst = strconv.AppendInt(dst, int64(index.value), 10)
			dst = append(dst, ',')
		}
	}
	dst = append(dst, `"entry":[`...)
	for k := range i.Roads {
		dst = strconv.AppendBool(wire.AppendComma(dst, k > 0), i.Roads[k].Entry)
	}
	dst = append(dst, `],"bearings":[`...)
	for k := range i.Roads {
		bearing := i.Roads[k].Bearing
		if i.In >= 0 && i.Out >= 0 {
			bearing = (bearing + roundedTo/2) / roundedTo * roundedTo % 360
		}
		dst = strconv.AppendInt(wire.AppendComma(dst, k > 0), int64(bearing), 10)
	}
	dst = append(dst, `],"location":`...)
	dst = appendPosition(dst, i.Location)
	dst = appendLanes(dst, i.Lanes)
	if i.Classes&guide.Classes != 0 {
		dst = append(dst, `,"classes":[`...)
		first := true
		for _, class := range [...]struct {
			flag graph.Flags
			name string
		}{{graph.Toll, "toll"}, {graph.Motorway, "motorway"}, {graph.Ferry, "ferry"}, {graph.LocalOnly, "restricted"}, {graph.Tunnel, "tunnel"}} {
			if i.Classes&class.flag != 0 {
				dst = wire.AppendString(wire.AppendComma(dst, !first), class.name)
				first = false
			}
		}
		dst = append(dst, ']')
	}
	return append(dst, '}')
}

// appendLanes appends the lanes before an intersection after a comma, or nothing if none are known.
func appendLanes(dst []byte, lanes []guide.Lane) []byte {
	if len(lanes) == 0 {
		return dst
	}
	dst = append(dst, `,"lanes":[`...)
	for i := range lanes {
		l := &lanes[i]
		dst = append(wire.AppendComma(dst, i > 0), `{"valid":`...)
		dst = strconv.AppendBool(dst, l.Valid)
		if l.Taken != 0 {
			guide.Indications(l.Taken, func(name string) {
				dst = append(append(append(dst, `,"valid_indication":"`...), name...), '"')
			})
		}
		dst = append(dst, `,"indications":[`...)
		first := true
		guide.Indications(l.Marks, func(name string) {
			dst = append(append(append(wire.AppendComma(dst, !first), '"'), name...), '"')
			first = false
		})
		dst = append(dst, `]}`...)
	}
	return append(dst, ']')
}
