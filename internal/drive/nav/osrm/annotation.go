package osrm

import (
	"strconv"

	"wayside/internal/drive/nav"
	"wayside/internal/entities/wire"
	"wayside/internal/ground/geo"
	"wayside/internal/roads/graph"
)

// stretch is the part of a leg between two locations.
type stretch struct {
	metres           float64
	duration, weight float64 // seconds
	maxSpeed         int     // km/h; 0: unknown
	changed          bool    // by conditions
	slowdown         float64 // factor by which it takes longer than usual
}

// stretches calls each with the stretches of a leg in order. It measures the length of each, and shares the times among
// them by length.
func stretches(n *nav.Network, leg *nav.Leg, each func(s *stretch)) {
	for i := range leg.Parts {
		p := &leg.Parts[i]
		length := n.Length(p)
		arc := &n.Graph.Arcs[p.Arc]
		way := &n.Graph.Ways[n.Graph.Pieces[arc.Piece].Way]
		s := stretch{maxSpeed: int(way.MaxSpeedForward)}
		if arc.Flags&graph.Backward != 0 {
			s.maxSpeed = int(way.MaxSpeedBackward)
		}
		s.changed = p.Duration != p.Free
		if p.Free > 0 {
			s.slowdown = float64(p.Duration) / float64(p.Free)
		}
		for k := p.First; k < p.Last; k++ {
			s.metres = geo.Distance(leg.Locations[k].Point(), leg.Locations[k+1].Point())
			share := 1 / float64(p.Last-p.First)
			if length > 0 {
				share = s.metres / length
			}
			s.duration, s.weight = share*float64(p.Duration)/1000, share*float64(p.Weight)/1000
			each(&s)
		}
	}
}

// appendAnnotation appends the requested values for each stretch of a leg.
func (r *Request) appendAnnotation(dst []byte, n *nav.Network, leg *nav.Leg) []byte {
	dst = append(dst, '{')
	first := true
	list := func(of Annotations, name string, value func(dst []byte, s *stretch) []byte) {
		if r.Annotations&of == 0 {
			return
		}
		dst = append(append(append(wire.AppendComma(dst, !first), '"'), name...), `":[`...)
		first = false
		count := 0
		stretches(n, leg, func(s *stretch) {
			dst = value(wire.AppendComma(dst, count > 0), s)
			count++
		})
		dst = append(dst, ']')
	}
	list(Distance, "distance", func(dst []byte, s *stretch) []byte { return appendDecimal(dst, s.metres, 1e3) })
	list(Duration, "duration", func(dst []byte, s *stretch) []byte { return appendDecimal(dst, s.duration, 1e3) })
	list(Weight, "weight", func(dst []byte, s *stretch) []byte { return appendDecimal(dst, s.weight, 1e3) })
	before := 0.0
	list(Speed, "speed", func(dst []byte, s *stretch) []byte {
		if s.duration > 0 {
			before = s.metres / s.duration
		}
		return appendDecimal(dst, before, 10)
	})
	list(Datasources, "datasources", func(dst []byte, s *stretch) []byte {
		if s.changed {
			return append(dst, '1')
		}
		return append(dst, '0')
	})
	list(MaxSpeed, "maxspeed", appendMaxSpeed)
	list(Congestion, "congestion", func(dst []byte, s *stretch) []byte { return wire.AppendString(dst, s.congestion()) })
	if r.Annotations&Datasources != 0 {
		dst = append(dst, `,"metadata":{"datasource_names":["region","conditions"]}`...)
	}
	if r.Annotations&NodeIDs != 0 {
		dst = append(wire.AppendComma(dst, !first), `"nodes":[`...)
		for i, node := range leg.Nodes {
			dst = strconv.AppendInt(wire.AppendComma(dst, i > 0), node, 10)
		}
		dst = append(dst, ']')
	}
	return append(dst, '}')
}

// appendMaxSpeed appends a speed limit in Mapbox's form.
func appendMaxSpeed(dst []byte, s *stretch) []byte {
	if s.maxSpeed == 0 {
		return append(dst, `{"unknown":true}`...)
	}
	dst = append(dst, `{"speed":`...)
	dst = strconv.AppendInt(dst, int64(s.maxSpeed), 10)
	return append(dst, `,"unit":"km/h"}`...)
}

// congestion returns Mapbox's word for how much conditions slow a stretch.
func (s *stretch) congestion() string {
	switch {
	case !s.changed:
		return "unknown" // without conditions, the traffic is unknown
	case s.slowdown < 1.25:
		return "low"
	case s.slowdown < 2:
		return "moderate"
	case s.slowdown < 4:
		return "heavy"
	}
	return "severe"
}
