package basemap

// World is the built-in overview of the world, which is drawn below the operator's map, or alone if there is none.
type World struct {
	Tiles       string // URL template, as for Style
	HighestZoom int
	Attribution string
}

// Sources of a style besides the operator's.
const (
	worldSource   = "world"
	coveredSource = "covered" // the area of the operator's map
)

// Layers of the overview's tiles (internal/roads/basemap/world/makeworld).
const (
	worldLand      = "earth"
	worldBorders   = "borders"
	worldCountries = "countries"
	worldPlaces    = "places"
)

// WorldStyle returns the style of the overview alone.
func WorldStyle(look Look, world World) map[string]any {
	style := Blank(look.Theme)
	style["sources"] = map[string]any{worldSource: world.source()}
	const wholeNames = 14 // zoom up to which a place's name helps readers to find their way
	style["layers"] = world.layers(look, wholeNames)
	style["center"], style["zoom"] = []float64{10, 30}, 2
	return style
}

func (w World) source() map[string]any {
	return map[string]any{"type": "vector", "tiles": []string{w.Tiles}, "minzoom": 0, "maxzoom": w.HighestZoom, "attribution": w.Attribution}
}

// layers returns the layers for sea, land, borders and, up to a zoom, names. They come first in a style, so that the
// other layers cover them.
func (w World) layers(look Look, namesUpTo float64) []Layer {
	p := look.Theme.palette()
	from := func(layer string) selection { return selection{layerID: layer} }
	layers := []Layer{
		{"id": "sea", "type": "background", "paint": map[string]any{"background-color": p.water}},
		from(worldLand).layer("world-land", 0, "fill", "Polygon", map[string]any{"fill-color": p.land}),
		from(worldBorders).layer("world-border", 0, "line", "LineString", map[string]any{
			"line-color": p.border, "line-width": sized(0, 0.6, 6, 1.6),
		}),
	}
	if !look.NoNames {
		byRank := func(large, small float64) []any {
			return []any{"interpolate", []any{"linear"}, []any{"get", "rank"}, 10, large, 16, small}
		}
		country := from(worldCountries).name("world-country", 0, "Point", text{
			field: localName(look.Language), size: sized(1, 11, 4, 17, 7, 22), font: plainFont, color: p.softText, halo: p.halo, haloPixels: 1.4,
			lowest: 1, extra: map[string]any{"text-max-width": 7, "text-letter-spacing": 0.06, "symbol-sort-key": []any{"get", "rank"}},
		})
		country["maxzoom"] = 7
		place := from(worldPlaces).name("world-place", 0, "Point", text{
			field: localName(look.Language), size: sized(2, byRank(14, 12), 6, byRank(22, 14), 10, byRank(30, 22)),
			font: boldFont, color: p.text, halo: p.halo, haloPixels: 1.6, lowest: 2,
			extra: map[string]any{"text-max-width": 8, "text-padding": 8, "symbol-sort-key": []any{"get", "rank"}},
		})
		place["maxzoom"] = namesUpTo
		layers = append(layers, place, country) // countries have priority
	}
	for _, l := range layers[1:] {
		l["source"] = worldSource
	}
	return layers
}

// cover returns a layer that hides the overview inside the bounds of the operator's map. It is needed if that map draws
// no land, because its coast is more detailed than the overview's.
func (a *Archive) cover(look Look) (source map[string]any, layer Layer) {
	b := a.bounds
	ring := [][2]float64{{b.West, b.South}, {b.East, b.South}, {b.East, b.North}, {b.West, b.North}, {b.West, b.South}}
	source = map[string]any{"type": "geojson", "data": map[string]any{
		"type": "Feature", "properties": map[string]any{}, "geometry": map[string]any{"type": "Polygon", "coordinates": [][][2]float64{ring}},
	}}
	lowest, _ := a.Zooms()
	return source, Layer{
		"id": "covered", "type": "fill", "source": coveredSource, "minzoom": lowest,
		"paint": map[string]any{"fill-color": look.Theme.palette().land, "fill-antialias": false},
	}
}
