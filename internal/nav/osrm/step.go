package osrm

import (
	"strconv"

	"wayside/internal/nav"
	"wayside/internal/roads/graph"
	"wayside/internal/wire"
)

// appendStep appends a step of a leg.
func (r *Request) appendStep(dst []byte, n *nav.Network, leg *nav.Leg, s *nav.Step) []byte {
	dst = append(dst, `{"geometry":`...)
	line := leg.Locations[s.First : s.Last+1]
	if s.First == s.Last { // a line has two positions
		line = []graph.Position{leg.Locations[s.First], leg.Locations[s.First]}
	}
	dst = appendGeometry(dst, r.Geometries, line)
	dst = append(dst, `,"maneuver":{"bearing_after":`...)
	dst = strconv.AppendInt(dst, int64(s.After), 10)
	dst = append(dst, `,"bearing_before":`...)
	dst = strconv.AppendInt(dst, int64(s.Before), 10)
	dst = append(dst, `,"location":`...)
	dst = appendPosition(dst, leg.Locations[s.First])
	if s.Modifier != "" {
		dst = append(dst, `,"modifier":"`...)
		dst = append(dst, s.Modifier...)
		dst = append(dst, '"')
	}
	dst = append(dst, `,"type":"`...)
	dst = append(dst, s.Type...)
	dst = append(dst, `"},"mode":"`...)
	dst = append(dst, s.Mode...)
	dst = append(dst, `","driving_side":"`...)
	dst = append(dst, s.Side...)
	dst = append(dst, `","name":`...)
	dst = wire.AppendString(dst, n.Graph.Text(s.Way.Name))
	signs := n.Graph.SignsOf(s.Way)
	for _, text := range [...]struct {
		name string
		text string
	}{{"ref", n.Graph.Text(s.Way.Ref)}, {"destinations", n.Graph.Text(signs.Destination)}, {"pronunciation", n.Graph.Text(signs.Pronunc)}} {
		if text.text != "" {
			dst = append(append(append(dst, `,"`...), text.name...), `":`...)
			dst = wire.AppendString(dst, text.text)
		}
	}
	dst = append(dst, `,"intersections":[`...)
	for i := range s.Intersections {
		dst = appendIntersection(wire.AppendComma(dst, i > 0), &s.Intersections[i])
	}
	dst = append(dst, `],"weight":`...)
	dst = appendSeconds(dst, s.Weight)
	dst = append(dst, `,"duration":`...)
	dst = appendSeconds(dst, s.Duration)
	dst = append(dst, `,"distance":`...)
	dst = appendMetres(dst, s.Distance)
	return append(dst, '}')
}

func appendIntersection(dst []byte, i *nav.Intersection) []byte {
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
	for k, entry := range i.Entry {
		dst = strconv.AppendBool(wire.AppendComma(dst, k > 0), entry)
	}
	dst = append(dst, `],"bearings":[`...)
	for k, bearing := range i.Bearings {
		dst = strconv.AppendInt(wire.AppendComma(dst, k > 0), int64(bearing), 10)
	}
	dst = append(dst, `],"location":`...)
	dst = appendPosition(dst, i.Location)
	const told = graph.Toll | graph.Motorway | graph.Ferry | graph.LocalOnly
	if i.Classes&told != 0 {
		dst = append(dst, `,"classes":[`...)
		first := true
		for _, class := range [...]struct {
			flag graph.Flags
			name string
		}{{graph.Toll, "toll"}, {graph.Motorway, "motorway"}, {graph.Ferry, "ferry"}, {graph.LocalOnly, "restricted"}} {
			if i.Classes&class.flag != 0 {
				dst = wire.AppendString(wire.AppendComma(dst, !first), class.name)
				first = false
			}
		}
		dst = append(dst, ']')
	}
	return append(dst, '}')
}
