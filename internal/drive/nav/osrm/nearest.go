package osrm

import (
	"strconv"

	"wayside/internal/drive/nav"
	"wayside/internal/entities/wire"
	"wayside/internal/roads/graph"
	"wayside/internal/roads/match"
)

// NearestRequest returns the request of the service nearest.
func (r *Request) NearestRequest() *nav.NearestRequest {
	return &nav.NearestRequest{Places: r.Places, Number: r.Number}
}

// AppendNearest appends the answer of the service nearest.
func (r *Request) AppendNearest(dst []byte, a *nav.NearestAnswer) []byte {
	dst = append(dst, `{"code":"Ok"`...)
	if !r.SkipWaypoints {
		dst = append(dst, `,"waypoints":[`...)
		for i := range a.Places {
			dst = r.appendWaypoint(wire.AppendComma(dst, i > 0), a.Network, &a.Places[i])
			before, after := nodesBeside(a.Network.Graph, &a.Places[i])
			dst = append(dst, `,"nodes":[`...)
			dst = strconv.AppendInt(dst, before, 10)
			dst = append(dst, ',')
			dst = strconv.AppendInt(dst, after, 10)
			dst = append(dst, "]}"...)
		}
		dst = append(dst, ']')
	}
	return appendDataVersion(dst, a.Network)
}

// nodesBeside returns OpenStreetMap's nodes before and after a place, in the direction of a one-way road.
func nodesBeside(g *graph.Graph, place *match.Place) (before, after int64) {
	p := &g.Pieces[place.Piece]
	at := p.FirstLine + place.Segment
	before, after = g.LineNodes[at], g.LineNodes[at+1]
	if p.Forward == graph.None {
		before, after = after, before
	}
	return before, after
}
