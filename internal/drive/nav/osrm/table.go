package osrm

import (
	"strconv"

	"wayside/internal/drive/nav"
	"wayside/internal/entities/wire"
)

// TableRequest returns the request of the service table.
func (r *Request) TableRequest() *nav.TableRequest {
	return &nav.TableRequest{
		Places: r.Places, Sources: r.Sources, Destinations: r.Destinations,
		FallbackSpeed: r.FallbackSpeed, FallbackSnapped: r.FallbackSnapped, Scale: r.Scale,
	}
}

// AppendTable appends the answer of the service table.
func (r *Request) AppendTable(dst []byte, a *nav.TableAnswer) []byte {
	dst = append(dst, `{"code":"Ok"`...)
	if !r.SkipWaypoints {
		dst = r.appendPlaces(append(dst, `,"destinations":[`...), a, a.Destinations)
		dst = r.appendPlaces(append(dst, `,"sources":[`...), a, a.Sources)
	}
	if r.Annotations&Duration != 0 {
		dst = appendMatrix(append(dst, `,"durations":[`...), a, func(dst []byte, e *nav.Entry) []byte { return appendDecimal(dst, e.Duration/1000, 10) })
	}
	if r.Annotations&Distance != 0 {
		dst = appendMatrix(append(dst, `,"distances":[`...), a, func(dst []byte, e *nav.Entry) []byte { return appendMetres(dst, e.Distance) })
	}
	if r.FallbackSpeed > 0 {
		dst = append(dst, `,"fallback_speed_cells":[`...)
		first := true
		for i := range a.Entries {
			if a.Entries[i].Estimated {
				dst = append(wire.AppendComma(dst, !first), '[')
				dst = strconv.AppendInt(dst, int64(i/len(a.Destinations)), 10)
				dst = append(dst, ',')
				dst = strconv.AppendInt(dst, int64(i%len(a.Destinations)), 10)
				dst = append(dst, ']')
				first = false
			}
		}
		dst = append(dst, ']')
	}
	return appendDataVersion(dst, a.Network)
}

func (r *Request) appendPlaces(dst []byte, a *nav.TableAnswer, indexes []int) []byte {
	for i, index := range indexes {
		dst = r.appendWaypoint(wire.AppendComma(dst, i > 0), a.Network, &a.Spots[index].Places[0])
		dst = append(dst, '}')
	}
	return append(dst, ']')
}

func appendMatrix(dst []byte, a *nav.TableAnswer, value func(dst []byte, e *nav.Entry) []byte) []byte {
	for i := range a.Entries {
		if i%len(a.Destinations) == 0 {
			dst = append(wire.AppendComma(dst, i > 0), '[')
		} else {
			dst = append(dst, ',')
		}
		if a.Entries[i].Found {
			dst = value(dst, &a.Entries[i])
		} else {
			dst = append(dst, "null"...)
		}
		if (i+1)%len(a.Destinations) == 0 {
			dst = append(dst, ']')
		}
	}
	return append(dst, ']')
}
