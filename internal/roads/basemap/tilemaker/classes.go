package tilemaker

import (
	"math"
	"strconv"
	"strings"
)

// drawing describes how an object is drawn.
type drawing struct {
	layer    layerID
	geometry geometry
	lowest   uint8
	tags     []tag
	priority int64 // of points: those with the highest priority come first in a tile
}

// roadClass is how roads with a value of highway are drawn.
type roadClass struct {
	kind               string
	lowest, ref, names uint8 // zooms: of the line, of its number, of its name
}

// roadClasses are the values of highway that are drawn: roads for cars, and streets for people on foot. The service's
// style writes names one zoom later (basemap.roadClass).
var roadClasses = map[string]roadClass{
	"motorway": {"highway", 5, 7, 9}, "motorway_link": {"highway", 10, 12, 12},
	"trunk": {"major_road", 6, 8, 10}, "trunk_link": {"major_road", 11, 13, 13},
	"primary": {"major_road", 7, 9, 11}, "primary_link": {"major_road", 12, 13, 13},
	"secondary": {"major_road", 9, 10, 12}, "secondary_link": {"major_road", 13, 13, 13},
	"tertiary": {"major_road", 10, 11, 12}, "tertiary_link": {"major_road", 13, 13, 13},
	"unclassified": {"minor_road", 12, 13, 13}, "residential": {"minor_road", 12, 13, 13}, "living_street": {"minor_road", 13, 14, 13},
	"road": {"minor_road", 12, 13, 13}, "service": {"minor_road", 14, 14, 14}, "raceway": {"minor_road", 14, 14, 14},
	"pedestrian": {"path", 14, 14, 14}, "track": {"path", 14, 14, 14},
}

// lines returns the drawings of a way as a line. network is that of the way's route.
func (f *facts) lines(network string) []drawing {
	var out []drawing
	if class, ok := roadClasses[f.highway]; ok && f.area != "yes" {
		tags := appendText(nil, "kind", class.kind, 0)
		tags = appendText(tags, "kind_detail", f.highway, 0)
		tags = appendText(tags, "ref", f.ref, class.ref)
		if f.ref != "" {
			tags = appendText(tags, "network", network, class.ref)
		}
		tags = f.structure(tags)
		out = append(out, drawing{layer: roadsLayer, geometry: stroke, lowest: class.lowest, tags: f.named(tags, class.names)})
	}
	if lowest := f.rail(); lowest < never {
		tags := appendText(appendText(nil, "kind", "rail", 0), "kind_detail", f.railway, 0)
		out = append(out, drawing{layer: roadsLayer, geometry: stroke, lowest: lowest, tags: tags})
	}
	if lowest, ok := map[string]uint8{"river": 8, "canal": 10, "stream": 13}[f.waterway]; ok && (f.tunnel == "" || f.tunnel == "no") {
		tags := appendText(nil, "kind", f.waterway, 0)
		out = append(out, drawing{layer: waterLayer, geometry: stroke, lowest: lowest, tags: f.named(tags, max(lowest, 10))})
	}
	return out
}

// structure appends whether a road is on a bridge or in a tunnel, and in which direction alone it is driven.
func (f *facts) structure(tags []tag) []tag {
	const near = 14 // at lower zooms the difference can hardly be seen
	if f.bridge != "" && f.bridge != "no" {
		tags = appendText(tags, "is_bridge", "yes", near)
	}
	if f.tunnel != "" && f.tunnel != "no" {
		tags = appendText(tags, "is_tunnel", "yes", near)
	}
	switch {
	case f.oneway == "-1":
		return appendText(tags, "oneway", "-1", highestZoom)
	case f.highway == "motorway", f.highway == "motorway_link", f.junction == "roundabout", f.highway == "service":
		return tags // it is known, or of no use
	case f.oneway == "yes", f.oneway == "1", f.oneway == "true":
		return appendText(tags, "oneway", "yes", highestZoom)
	}
	return tags
}

// rail returns the lowest zoom of a railway, or never if it is not drawn.
func (f *facts) rail() uint8 {
	if f.tunnel == "yes" {
		return never
	}
	switch f.railway {
	case "rail", "narrow_gauge":
		if f.service != "" {
			return 14
		}
		return 10
	case "light_rail", "subway", "monorail", "funicular":
		return 12
	case "tram":
		return 14
	}
	return never
}

// The areas of the layer landuse, by the values of their keys.
var (
	landuseKinds = map[string]string{
		"residential": "residential", "industrial": "industrial", "commercial": "commercial", "retail": "commercial",
		"forest": "forest", "meadow": "meadow", "grass": "grass", "cemetery": "cemetery", "recreation_ground": "recreation_ground",
		"village_green": "village_green",
	}
	naturalKinds = map[string]string{"wood": "wood", "scrub": "scrub", "grassland": "grassland"}
	leisureKinds = map[string]string{
		"park": "park", "garden": "garden", "golf_course": "golf_course", "pitch": "pitch", "playground": "playground",
		"nature_reserve": "nature_reserve",
	}
)

// lowestLand is the lowest zoom of areas of the layer landuse.
const lowestLand = 6

// areas returns the drawings of an area.
func (f *facts) areas() []drawing {
	var out []drawing
	kind := landuseKinds[f.landuse]
	for _, other := range []string{naturalKinds[f.natural], leisureKinds[f.leisure]} {
		if kind == "" {
			kind = other
		}
	}
	if kind == "" && f.boundary == "national_park" {
		kind = "national_park"
	}
	if kind != "" {
		out = append(out, drawing{layer: landuseLayer, geometry: fill, lowest: lowestLand, tags: appendText(nil, "kind", kind, 0)})
	}
	if water := f.waterKind(); water != "" {
		tags := appendText(nil, "kind", water, 0)
		out = append(out, drawing{layer: waterLayer, geometry: fill, lowest: 4, tags: tags})
		if f.name != "" && water != "river" {
			out = append(out, drawing{layer: waterLayer, geometry: dot, tags: f.named(tags[:1:1], 0)}) // the lowest zoom follows from the size
		}
	}
	if f.building != "" && f.building != "no" {
		out = append(out, drawing{layer: buildingsLayer, geometry: fill, lowest: highestZoom, tags: appendText(nil, "kind", "building", 0)})
	}
	return append(append(out, f.address()...), f.poi()...)
}

// waterKind returns the kind of an area of water, or "" for other areas.
func (f *facts) waterKind() string {
	switch {
	case f.natural == "water" && (f.water == "river" || f.water == "canal"), f.waterway == "riverbank":
		return "river"
	case f.natural == "water" && f.water == "lake":
		return "lake"
	case f.natural == "water", f.waterway == "dock", f.landuse == "reservoir", f.landuse == "basin":
		return "water"
	}
	return ""
}

func (f *facts) address() []drawing {
	if f.houseNumber == "" {
		return nil
	}
	tags := appendText(appendText(nil, "kind", "address", 0), "addr_housenumber", f.houseNumber, 0)
	return []drawing{{layer: buildingsLayer, geometry: dot, lowest: highestZoom, tags: tags}}
}

// placeClass is how the name of a place is drawn.
type placeClass struct {
	kind   string
	lowest uint8 // if the population is unknown
	people int64 // assumed if the population is unknown
}

var placeClasses = map[string]placeClass{
	"country": {"country", 0, 0}, "city": {"locality", 7, 100_000}, "town": {"locality", 9, 10_000}, "village": {"locality", 11, 1_000},
	"hamlet": {"locality", 12, 100}, "isolated_dwelling": {"locality", 14, 10}, "farm": {"locality", 14, 10},
	"suburb": {"macrohood", 12, 5_000}, "borough": {"macrohood", 11, 50_000}, "quarter": {"neighbourhood", 13, 2_000}, "neighbourhood": {"neighbourhood", 13, 500},
}

// points returns the drawings of a node.
func (f *facts) points() []drawing {
	out := append(f.address(), f.poi()...)
	if class, ok := placeClasses[f.place]; ok && f.name != "" {
		people := class.people
		if n, err := strconv.ParseInt(strings.TrimSpace(f.population), 10, 64); err == nil && n > 0 && n < 1e8 {
			people = n
		}
		lowest := class.zoom(people)
		tags := appendText(appendText(nil, "kind", class.kind, 0), "kind_detail", f.place, 0)
		tags = appendNumber(tags, "min_zoom", int(lowest), 0)
		out = append(out, drawing{layer: placesLayer, geometry: dot, lowest: lowest, tags: f.named(tags, 0), priority: people})
	}
	if kind, lowest := f.sea(); kind != "" && f.name != "" {
		tags := appendNumber(appendText(nil, "kind", kind, 0), "min_zoom", int(lowest), 0)
		out = append(out, drawing{layer: waterLayer, geometry: dot, lowest: lowest, tags: f.named(tags, 0)})
	}
	return out
}

// zoom returns the lowest zoom of a place: large places are named at zooms at which small ones would be in their way.
func (c placeClass) zoom(people int64) uint8 {
	lowest := c.lowest
	if c.kind == "locality" && people > c.people {
		const perZoom = 4.0 // factor of the population for which a place is named one zoom earlier
		lowest -= uint8(min(3, math.Log(float64(people)/float64(c.people))/math.Log(perZoom)))
	}
	return lowest
}

func (f *facts) sea() (kind string, lowest uint8) {
	switch {
	case f.place == "ocean":
		return "ocean", 3
	case f.place == "sea":
		return "sea", 5
	case f.natural == "strait":
		return "strait", 11
	case f.natural == "bay":
		return "bay", 13
	}
	return "", 0
}
