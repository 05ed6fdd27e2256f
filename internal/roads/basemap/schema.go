package basemap

import (
	"slices"
	"strconv"
)

// schema maps the contents of vector tiles to what a style draws. Several are in use; an archive lists its layers.
type schema struct {
	earth                                        []selection // land; empty: the schema has only water
	built, green, water, streams, borders, rails []selection
	buildings                                    []selection            // outlines
	roads                                        [roadClasses]selection // a selection without a layer: the schema lacks the class

	names   names
	pois    string    // layer of points of interest with the kinds of the Protomaps basemap; empty: none
	oneWays selection // roads that are driven in one direction
}

// selection selects features of a layer: all, or those whose member has one of the values.
type selection struct {
	layerID string
	members []string // alternative names, from different versions of the schema
	values  []string // nil: all
}

// layer returns a style layer of the selection. Its filter has only forms that QGIS imports: match, has, == and their
// combinations.
func (s selection) layer(id string, number int, kind, geometry string, paint map[string]any) Layer {
	// Some versions of MapLibre report features of several parts as Multi…, others do not.
	form := []any{"geometry-type"}
	filter := []any{"all", []any{"any", []any{"==", form, geometry}, []any{"==", form, "Multi" + geometry}}}
	if s.values != nil {
		filter = append(filter, s.member())
	}
	return Layer{
		"id": id + "-" + strconv.Itoa(number), "type": kind, "source": sourceName, "source-layer": s.layerID,
		"filter": filter, "paint": paint,
	}
}

// member returns an expression for whether the first of the members that a feature has is one of the values.
func (s selection) member() []any {
	either := []any{"any"}
	lacks := []any{"all"}
	for _, m := range s.members {
		match := []any{"match", []any{"get", m}, s.values, true, false}
		either = append(either, append(slices.Clone(lacks), match))
		lacks = append(lacks, []any{"!", []any{"has", m}})
	}
	return either
}

// schema detects the schema by the layer of its roads.
func (a *Archive) schema() *schema {
	has := func(id string) bool {
		return slices.ContainsFunc(a.about.layers, func(l VectorLayer) bool { return l.ID == id })
	}
	switch {
	case has("transportation"):
		return openMapTiles()
	case has("roads"):
		s := protomaps()
		if has("earth") {
			s.earth = []selection{{"earth", nil, nil}}
		}
		if has("pois") {
			s.pois = "pois"
		}
		return s
	case has("streets"):
		return shortbread()
	}
	return a.unknownSchema()
}

// openMapTiles returns the schema of OpenMapTiles, the default of planetiler and tilemaker.
func openMapTiles() *schema {
	class := []string{"class"}
	road := func(values ...string) selection { return selection{"transportation", class, values} }
	street := func(values ...string) selection { return selection{"transportation_name", class, values} }
	place := func(values ...string) []selection { return []selection{{"place", class, values}} }
	return &schema{
		built: []selection{{"landuse", class, []string{"residential", "suburb", "neighbourhood", "commercial", "industrial", "retail"}}},
		green: []selection{
			{"landcover", class, []string{"wood", "grass", "wetland"}},
			{"landuse", class, []string{"cemetery", "pitch", "park"}},
			{"park", nil, nil},
		},
		water:   []selection{{"water", nil, nil}},
		streams: []selection{{"waterway", nil, nil}},
		borders: []selection{{"boundary", nil, nil}}, buildings: []selection{{"building", nil, nil}},
		rails: []selection{road("rail", "transit")},
		roads: [roadClasses]selection{
			motorway: road("motorway"), trunk: road("trunk"), primary: road("primary"), secondary: road("secondary"), tertiary: road("tertiary"),
			minor: road("minor", "unclassified", "residential", "living_street", "busway"), service: road("service", "track", "raceway"),
		},
		names: names{
			streets: [roadClasses]selection{
				motorway: street("motorway"), trunk: street("trunk"), primary: street("primary"), secondary: street("secondary"), tertiary: street("tertiary"),
				minor: street("minor", "unclassified", "residential", "living_street"), service: street("service", "track"),
			},
			streams: []selection{{"waterway", nil, nil}, {"water_name", nil, nil}}, water: []selection{{"water_name", nil, nil}},
			countries: place("country"), localities: place("city", "town", "village", "hamlet"),
			quarters: place("suburb", "quarter", "neighbourhood"), houses: []selection{{"housenumber", nil, nil}},
			refs: []string{"ref"}, houseNos: []string{"housenumber"}, sizes: class, sortOrder: []any{"coalesce", []any{"get", "rank"}, 99},
		},
	}
}

// protomaps returns the schema of the Protomaps basemap, versions 2 to 4. Before version 4 members had a prefix.
func protomaps() *schema {
	kind := []string{"kind", "pmap:kind"}
	detail := []string{"kind_detail", "pmap:kind_detail", "highway", "kind"}
	return &schema{
		built: []selection{{"landuse", kind, []string{"residential", "industrial", "commercial", "urban_area"}}},
		green: []selection{
			{"landuse", kind, []string{"park", "forest", "wood", "nature_reserve", "national_park", "cemetery", "grass", "meadow", "grassland", "garden", "golf_course", "pitch", "village_green", "playground", "recreation_ground", "scrub"}},
		},
		water:   []selection{{"water", nil, nil}},
		streams: []selection{{"water", kind, []string{"river", "stream", "canal"}}, {"physical_line", kind, []string{"river", "stream", "canal"}}},
		borders: []selection{{"boundaries", kind, []string{"country"}}}, buildings: []selection{{"buildings", nil, nil}},
		rails: []selection{{"roads", kind, []string{"rail"}}, {"transit", kind, []string{"rail"}}},
		roads: [roadClasses]selection{
			motorway:  {"roads", kind, []string{"highway"}},
			trunk:     {"roads", detail, []string{"trunk", "trunk_link"}},
			primary:   {"roads", detail, []string{"primary", "primary_link", "major_road"}},
			secondary: {"roads", detail, []string{"secondary", "secondary_link", "medium_road"}},
			tertiary:  {"roads", detail, []string{"tertiary", "tertiary_link"}},
			minor:     {"roads", detail, []string{"unclassified", "residential", "living_street", "road", "minor_road"}},
			service:   {"roads", detail, []string{"service", "track", "pedestrian"}},
		},
		names:   protomapsNames(kind, detail),
		oneWays: selection{"roads", []string{"oneway"}, []string{"yes", "-1"}},
	}
}

// protomapsNames selects the names of the Protomaps basemap: roads have theirs, waters and places have points.
func protomapsNames(kind, detail []string) names {
	return names{
		streets: [roadClasses]selection{
			motorway:  {"roads", kind, []string{"highway"}},
			trunk:     {"roads", detail, []string{"trunk"}},
			primary:   {"roads", detail, []string{"primary", "major_road"}},
			secondary: {"roads", detail, []string{"secondary", "medium_road"}},
			tertiary:  {"roads", detail, []string{"tertiary"}},
			minor:     {"roads", detail, []string{"unclassified", "residential", "living_street", "road", "minor_road"}},
			service:   {"roads", detail, []string{"service", "track", "pedestrian"}},
		},
		streams:    []selection{{"water", kind, []string{"river", "stream", "canal"}}, {"physical_line", kind, []string{"river", "stream", "canal"}}},
		water:      []selection{{"water", nil, nil}, {"physical_point", kind, []string{"ocean", "sea", "lake", "water"}}},
		countries:  []selection{{"places", kind, []string{"country"}}},
		localities: []selection{{"places", kind, []string{"locality"}}},
		quarters:   []selection{{"places", kind, []string{"macrohood", "neighbourhood"}}},
		houses:     []selection{{"buildings", kind, []string{"address"}}},
		refs:       []string{"shield_text", "ref"}, houseNos: []string{"addr_housenumber", "addr:housenumber", "housenumber"},
		sizes:     []string{"kind_detail", "pmap:kind_detail"},
		sortOrder: []any{"coalesce", []any{"get", "min_zoom"}, []any{"get", "pmap:min_zoom"}, 99},
	}
}

// shortbread returns the Shortbread schema, which VersaTiles and others use.
func shortbread() *schema {
	kind := []string{"kind"}
	road := func(values ...string) selection { return selection{"streets", kind, values} }
	street := func(values ...string) selection { return selection{"street_labels", kind, values} }
	place := func(values ...string) []selection { return []selection{{"place_labels", kind, values}} }
	return &schema{
		built:   []selection{{"land", kind, []string{"residential", "industrial", "commercial", "retail"}}},
		green:   []selection{{"land", kind, []string{"forest", "grass", "park", "garden", "meadow", "cemetery", "golf_course", "scrub", "village_green", "recreation_ground"}}},
		water:   []selection{{"ocean", nil, nil}, {"water_polygons", nil, nil}},
		streams: []selection{{"water_lines", nil, nil}},
		borders: []selection{{"boundaries", nil, nil}}, buildings: []selection{{"buildings", nil, nil}},
		rails: []selection{road("rail", "light_rail", "tram", "subway")},
		roads: [roadClasses]selection{
			motorway: road("motorway"), trunk: road("trunk"), primary: road("primary"), secondary: road("secondary"), tertiary: road("tertiary"),
			minor: road("unclassified", "residential", "living_street", "busway"), service: road("service", "track", "pedestrian"),
		},
		names: names{
			streets: [roadClasses]selection{
				motorway: street("motorway"), trunk: street("trunk"), primary: street("primary"), secondary: street("secondary"), tertiary: street("tertiary"),
				minor: street("unclassified", "residential", "living_street", "busway"), service: street("service", "track", "pedestrian"),
			},
			streams: []selection{{"water_lines_labels", nil, nil}}, water: []selection{{"water_polygons_labels", nil, nil}},
			countries:  []selection{{"boundary_labels", nil, nil}},
			localities: place("capital", "state_capital", "city", "town", "village", "hamlet"),
			quarters:   place("suburb", "quarter", "neighbourhood"), houses: []selection{{"addresses", nil, nil}},
			refs: []string{"ref"}, houseNos: []string{"housenumber"}, sizes: kind,
			sortOrder: []any{"-", 0, []any{"coalesce", []any{"get", "population"}, 0}},
		},
	}
}

// unknownSchema returns a schema that draws every line as a small road, because the names of its classes are unknown.
func (a *Archive) unknownSchema() *schema {
	s := &schema{}
	for _, l := range a.about.layers {
		s.borders = append(s.borders, selection{l.ID, nil, nil})
	}
	return s
}
