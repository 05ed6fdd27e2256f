package httpapi

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"wayside/internal/drive/alerts"
	"wayside/internal/entities/wire"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// maxLines bounds the pins whose lines are measured, the nearest ones; the distance to others is that to the pin.
const maxLines = 64

// pins converts hits to candidates for alerts. It appends the points of their lines to lines.
func (q *alertsQuery) pins(hits []mapdata.Hit, into []alerts.Pin, lines []geo.Point) ([]alerts.Pin, []geo.Point) {
	measured := 0
	for i := range hits {
		h := &hits[i]
		pin := alerts.Pin{At: h.Point, Kind: h.Kind, Zone: float64(h.Zone)}
		if measured < maxLines && wire.HasLine(h) {
			measured++
			from := len(lines)
			lines = wire.AppendLine(lines, h)
			pin.Line = lines[from:len(lines):len(lines)]
		}
		if len(q.seen) > 0 {
			pin.Announced = q.seen.Of(entityIDs(h)...)
		}
		into = append(into, pin)
	}
	return into, lines
}

// pinDetails are the properties of a hit that alerts depend on.
type pinDetails struct {
	alerts.Details
	bothDirections bool
	street         string
	section        geo.Point // the end of an average-speed section, if measured
	measured       bool
}

// alertDetails reads the properties on which the announcement of a hit depends (D15.15, D17.9). A value that is not a number within
// its bounds counts as absent.
func alertDetails(h *mapdata.Hit) pinDetails {
	var d pinDetails
	properties := wire.Properties(h)
	if !hasDetails(properties) {
		return d
	}
	dec := jsontext.NewDecoder(bytes.NewBuffer(properties))
	if _, err := dec.ReadToken(); err != nil {
		return d
	}
	bothDirections := false
	for dec.PeekKind() == '"' {
		name, err := dec.ReadToken()
		if err != nil {
			return d
		}
		member := name.String()
		value, err := dec.ReadValue()
		if err != nil {
			return d
		}
		switch member {
		case "bearing", "heading_degrees": // heading_degrees: live incidents of older nodes
			if v, ok := numberWithin(value, 0, 360); ok {
				d.Bearing, d.Directed = v, true
			}
		case "maxspeed_kmh":
			d.MaxSpeed, _ = numberWithin(value, 1, 300)
		case "both_directions":
			bothDirections = value.Kind() == 't'
		case "street":
			if unquoted, err := jsontext.AppendUnquote(nil, value); err == nil {
				d.street = strings.TrimSpace(string(unquoted))
			}
		case "section":
			d.section, d.measured = sectionEnd(value)
		}
	}
	d.bothDirections = bothDirections
	d.Directed = d.Directed && !bothDirections
	return d
}

// hasDetails reports whether the properties have one of the members without which there are no details.
func hasDetails(properties []byte) bool {
	for _, name := range [...]string{`"bearing"`, `"heading_degrees"`, `"maxspeed_kmh"`, `"both_directions"`, `"street"`, `"section"`} {
		if bytes.Contains(properties, []byte(name)) {
			return true
		}
	}
	return false
}

// sectionEnd parses the end of an average-speed section.
func sectionEnd(value jsontext.Value) (geo.Point, bool) {
	var section struct{ To []float64 }
	if json.Unmarshal(value, &section) != nil || len(section.To) != 2 {
		return geo.Point{}, false
	}
	at := geo.Point{Lat: section.To[1], Lng: section.To[0]}
	return at, at.Valid()
}

func numberWithin(value jsontext.Value, low, high float64) (float64, bool) {
	if value.Kind() != '0' {
		return 0, false
	}
	v, err := strconv.ParseFloat(string(value), 64)
	if err != nil || v < low || v > high {
		return 0, false
	}
	return v, true
}
