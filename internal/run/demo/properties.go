package demo

import "strings"

// properties returns the properties of an entity beside its place: well-known ones, so that cards have content. It returns the same
// properties for the same number.
func properties(kind, street string, number int) map[string]any {
	of := map[string]any{"street": street}
	pick := func(values ...any) any { return values[number%len(values)] }
	switch {
	case strings.HasPrefix(kind, "camera."):
		of["maxspeed_kmh"] = pick(50, 30, 80)
	case strings.HasPrefix(kind, "charger."):
		of["max_kw"], of["evses"], of["available"] = pick(22, 150, 300), 8, pick(3, 8, 1)
		of["opening_hours"], of["price"] = "24/7", pick("0.59 €/kWh", "0.45 €/kWh")
	case strings.HasPrefix(kind, "traffic."):
		of["level"], of["speed_kmh"] = pick(3, 4, 2), pick(12, 4, 25)
		of["delay_seconds"], of["length_metres"] = pick(240, 720, 120), pick(600, 1400, 300)
	case kind == "alert.construction":
		of["lanes_closed"], of["speed_limit_kmh"], of["description"] = 1, 30, "The road is being resurfaced."
	case kind == "alert.road_closed":
		of["detour"] = true
	case kind == "alert.accident":
		of["lanes_closed"], of["delay_seconds"] = 1, pick(180, 420)
	}
	return of
}
