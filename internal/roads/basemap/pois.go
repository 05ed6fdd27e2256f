package basemap

// poiSteps are the points of interest with an icon of package sprite, and the zooms from which on they and their names are drawn: first
// what a driver looks for on the way, last what is looked for on foot.
var poiSteps = []struct {
	lowest, named float64
	kinds         []string
}{
	{16.5, 17, []string{"restaurant", "cafe", "toilets", "viewpoint", "traffic_signals", "level_crossing"}},
	{15, 16, []string{"police", "pharmacy", "parking", "supermarket", "school", "hotel"}},
	{12.5, 15, []string{"aerodrome", "hospital", "fuel", "charging_station", "station", "ferry_terminal", "rest_area"}},
}

// poiLayers draws points of interest as quiet icons, with their names where there is room, and the numbers of exits.
func (s *schema) poiLayers(p palette, local []any) []Layer {
	if s.pois == "" {
		return nil
	}
	var layers []Layer
	kind := []string{"kind"}
	for i, step := range poiSteps {
		l := selection{s.pois, kind, step.kinds}.layer("poi", i, "symbol", "Point", map[string]any{
			"text-color": p.softText, "text-halo-color": p.halo, "text-halo-width": 1.4,
		})
		l["minzoom"] = step.lowest
		l["layout"] = map[string]any{
			"icon-image": []any{"get", "kind"}, "icon-padding": 6, "text-field": []any{"step", []any{"zoom"}, "", step.named, local},
			"text-font": plainFont, "text-size": sized(14, 12, 18, 15), "text-anchor": "top", "text-offset": []any{0, 0.9}, "text-max-width": 8,
			"text-optional": true,
		}
		layers = append(layers, l)
	}
	exit := selection{s.pois, kind, []string{"motorway_junction"}}.name("exit", 0, "Point", text{
		field: []any{"get", "ref"}, size: sized(13, 12, 17, 15), font: boldFont, color: p.shieldText[motorway], halo: p.shields[motorway], haloPixels: 3,
		lowest: 12.5,
	})
	return append(layers, exit)
}

// arrowLayer draws arrows on roads that are driven in one direction.
func (s *schema) arrowLayer(p palette) []Layer {
	if s.oneWays.layerID == "" {
		return nil
	}
	l := s.oneWays.name("oneway", 0, "LineString", text{
		field: []any{"match", []any{"get", "oneway"}, "-1", "\u2190", "\u2192"}, size: sized(15.5, 12, 18, 20), font: boldFont, color: p.softText, halo: p.halo,
		haloPixels: 1, along: true, lowest: 15.5, extra: map[string]any{"symbol-spacing": 160, "text-keep-upright": false, "text-padding": 1},
	})
	return []Layer{l}
}
