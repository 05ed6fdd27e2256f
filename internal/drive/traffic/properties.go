package traffic

import (
	"strings"
	"time"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// maxPositions is the maximum number of positions of a line (D15.15).
const maxPositions = 500

// properties are the members of an entity's properties that conditions use. Providers write the properties, so members
// of the wrong form are ignored.
type properties struct {
	effect
	bothDirections bool
	street         string
	description    string
	bearing        float64
	hasBearing     bool
	line           []geo.Point
}

// effect holds the properties that do not concern the place.
type effect struct {
	closed       bool
	speed        float64 // km/h
	hasSpeed     bool
	starts, ends time.Time
}

func parseProperties(text []byte) properties {
	var members map[string]jsontext.Value
	var p properties
	if len(text) == 0 || json.Unmarshal(text, &members) != nil {
		return p
	}
	p.closed, _ = value[bool](members["closed"])
	p.bothDirections, _ = value[bool](members["both_directions"])
	if speed, ok := value[float64](members["speed_kmh"]); ok && speed >= 0 {
		p.speed, p.hasSpeed = speed, true
	}
	if bearing, ok := value[float64](members["bearing"]); ok && bearing >= 0 && bearing <= 360 {
		p.bearing, p.hasBearing = bearing, true
	}
	street, _ := value[string](members["street"])
	p.street = strings.TrimSpace(street)
	description, _ := value[string](members["description"])
	p.description = oneLine(description)
	p.line = line(members["line"])
	p.starts, p.ends = instant(members["starts_at"]), instant(members["ends_at"])
	return p
}

// maxDescription is how many characters of a description are kept.
const maxDescription = 300

// oneLine puts a text on one line, removes non-printing characters and cuts it at maxDescription.
func oneLine(text string) string {
	var line strings.Builder
	left := maxDescription
	for field := range strings.FieldsFuncSeq(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }) {
		if line.Len() > 0 {
			line.WriteByte(' ')
			left--
		}
		for _, r := range field {
			if left <= 0 {
				return strings.TrimSpace(line.String())
			}
			if unicode.IsPrint(r) {
				line.WriteRune(r)
				left--
			}
		}
	}
	return line.String()
}

func value[T any](text jsontext.Value) (T, bool) {
	var v T
	ok := len(text) > 0 && text.Kind() != 'n' && json.Unmarshal(text, &v) == nil
	return v, ok
}

// line parses 2 to 500 positions, each with a valid longitude and latitude. It returns nil if the text is anything else.
func line(text jsontext.Value) []geo.Point {
	positions, ok := value[[][]float64](text)
	if !ok || len(positions) < 2 || len(positions) > maxPositions {
		return nil
	}
	points := make([]geo.Point, len(positions))
	for i, position := range positions {
		if len(position) < 2 {
			return nil
		}
		points[i] = geo.Point{Lng: position[0], Lat: position[1]}
		if !points[i].Valid() {
			return nil
		}
	}
	return points
}

func instant(text jsontext.Value) time.Time {
	written, ok := value[string](text)
	if !ok {
		return time.Time{}
	}
	at, err := mapdata.ParseTime(written)
	if err != nil || at.UTC().Year() < 1 || at.UTC().Year() > 9999 {
		return time.Time{}
	}
	return at
}
