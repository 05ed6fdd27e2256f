package tilemaker

// poiClass is how a point of interest is drawn: points of one kind share an icon.
type poiClass struct {
	kind   string
	lowest uint8 // zoom of the point
	rank   int64 // points of a higher rank come first where there is no room for all
}

// lowestPOI is the lowest zoom with points of interest.
const lowestPOI = 11

// The points of interest of drivers, by the values of their keys. Kinds are those of the Protomaps basemap where it has one.
var (
	amenityPOIs = map[string]poiClass{
		"hospital": {"hospital", 12, 9}, "fuel": {"fuel", 13, 8}, "charging_station": {"charging_station", 13, 7}, "police": {"police", 14, 6},
		"pharmacy": {"pharmacy", 14, 5}, "bus_station": {"station", 14, 5}, "ferry_terminal": {"ferry_terminal", 13, 6}, "parking": {"parking", 14, 4},
		"school": {"school", 14, 3}, "university": {"school", 14, 4}, "college": {"school", 14, 3}, "toilets": {"toilets", 14, 2},
		"restaurant": {"restaurant", 14, 2}, "fast_food": {"restaurant", 14, 2}, "cafe": {"cafe", 14, 1},
	}
	railwayPOIs = map[string]poiClass{
		"station": {"station", 12, 8}, "halt": {"station", 13, 6}, "level_crossing": {"level_crossing", 14, 0},
	}
	aerowayPOIs = map[string]poiClass{"aerodrome": {"aerodrome", lowestPOI, 9}}
	tourismPOIs = map[string]poiClass{
		"hotel": {"hotel", 14, 3}, "motel": {"hotel", 14, 3}, "hostel": {"hotel", 14, 2}, "guest_house": {"hotel", 14, 1}, "viewpoint": {"viewpoint", 14, 2},
	}
	shopPOIs = map[string]poiClass{
		"supermarket": {"supermarket", 14, 4}, "mall": {"supermarket", 13, 5}, "department_store": {"supermarket", 14, 4}, "convenience": {"supermarket", 14, 2},
	}
	// roadPOIs are nodes of roads.
	roadPOIs = map[string]poiClass{
		"traffic_signals": {"traffic_signals", 14, 0}, "motorway_junction": {"motorway_junction", 12, 9}, "services": {"rest_area", 12, 8},
		"rest_area": {"rest_area", 13, 7},
	}
)

// poi returns the drawings of an object as a point of interest: none or one. What drivers may not use is left out, and junctions of
// motorways without a number.
func (f *facts) poi() []drawing {
	if f.access == "private" || f.access == "no" {
		return nil
	}
	for _, one := range []struct {
		classes map[string]poiClass
		value   string
	}{{aerowayPOIs, f.aeroway}, {railwayPOIs, f.railway}, {amenityPOIs, f.amenity}, {tourismPOIs, f.tourism}, {shopPOIs, f.shop}, {roadPOIs, f.highway}} {
		class, ok := one.classes[one.value]
		if !ok {
			continue
		}
		tags := appendText(nil, "kind", class.kind, 0)
		switch class.kind {
		case "motorway_junction":
			if f.ref == "" {
				return nil
			}
			tags = appendText(tags, "ref", f.ref, 0)
		case "traffic_signals", "level_crossing":
		case "station", "aerodrome", "hospital":
			tags = f.named(tags, 0)
		default: // one name: names in more languages would be a tenth of all points, and shops have none
			tags = appendText(tags, "name", f.name, 0)
		}
		return []drawing{{layer: poisLayer, geometry: dot, lowest: class.lowest, tags: tags, priority: class.rank}}
	}
	return nil
}
