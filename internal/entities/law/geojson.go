package law

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// Limits of a file. A country's outline at a resolution of 100 m has some ten thousand points.
const (
	MaxBytes  = 10 << 20
	MaxPoints = 200_000
)

const maxName = 100 // characters

// collection is a GeoJSON FeatureCollection.
type collection struct {
	Type     string    `json:"type"`
	Features []feature `json:"features"`
}

type feature struct {
	Type       string                    `json:"type"`
	Geometry   *geometry                 `json:"geometry"`
	Properties map[string]jsontext.Value `json:"properties"`
}

type geometry struct {
	Type        string         `json:"type"`
	Coordinates jsontext.Value `json:"coordinates"`
}

// Parse reads a GeoJSON FeatureCollection of polygons (RFC 7946). Each feature's properties are:
//
//   - name: the area's name; required
//   - hide: ids of kinds that are hidden there, each with its subtypes
//   - camera_zone: true: cameras are shown as zones
//   - zone_m: the zones' width in metres, MinZone to MaxZone; DefaultZone if absent
//   - note: any value, ignored
//
// A feature must have a rule, and other property names are rejected: a restriction with a spelling error would not be
// applied. An edge that spans more than half a turn of longitude crosses the antimeridian. The error names the feature,
// counted from 1, and the member.
func Parse(text []byte) (*Law, error) {
	if len(text) > MaxBytes {
		return nil, fmt.Errorf("has more than %d bytes", MaxBytes)
	}
	var c collection
	if err := json.Unmarshal(text, &c); err != nil {
		return nil, fmt.Errorf("is not GeoJSON: %w", err)
	}
	switch {
	case c.Type != "FeatureCollection":
		return nil, errors.New("type must be FeatureCollection")
	case len(c.Features) == 0:
		return nil, errors.New("features is empty")
	}
	l := new(Law)
	points := 0
	for i := range c.Features {
		if err := l.add(&c.Features[i], &points); err != nil {
			return nil, fmt.Errorf("feature %d%s: %w", i+1, c.Features[i].label(), err)
		}
	}
	l.buildIndex()
	return l, nil
}

// label returns a feature's name for an error message, or nothing.
func (f *feature) label() string {
	name, err := parseText(f.Properties["name"])
	if err != nil {
		return ""
	}
	return fmt.Sprintf(" (%q)", name)
}

// add adds one feature.
func (l *Law) add(f *feature, points *int) error {
	if f.Type != "Feature" {
		return errors.New("type must be Feature")
	}
	a, err := parseArea(f.Properties)
	if err != nil {
		return err
	}
	polygons, err := f.polygons()
	if err != nil {
		return err
	}
	for i, p := range polygons {
		for _, ring := range p {
			*points += len(ring)
		}
		if *points > MaxPoints {
			return fmt.Errorf("geometry.coordinates: the file has more than %d points", MaxPoints)
		}
		rings, err := unroll(p)
		if err != nil {
			return fmt.Errorf("geometry.coordinates, polygon %d: %w", i+1, err)
		}
		s := newShape(int32(len(l.areas)), rings)
		if a.zone > 0 && (s.bounds.South < -maxZoneLatitude || s.bounds.North > maxZoneLatitude) {
			return fmt.Errorf("geometry.coordinates, polygon %d: areas with camera_zone lie within %d degrees of latitude", i+1, maxZoneLatitude)
		}
		l.shapes = append(l.shapes, s)
	}
	l.areas = append(l.areas, a)
	if l.kinds |= a.hide; a.zone > 0 {
		l.kinds |= mapdata.CameraKinds()
	}
	l.widest = math.Max(l.widest, a.zone)
	return nil
}

// parseArea parses a feature's properties.
func parseArea(properties map[string]jsontext.Value) (a area, err error) {
	for _, member := range slices.Sorted(maps.Keys(properties)) {
		value := properties[member]
		switch member {
		case "name":
			a.name, err = parseText(value)
		case "hide":
			a.hide, err = parseKinds(value)
		case "camera_zone":
			var zone bool
			if zone, err = parseFlag(value); zone && a.zone == 0 {
				a.zone = DefaultZone
			}
		case "zone_m":
			a.zone, err = parseWidth(value) // sorted after camera_zone
		case "note":
		default:
			err = errors.New("is unknown; name, hide, camera_zone, zone_m and note are known")
		}
		if err != nil {
			return a, fmt.Errorf("properties.%s %w", truncate(member), err)
		}
	}
	zone, _ := parseFlag(properties["camera_zone"])
	switch {
	case a.name == "":
		return a, errors.New("properties.name is missing")
	case a.zone > 0 && !zone:
		return a, errors.New("properties.zone_m needs camera_zone to be true")
	case a.hide == 0 && !zone:
		return a, errors.New("properties: hide or camera_zone must ask for something")
	}
	return a, nil
}

func parseText(v jsontext.Value) (string, error) {
	var s string
	if err := json.Unmarshal(v, &s); err != nil || s == "" || utf8.RuneCountInString(s) > maxName {
		return "", fmt.Errorf("must be a text of 1 to %d characters", maxName)
	}
	return s, nil
}

func parseFlag(v jsontext.Value) (bool, error) {
	var b *bool
	if err := json.Unmarshal(v, &b); err != nil || b == nil {
		return false, errors.New("must be true or false")
	}
	return *b, nil
}

func parseWidth(v jsontext.Value) (float64, error) {
	var n *float64
	if err := json.Unmarshal(v, &n); err != nil || n == nil || *n != math.Trunc(*n) || *n < MinZone || *n > MaxZone {
		return 0, fmt.Errorf("must be a whole number of metres, %d to %d", MinZone, MaxZone)
	}
	return *n, nil
}

func parseKinds(v jsontext.Value) (mapdata.KindSet, error) {
	var ids []string
	if err := json.Unmarshal(v, &ids); err != nil {
		return 0, errors.New("must be a list of kind ids")
	}
	var set mapdata.KindSet
	for _, id := range ids {
		kinds := mapdata.SelectKinds(id)
		if kinds == 0 {
			return 0, fmt.Errorf("holds %q, which is not a kind", truncate(id))
		}
		set |= kinds
	}
	return set, nil
}

// polygons returns a feature's polygons, each as its rings of positions.
func (f *feature) polygons() (polygons [][][][]float64, err error) {
	if f.Geometry == nil {
		return nil, errors.New("geometry is missing")
	}
	switch f.Geometry.Type {
	case "Polygon":
		polygons = make([][][][]float64, 1)
		err = json.Unmarshal(f.Geometry.Coordinates, &polygons[0])
	case "MultiPolygon":
		err = json.Unmarshal(f.Geometry.Coordinates, &polygons)
	default:
		return nil, errors.New("geometry.type must be Polygon or MultiPolygon")
	}
	if err != nil {
		return nil, fmt.Errorf("geometry.coordinates are not those of a %s", f.Geometry.Type)
	}
	if len(polygons) == 0 {
		return nil, errors.New("geometry.coordinates are empty")
	}
	return polygons, nil
}

// truncate shortens a text from the file for an error message.
func truncate(text string) string {
	const maxLength = 40
	if len(text) > maxLength {
		return strings.ToValidUTF8(text[:maxLength], "") + "…"
	}
	return text
}

// unroll converts rings of positions to rings of points whose longitudes are continuous across the antimeridian. The west of
// the outer ring is in [-180, 180); the others lie within its longitudes.
func unroll(polygon [][][]float64) ([][]geo.Point, error) {
	if len(polygon) == 0 {
		return nil, errors.New("has no ring")
	}
	var rings [][]geo.Point
	var outer geo.Box
	for i, positions := range polygon {
		ring, err := unrollRing(positions)
		if err != nil {
			return nil, fmt.Errorf("ring %d%w", i+1, err)
		}
		b := boundsOf(ring)
		switch {
		case i == 0 && (b.South == b.North || b.West == b.East):
			return nil, errors.New("has no area")
		case i == 0:
			shiftBy(ring, -turn*math.Floor((b.West+180)/turn))
			outer = boundsOf(ring)
		default:
			shiftBy(ring, turn*math.Ceil((outer.West-b.West)/turn))
			if b = boundsOf(ring); b.West < outer.West || b.East > outer.East || b.South < outer.South || b.North > outer.North {
				return nil, fmt.Errorf("ring %d is a hole outside of ring 1", i+1)
			}
		}
		rings = append(rings, ring)
	}
	return rings, nil
}

func shiftBy(ring []geo.Point, degrees float64) {
	for i := range ring {
		ring[i].Lng += degrees
	}
}

// lngEpsilon is the tolerance for sums of longitude differences, in degrees (0.1 mm).
const lngEpsilon = 1e-9

func unrollRing(positions [][]float64) ([]geo.Point, error) {
	const minPositions = 4
	if len(positions) < minPositions {
		return nil, fmt.Errorf(" has fewer than %d positions", minPositions)
	}
	ring := make([]geo.Point, len(positions))
	for i, position := range positions {
		if len(position) < 2 || len(position) > 3 {
			return nil, fmt.Errorf(", position %d must be longitude and latitude", i+1)
		}
		p := geo.Point{Lng: position[0], Lat: position[1]}
		if !p.Valid() {
			return nil, fmt.Errorf(", position %d is out of range; longitude comes first", i+1)
		}
		ring[i] = p
		if i == 0 {
			continue
		}
		step := p.Lng - positions[i-1][0]
		if width := math.Abs(step); width > turn/2 && width < turn { // the short way; a full turn is the whole width of the map
			step -= math.Copysign(turn, step)
		}
		ring[i].Lng = ring[i-1].Lng + step
	}
	first, last := ring[0], &ring[len(ring)-1]
	switch {
	case first.Lat != last.Lat || math.Mod(math.Abs(positions[0][0]-positions[len(positions)-1][0]), turn) > lngEpsilon:
		return nil, errors.New(" is not closed: its last position must be its first")
	case math.Abs(first.Lng-last.Lng) > lngEpsilon:
		return nil, errors.New(" goes round a pole: cut it at the antimeridian")
	}
	*last = first
	return ring, nil
}
