package waze

import (
	"math"
	"slices"
	"strconv"
	"time"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// Members of an alert or a jam that are read, beside location and line. Others are skipped, among them reportBy, which
// names a person (D13), and any member that holds coordinates.
const (
	memberUUID = iota
	memberID
	memberType
	memberSubtype
	memberIcon
	memberMillis
	memberReliability
	memberStreet
	memberCity
	memberDescription
	memberEndNode
	memberMagvar
	memberHeading // names that other raw sources use for magvar
	memberBearing
	memberLevel
	memberSpeed
	memberDelay
	memberLength
	memberLocation
	memberLine
	memberCount
)

var memberNames = [memberCount]string{
	"uuid", "id", "type", "subtype", "iconCategory", "pubMillis", "reliability",
	"street", "city", "reportDescription", "endNode", "magvar", "heading_degrees", "bearing", "level", "speedKMH", "delay", "length",
	"location", "line",
}

// shownProperties are the properties of an item beside its kind: texts, and numbers of 0 or more. A negative number
// means that there is none: a blocked road has a delay of -1.
var shownProperties = [...]struct {
	member int
	name   string
	number bool
}{
	{memberSubtype, "subtype", false},
	{memberStreet, "street", false},
	{memberCity, "city", false},
	{memberDescription, "description", false},
	{memberEndNode, "end_node", false},
	{memberMagvar, "bearing", true}, // of the traffic that is concerned, clockwise from north
	{memberLevel, "level", true},    // of a jam: 0 free flow, 5 blocked
	{memberSpeed, "speed_kmh", true},
	{memberDelay, "delay_seconds", true},
	{memberLength, "length_metres", true},
}

// fields are the members of one item, nil where one is absent or null.
type fields struct {
	raw   [memberCount][]byte
	place coordinates
	line  []geo.Point
	twice bool // a known member occurs twice
}

// item reads an alert or a jam and keeps it as a row, or drops it.
func (r *reader) item(list string) error {
	if r.dec.PeekKind() != '{' {
		if err := r.dec.SkipValue(); err != nil {
			return err
		}
		r.unknown(labelOf(list, ""))
		return nil
	}
	f, err := r.fields(list)
	if err != nil {
		return err
	}
	kind, label := understand(list, textOf(f.raw[memberType]), textOf(f.raw[memberSubtype]), textOf(f.raw[memberIcon]))
	if label != "" {
		r.unknown(label)
		return nil
	}
	item := Item{Row: f.row(kind), Prior: mapdata.DefaultPrior}
	if reliability, ok := number(f.raw[memberReliability]); ok {
		item.Prior = min(max(reliability/10, 0), 1)
	}
	if len(f.line) > 1 {
		item.Line = thinned(f.line)
	}
	r.items = append(r.items, item)
	return nil
}

func (r *reader) fields(list string) (f fields, err error) {
	var seen [memberCount]bool
	err = r.members(func(name []byte) (err error) {
		m := slices.Index(memberNames[:], string(name))
		if m < 0 {
			return r.dec.SkipValue()
		}
		f.twice = f.twice || seen[m]
		seen[m] = true
		switch {
		case m == memberLocation:
			f.place, err = r.coordinates()
			f.twice = f.twice || f.place.twice
		case m == memberLine && list == listJam:
			f.line, err = r.line()
		case r.dec.PeekKind() == 'n':
			return r.dec.SkipValue()
		default:
			f.raw[m], err = r.value()
		}
		return err
	})
	return f, err
}

// row returns the item in v1 form. Members that the row decoder judges are copied as they were written: the id, the
// coordinates, and the contents of texts.
func (f *fields) row(kind mapdata.Kind) []byte {
	row := append(make([]byte, 0, 512), `{"kind":"`...)
	row = append(row, kind.ID()...)
	row = append(row, '"')
	if f.twice {
		// It is unknown which of the two was meant. The row gets a duplicate member as well, so that the row decoder
		// rejects it for that (D3.12).
		row = append(row, `,"kind":null`...)
	}
	row = f.appendID(row)
	row = f.appendPlace(row)
	for _, m := range [...]int{memberHeading, memberBearing} {
		if f.raw[memberMagvar] == nil {
			f.raw[memberMagvar] = f.raw[m]
		}
	}
	row = append(row, `,"properties":{`...)
	first := true
	for _, p := range shownProperties {
		value := f.raw[p.member]
		if !p.number && !isText(value) || p.number && (len(value) == 0 || value[0] < '0' || value[0] > '9') {
			continue
		}
		if !first {
			row = append(row, ',')
		}
		first = false
		row = append(row, '"')
		row = append(row, p.name...)
		row = append(row, '"', ':')
		row = append(row, value...)
	}
	row = append(row, '}')
	if at, ok := timeOf(f.raw[memberMillis]); ok {
		row = append(row, `,"observed_at":"`...)
		row = at.AppendFormat(row, time.RFC3339Nano)
		row = append(row, '"')
	}
	return append(row, '}')
}

// isText reports whether a value is a string that is not empty.
func isText(value []byte) bool { return len(value) > 2 && value[0] == '"' }

// appendID appends external_id: the uuid, or in its absence the id. A number becomes its text.
func (f *fields) appendID(row []byte) []byte {
	for _, m := range [...]int{memberUUID, memberID} {
		id := f.raw[m]
		if len(id) == 0 {
			continue
		}
		switch {
		case id[0] == '"':
			row = append(row, `,"external_id":`...)
			return append(row, id...)
		case id[0] == '-' || id[0] >= '0' && id[0] <= '9':
			row = append(row, `,"external_id":"`...)
			row = append(row, id...)
			return append(row, '"')
		}
	}
	return row
}

// appendPlace appends lat and lng: those of the location, or, for a jam that has none, of the middle of its line.
func (f *fields) appendPlace(row []byte) []byte {
	lat, lng := f.place.y, f.place.x
	if lat == nil && lng == nil && len(f.line) > 0 {
		p := middle(f.line)
		lat = strconv.AppendFloat(nil, p.Lat, 'f', placeDigits, 64)
		lng = strconv.AppendFloat(nil, p.Lng, 'f', placeDigits, 64)
	}
	if lat != nil {
		row = append(row, `,"lat":`...)
		row = append(row, lat...)
	}
	if lng != nil {
		row = append(row, `,"lng":`...)
		row = append(row, lng...)
	}
	return row
}

// placeDigits is the number of decimals of computed degrees: about a centimetre.
const placeDigits = 7

// Range of milliseconds since 1970 that count as a time of publication. 0 means none. A number outside of the range is
// ignored, so that its item is not lost.
const (
	firstMillis = 1
	lastMillis  = 4_102_444_800_000 // 2100-01-01T00:00:00Z
)

func timeOf(value []byte) (time.Time, bool) {
	ms, ok := number(value)
	if !ok || ms < firstMillis || ms > lastMillis {
		return time.Time{}, false
	}
	return time.UnixMilli(int64(ms)).UTC(), true
}

// longestLine is the largest number of points of a line that are kept.
const longestLine = 500

// thinned keeps longestLine evenly spaced points of a longer line, including both ends.
func thinned(line []geo.Point) []geo.Point {
	if len(line) <= longestLine {
		return line
	}
	kept := make([]geo.Point, longestLine)
	for i := range kept {
		kept[i] = line[i*(len(line)-1)/(longestLine-1)]
	}
	return kept
}

// middle returns the point halfway along a line. line has at least one point.
func middle(line []geo.Point) geo.Point {
	total := 0.0
	for i := 1; i < len(line); i++ {
		total += geo.Distance(line[i-1], line[i])
	}
	left := total / 2
	for i := 1; i < len(line); i++ {
		d := geo.Distance(line[i-1], line[i])
		if d > 0 && d >= left {
			return between(line[i-1], line[i], left/d)
		}
		left -= d
	}
	return line[0]
}

// between returns the point at the given share of the way from a to b. Both are near each other, so that it
// interpolates degrees. It crosses the antimeridian where that is shorter.
func between(a, b geo.Point, share float64) geo.Point {
	p := geo.Point{Lat: a.Lat + share*(b.Lat-a.Lat), Lng: a.Lng + share*math.Remainder(b.Lng-a.Lng, 360)}
	p.Lng = math.Remainder(p.Lng, 360)
	return p
}
