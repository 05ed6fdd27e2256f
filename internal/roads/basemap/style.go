package basemap

// Theme is a color scheme of the map.
type Theme int

// The themes. They are designed to be read at a glance while driving: a dark ground that still shows water, parks and
// buildings, classes of roads that differ in width, brightness and, from primary roads up, hue, a contrast of through
// roads to the ground of at least 3 to 1, and pins with the highest contrast.
const (
	Day Theme = iota
	Night
)

// palette holds the colours of a theme.
type palette struct {
	land, water, green, built, border string
	building                          string
	fills, rims                       [roadClasses]string // of roads, and of their outlines
	rail                              string

	text, softText, waterText string
	halo, waterHalo           string              // around names
	shields, shieldText       [roadClasses]string // behind and of road numbers, down to secondary
}

// roadClass is the class of a road, the widest first.
type roadClass int

const (
	motorway roadClass = iota
	trunk
	primary
	secondary
	tertiary
	minor
	service
	roadClasses
)

func (t Theme) palette() palette {
	if t == Night {
		return palette{
			land: "#1a222d", water: "#12405f", green: "#1d3b2b", built: "#1f2834", building: "#2b3646", border: "#5d6875", rail: "#44505e",
			fills: [roadClasses]string{"#f0a03c", "#d9a657", "#c7b385", "#a4afba", "#8593a3", "#697686", "#5f6c7c"},
			rims:  [roadClasses]string{"#0a0e13", "#0a0e13", "#0a0e13", "#0c1117", "#0c1117", "#0e141b", "#0e141b"},
			text:  "#e8edf2", softText: "#b4bfca", waterText: "#a6cdeb", halo: "#0e141b", waterHalo: "#0b2a41",
			shields:    [roadClasses]string{"#1d4f91", "#1c5c3a", "#5a4a1c", "#39424d"},
			shieldText: [roadClasses]string{"#f4f8fc", "#eef8f1", "#ffe9b0", "#f0f3f6"},
		}
	}
	return palette{
		land: "#ebe8e1", water: "#94c1e3", green: "#c3dfb2", built: "#e3dfd7", building: "#d5cfc4", border: "#8d8794", rail: "#a9a9ad",
		fills: [roadClasses]string{"#ee8b2e", "#f7ab4f", "#fbcf63", "#fde58f", "#ffffff", "#ffffff", "#f8f8f6"},
		rims:  [roadClasses]string{"#9a5110", "#95601a", "#8a6d1f", "#807238", "#777b82", "#7b7f86", "#7f8288"},
		text:  "#20262d", softText: "#47505a", waterText: "#174a78", halo: "#ffffff", waterHalo: "#d6e8f5",
		shields:    [roadClasses]string{"#1d4f91", "#185f3b", "#ffd24a", "#f4efe2"},
		shieldText: [roadClasses]string{"#ffffff", "#ffffff", "#2b2205", "#33373c"},
	}
}

// width returns the width of a road as an expression of the zoom, with or without its casing.
func (c roadClass) width(rim bool) []any {
	widths := [roadClasses][4]float64{ // in pixels at the zooms below; 0: not drawn
		motorway:  {2.4, 6, 20, 60},
		trunk:     {1.9, 5.2, 19, 56},
		primary:   {1.3, 4.4, 17, 52},
		secondary: {0.9, 3.4, 14, 46},
		tertiary:  {0.5, 2.7, 12, 40},
		minor:     {0, 1.5, 9, 32},
		service:   {0, 0, 4, 15},
	}[c]
	rims := [4]float64{0.8, 1.1, 2.6, 4}
	out := []any{"interpolate", []any{"exponential", 1.5}, []any{"zoom"}}
	for i, zoom := range []int{10, 13, 16, 19} {
		w := widths[i]
		if w > 0 && rim {
			w += rims[i]
		}
		out = append(out, zoom, w)
	}
	return out
}

// lowest returns the lowest zoom at which a class is drawn, and its rim: rims of small roads would be a mesh of grey lines before the
// roads between them can be told apart.
func (c roadClass) lowest(rim bool) int {
	if rim && c >= minor {
		return 14
	}
	return [roadClasses]int{5, 6, 7, 9, 10, 12, 14}[c]
}

// Layer is one layer of a style of the MapLibre style specification.
type Layer map[string]any

// Look is a reader's choice of a style.
type Look struct {
	Theme    Theme
	Language string // of names, such as "de"; empty: local names
	NoNames  bool
}

// Source is the location of a style's tiles, and the attribution that must be shown with them.
type Source struct {
	Tiles       string // URL template: absolute, and contains {z}, {x} and {y}
	Attribution string // HTML; empty: none
	Icons       string // URL of the icons of points of interest (package sprite), absolute and without an ending; empty: none are drawn
}

// Style returns the style for the archive's tiles above the overview of the world or, if world is nil, above plain
// ground. It needs neither glyphs nor sprites: browsers draw the names with their own fonts.
func (a *Archive) Style(look Look, from Source, world *World) map[string]any {
	lowest, highest := a.Zooms()
	source := map[string]any{
		"tiles": []string{from.Tiles}, "minzoom": lowest, "maxzoom": highest,
		"bounds": []float64{a.bounds.West, a.bounds.South, a.bounds.East, a.bounds.North},
	}
	if from.Attribution != "" {
		source["attribution"] = from.Attribution
	}
	style, sources := Blank(look.Theme), map[string]any{sourceName: source}
	layers, _ := style["layers"].([]Layer)
	s := a.schema()
	switch {
	case from.Icons == "":
		s.pois = ""
	case s.pois != "":
		style["sprite"] = from.Icons
	}
	if world != nil {
		sources[worldSource] = world.source()
		const namesUpTo = 11 // beyond, the operator's map has the names
		layers = world.layers(look, namesUpTo)
		if a.Type() == MVT && len(s.earth) == 0 {
			cover, layer := a.cover(look)
			sources[coveredSource] = cover
			layers = append(layers, layer)
		}
	}
	if a.Type() == MVT {
		source["type"] = "vector"
		layers = append(layers, s.layers(look)...)
	} else {
		source["type"], source["tileSize"] = "raster", 256
		paint := map[string]any{}
		if look.Theme == Night {
			paint = map[string]any{"raster-brightness-max": 0.45, "raster-saturation": -0.4}
		}
		layers = append(layers, Layer{"id": "pictures", "type": "raster", "source": sourceName, "paint": paint})
	}
	style["sources"], style["layers"] = sources, layers
	style["center"], style["zoom"] = []float64{a.centerLng, a.centerLat}, a.centerZoom
	return style
}

// sourceName is the source of the operator's tiles.
const sourceName = "map"

// Blank returns the style without a map: only the background.
func Blank(theme Theme) map[string]any {
	name := "Wayside day"
	if theme == Night {
		name = "Wayside night"
	}
	return map[string]any{
		"version": 8, "name": name, "sources": map[string]any{},
		"layers": []Layer{{"id": "land", "type": "background", "paint": map[string]any{"background-color": theme.palette().land}}},
	}
}

// layers draws ground, water, buildings, borders, roads, bridges and names, in this order.
func (s *schema) layers(look Look) []Layer {
	p := look.Theme.palette()
	layers := []Layer{}
	for _, area := range []struct {
		id, color string
		where     []selection
	}{{"earth", p.land, s.earth}, {"built", p.built, s.built}, {"green", p.green, s.green}, {"water", p.water, s.water}} {
		for i, sel := range area.where {
			layers = append(layers, sel.layer(area.id, i, "fill", "Polygon", map[string]any{"fill-color": area.color}))
		}
	}
	for i, sel := range s.buildings {
		const lowest = 14
		l := sel.layer("building", i, "fill", "Polygon", map[string]any{"fill-color": p.building})
		l["minzoom"] = lowest
		layers = append(layers, l)
	}
	for i, sel := range s.streams {
		layers = append(layers, sel.layer("stream", i, "line", "LineString", map[string]any{
			"line-color": p.water, "line-width": []any{"interpolate", []any{"exponential", 1.5}, []any{"zoom"}, 9, 0.6, 16, 6},
		}))
	}
	for i, sel := range s.borders {
		layers = append(layers, sel.layer("border", i, "line", "LineString", map[string]any{
			"line-color": p.border, "line-width": 1.2, "line-dasharray": []int{4, 2},
		}))
	}
	for i, sel := range s.rails {
		rail := sel.layer("rail", i, "line", "LineString", map[string]any{"line-color": p.rail, "line-width": 1.4})
		rail["minzoom"] = 12
		layers = append(layers, rail)
	}
	layers = append(layers, s.roadLayers(p)...)
	if look.NoNames {
		return layers
	}
	return append(layers, s.nameLayers(p, look.Language)...)
}

// tunnelOpacity shows through the ground that a road is below it.
const tunnelOpacity = 0.45

// roadLayers draws rims below fills and small roads below large ones, so that crossings are drawn connected.
func (s *schema) roadLayers(p palette) []Layer {
	var layers []Layer
	round := map[string]any{"line-cap": "round", "line-join": "round"}
	for _, part := range []struct {
		id    string
		color func(roadClass) string
		rim   bool
	}{
		{"rim", func(c roadClass) string { return p.rims[c] }, true},
		{"road", func(c roadClass) string { return p.fills[c] }, false},
	} {
		for c := roadClasses - 1; c >= 0; c-- {
			sel := s.roads[c]
			if sel.layerID == "" {
				continue
			}
			l := sel.layer(part.id, int(c), "line", "LineString", map[string]any{
				"line-color": part.color(c), "line-width": c.width(part.rim), "line-opacity": []any{"case", []any{"has", "is_tunnel"}, tunnelOpacity, 1},
			})
			l["minzoom"], l["layout"] = c.lowest(part.rim), round
			layers = append(layers, l)
		}
	}
	return layers
}
