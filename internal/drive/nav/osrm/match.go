package osrm

import (
	"strconv"

	"wayside/internal/drive/nav"
	"wayside/internal/entities/wire"
)

// TraceRequest returns the request of the service match.
func (r *Request) TraceRequest() *nav.TraceRequest {
	return &nav.TraceRequest{
		Places: r.Places, Timestamps: r.Timestamps, IgnoreGaps: r.IgnoreGaps, Tidy: r.Tidy, Waypoints: r.Waypoints, Steps: r.Steps, JoinExits: r.JoinExits,
	}
}

// AppendMatch appends the answer of the service match.
func (r *Request) AppendMatch(dst []byte, a *nav.TraceAnswer) []byte {
	dst = append(dst, `{"code":"Ok","matchings":[`...)
	for i := range a.Matchings {
		m := &a.Matchings[i]
		dst = r.appendRoute(wire.AppendComma(dst, i > 0), a.Network, &m.Route)
		dst = append(dst, `,"confidence":`...)
		dst = appendDecimal(dst, m.Confidence, 1e6)
		dst = append(dst, '}')
	}
	dst = append(dst, ']')
	if !r.SkipWaypoints {
		dst = append(dst, `,"tracepoints":[`...)
		for i := range a.Tracepoints {
			dst = r.appendTracepoint(wire.AppendComma(dst, i > 0), a.Network, &a.Tracepoints[i])
		}
		dst = append(dst, ']')
	}
	return appendDataVersion(dst, a.Network)
}

func (r *Request) appendTracepoint(dst []byte, n *nav.Network, p *nav.Tracepoint) []byte {
	if !p.Matched {
		return append(dst, "null"...)
	}
	dst = r.appendWaypoint(dst, n, &p.Place)
	dst = append(dst, `,"matchings_index":`...)
	dst = strconv.AppendInt(dst, int64(p.Matching), 10)
	dst = append(dst, `,"waypoint_index":`...)
	if p.Waypoint < 0 {
		dst = append(dst, "null"...)
	} else {
		dst = strconv.AppendInt(dst, int64(p.Waypoint), 10)
	}
	dst = append(dst, `,"alternatives_count":`...)
	dst = strconv.AppendInt(dst, int64(p.Alternatives), 10)
	return append(dst, '}')
}
