package osrm

import (
	"encoding/base64"
	"encoding/binary"
	"hash/fnv"
	"math"
	"strconv"

	"wayside/internal/drive/nav"
	"wayside/internal/entities/wire"
	"wayside/internal/roads/graph"
	"wayside/internal/roads/match"
)

// AppendError appends the answer to a request that failed.
func AppendError(dst []byte, e *nav.Error) []byte {
	dst = append(dst, `{"code":`...)
	dst = wire.AppendString(dst, e.Code)
	dst = append(dst, `,"message":`...)
	dst = wire.AppendString(dst, e.Message)
	return append(dst, "}\n"...)
}

// appendDecimal appends a number rounded to a power of ten of digits, without trailing zeros.
func appendDecimal(dst []byte, v float64, scale int64) []byte {
	if v < 0 {
		return appendDecimal(append(dst, '-'), -v, scale)
	}
	return appendScaled(dst, int64(math.Floor(v*float64(scale)+0.5)), scale)
}

// appendScaled appends v/scale exactly; scale is a power of ten.
func appendScaled(dst []byte, v, scale int64) []byte {
	if v < 0 {
		dst, v = append(dst, '-'), -v
	}
	dst = strconv.AppendInt(dst, v/scale, 10)
	if v %= scale; v == 0 {
		return dst
	}
	dst = append(dst, '.')
	for v > 0 {
		scale /= 10
		dst = append(dst, '0'+byte(v/scale))
		v %= scale
	}
	return dst
}

// appendSeconds appends milliseconds as seconds with one digit.
func appendSeconds(dst []byte, ms uint64) []byte { return appendScaled(dst, int64((ms+50)/100), 10) }

// appendMetres appends metres with one digit.
func appendMetres(dst []byte, metres float64) []byte { return appendDecimal(dst, metres, 10) }

func appendPosition(dst []byte, p graph.Position) []byte {
	dst = append(dst, '[')
	dst = appendScaled(dst, micro(p.Lng), 1e6)
	dst = append(dst, ',')
	dst = appendScaled(dst, micro(p.Lat), 1e6)
	return append(dst, ']')
}

// AppendGeometry appends a line in a form.
func AppendGeometry(dst []byte, form Geometries, line []graph.Position) []byte {
	if form == GeoJSON {
		dst = append(dst, `{"coordinates":[`...)
		for i, p := range line {
			dst = appendPosition(wire.AppendComma(dst, i > 0), p)
		}
		return append(dst, `],"type":"LineString"}`...)
	}
	precision := Precision5
	if form == Polyline6 {
		precision = Precision6
	}
	dst = append(dst, '"')
	from := len(dst)
	dst = AppendPolyline(dst, line, precision)
	return append(escapeBackslashes(dst, from), '"')
}

// escapeBackslashes doubles the backslashes from an offset on. The backslash is the only character of polylines that
// JSON escapes.
func escapeBackslashes(dst []byte, from int) []byte {
	count := 0
	for _, b := range dst[from:] {
		if b == '\\' {
			count++
		}
	}
	if count == 0 {
		return dst
	}
	end := len(dst)
	for range count {
		dst = append(dst, 0)
	}
	to := len(dst)
	for i := end - 1; i >= from; i-- {
		to--
		if dst[to] = dst[i]; dst[i] == '\\' {
			to--
			dst[to] = '\\'
		}
	}
	return dst
}

// appendHint appends a hint, which identifies a place while this region is the current one.
func appendHint(dst []byte, n *nav.Network, place *match.Place) []byte {
	h := fnv.New32a()
	_, _ = h.Write([]byte(n.DataVersion)) // never fails
	var hint [12]byte
	binary.LittleEndian.PutUint32(hint[:], h.Sum32())
	binary.LittleEndian.PutUint32(hint[4:], place.Piece)
	binary.LittleEndian.PutUint32(hint[8:], uint32(place.Share*math.MaxUint32))
	return base64.URLEncoding.AppendEncode(dst, hint[:])
}

// appendWaypoint appends a waypoint, without its closing brace.
func (r *Request) appendWaypoint(dst []byte, n *nav.Network, place *match.Place) []byte {
	dst = append(dst, '{')
	if r.Hints {
		dst = append(dst, `"hint":"`...)
		dst = appendHint(dst, n, place)
		dst = append(dst, `",`...)
	}
	dst = append(dst, `"location":`...)
	dst = appendPosition(dst, nav.PositionOf(place.Point))
	dst = append(dst, `,"name":`...)
	dst = wire.AppendString(dst, n.NameOf(place.Piece))
	dst = append(dst, `,"distance":`...)
	return appendDecimal(dst, place.Distance, 1e3)
}

// appendDataVersion appends the member after a comma, and ends the answer.
func appendDataVersion(dst []byte, n *nav.Network) []byte {
	if n.DataVersion != "" {
		dst = append(dst, `,"data_version":`...)
		dst = wire.AppendString(dst, n.DataVersion)
	}
	return append(dst, "}\n"...)
}
