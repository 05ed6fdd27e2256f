package basemap

// names maps the contents of vector tiles to the names that a style writes. A schema without some of them leaves these
// fields empty.
type names struct {
	streets    [roadClasses]selection // lines
	streams    []selection            // lines
	water      []selection            // points: seas and lakes
	countries  []selection            // points, like all that follow
	localities []selection            // cities, towns and villages
	quarters   []selection            // parts of a city
	houses     []selection

	refs      []string // members with a road's number, the shortest first
	houseNos  []string // members with a house number
	sizes     []string // members with the size of a locality: "city", "town"
	sortOrder any      // an expression: localities with lower values have priority
}

// The fonts of names. In a style without `glyphs`, MapLibre (from 5.11 on) draws the characters with the browser's own
// fonts; it takes the weight from the first family's name.
var (
	plainFont = []string{"sans-serif"}
	boldFont  = []string{"Bold", "sans-serif"}
)

// localName returns an expression for the name of a feature in a language, or else the local name. A name in a script that MapLibre
// cannot draw without a plug-in (Arabic, Hebrew, Devanagari) is replaced by its English or Latin form.
func localName(language string) []any {
	get := func(member string) []any { return []any{"get", member} }
	name := []any{"coalesce"}
	if language != "" {
		name = append(name, get("name:"+language), get("name_"+language))
	}
	name = append(name, get("name"), "")
	return []any{
		"let", "name", name,
		[]any{
			"case",
			[]any{"is-supported-script", []any{"var", "name"}},
			[]any{"var", "name"},
			[]any{"coalesce", get("name:en"), get("name_en"), get("name:latin"), ""},
		},
	}
}

// firstOf returns an expression for the first of the members that a feature has, or empty text if it has none.
func firstOf(members []string) []any {
	out := []any{"coalesce"}
	for _, m := range members {
		out = append(out, []any{"get", m})
	}
	return append(out, "")
}

// roadNumber returns an expression for the first number of a road, where a member lists several.
func roadNumber(members []string) []any {
	ref, end := []any{"var", "ref"}, []any{"index-of", ";", []any{"var", "ref"}}
	return []any{
		"let", "ref",
		[]any{"to-string", firstOf(members)},
		[]any{"case", []any{">", end, 0}, []any{"slice", ref, 0, end}, ref},
	}
}

// sized returns an expression of the zoom: pairs of zoom and pixels, or an expression for pixels.
func sized(pairs ...any) []any {
	return append([]any{"interpolate", []any{"linear"}, []any{"zoom"}}, pairs...)
}

// text is the appearance of one class of names.
type text struct {
	field      any
	size       any
	font       []string
	color      string
	halo       string
	haloPixels float64
	along      bool // written along a line
	lowest     float64
	extra      map[string]any // further layout properties
}

// name returns a style layer that writes names. Later layers have priority where names collide.
func (s selection) name(id string, number int, geometry string, t text) Layer {
	l := s.layer(id, number, "symbol", geometry, map[string]any{
		"text-color": t.color, "text-halo-color": t.halo, "text-halo-width": t.haloPixels,
	})
	layout := map[string]any{"text-field": t.field, "text-font": t.font, "text-size": t.size, "text-padding": 4}
	if t.along {
		layout["symbol-placement"], layout["symbol-spacing"], layout["text-max-angle"] = "line", 420, 35
	}
	for k, v := range t.extra {
		layout[k] = v
	}
	l["layout"], l["minzoom"] = layout, t.lowest
	return l
}

// nameLayers writes house numbers, streets, waters, road numbers and places, with later ones taking priority. They are
// drawn above the map and below the pins, whose places they do not affect.
func (s *schema) nameLayers(p palette, language string) []Layer {
	n, local := &s.names, localName(language)
	var layers []Layer
	add := func(id, geometry string, where []selection, t text) {
		for i, sel := range where {
			if sel.layerID != "" {
				layers = append(layers, sel.name(id, i, geometry, t))
			}
		}
	}
	layers = append(s.arrowLayer(p), s.poiLayers(p, local)...)
	add("house", "Point", n.houses, text{
		field: firstOf(n.houseNos), size: sized(17, 13, 19, 18), font: plainFont, color: p.softText, halo: p.halo, haloPixels: 1.2, lowest: 17,
	})
	quarter := text{
		field: local, size: sized(12, 14, 16, 18), font: plainFont, color: p.softText, halo: p.halo, haloPixels: 1.6, lowest: 12,
		extra: map[string]any{"text-max-width": 8},
	}
	add("quarter", "Point", n.quarters, quarter)
	for c := roadClasses - 1; c >= 0; c-- {
		add("street-"+c.String(), "LineString", n.streets[c:c+1], text{
			field: local, size: c.textSize(), font: plainFont, color: p.text, halo: p.halo, haloPixels: 2.3, along: true, lowest: c.lowestName(),
		})
	}
	add("stream-name", "LineString", n.streams, text{
		field: local, size: sized(11, 13, 16, 18), font: plainFont, color: p.waterText, halo: p.waterHalo, haloPixels: 1.4, along: true, lowest: 11,
	})
	add("water-name", "Point", n.water, text{
		field: local, size: sized(3, 13, 12, 15, 16, 19), font: plainFont, color: p.waterText, halo: p.waterHalo, haloPixels: 1.4, lowest: 2,
		extra: map[string]any{"text-max-width": 6},
	})
	layers = append(layers, s.shieldLayers(p)...)
	return append(layers, s.placeLayers(p, local)...)
}

// shieldLayers writes the numbers of large roads, upright.
func (s *schema) shieldLayers(p palette) []Layer {
	if s.names.refs == nil {
		return nil
	}
	var layers []Layer
	number := roadNumber(s.names.refs)
	for c := secondary; c >= motorway; c-- {
		sel := s.names.streets[c]
		if sel.layerID == "" {
			continue
		}
		l := sel.name("shield-"+c.String(), 0, "LineString", text{
			field: number, size: sized(8, 13, 16, 16), font: boldFont, color: p.shieldText[c], halo: p.shields[c], haloPixels: 4,
			along: true, lowest: max(c.lowestName()-2, 7),
			extra: map[string]any{
				"symbol-spacing": 400, "text-rotation-alignment": "viewport", "text-pitch-alignment": "viewport", "text-padding": 12,
			},
		})
		filter, _ := l["filter"].([]any)
		const longest = 7 // longer ones are not road numbers
		l["filter"] = append(filter, []any{">", []any{"length", number}, 0}, []any{"<=", []any{"length", number}, longest})
		layers = append(layers, l)
	}
	return layers
}

// placeLayers writes the names of countries and localities.
func (s *schema) placeLayers(p palette, local []any) []Layer {
	n := &s.names
	bySize := func(city, town, village float64) []any {
		return []any{"match", firstOf(n.sizes), []string{"village", "hamlet", "isolated_dwelling", "farm"}, village, "town", town, city}
	}
	layout := map[string]any{"text-max-width": 8, "symbol-sort-key": n.sortOrder}
	var layers []Layer
	for i, sel := range n.localities {
		l := sel.name("locality", i, "Point", text{
			field: local, size: sized(4, bySize(14, 13, 12), 9, bySize(20, 16, 13), 15, bySize(30, 24, 19)),
			font: boldFont, color: p.text, halo: p.halo, haloPixels: 2, lowest: 2, extra: layout,
		})
		l["maxzoom"] = 16
		layers = append(layers, l)
	}
	for i, sel := range n.countries {
		l := sel.name("country", i, "Point", text{
			field: local, size: sized(1, 12, 6, 20), font: plainFont, color: p.softText, halo: p.halo, haloPixels: 1.6, lowest: 1,
			extra: map[string]any{"text-max-width": 7, "text-letter-spacing": 0.08},
		})
		l["maxzoom"] = 8
		layers = append(layers, l)
	}
	return layers
}

// String returns the name of the class in ids of layers.
func (c roadClass) String() string {
	return [roadClasses]string{"motorway", "trunk", "primary", "secondary", "tertiary", "minor", "service"}[c]
}

// lowestName returns the lowest zoom at which names of a class are written.
func (c roadClass) lowestName() float64 {
	return [roadClasses]float64{10, 11, 11.5, 12.5, 13.5, 14.5, 16}[c]
}

// textSize returns the size of a road's name: about a third of the road's width if that is readable.
func (c roadClass) textSize() []any {
	if c <= tertiary {
		return sized(10, 14, 16, 18, 19, 24)
	}
	return sized(14, 13, 16, 16, 19, 21)
}
