package geocode

import (
	"math"
	"strconv"

	"wayside/internal/roads/osmpbf"
)

// Layer is the type of a result, with the names that Photon uses.
type Layer uint8

// The layers.
const (
	LayerOther Layer = iota
	LayerHouse
	LayerStreet
	LayerLocality
	LayerDistrict
	LayerCity
	LayerCounty
	LayerState
	LayerCountry

	layers
)

func (l Layer) String() string {
	return [layers]string{"other", "house", "street", "locality", "district", "city", "county", "state", "country"}[l]
}

// ParseLayer parses the name of a layer.
func ParseLayer(name string) (Layer, bool) {
	for l := range layers {
		if l.String() == name {
			return l, true
		}
	}
	return 0, false
}

// kind is the tag that determines what something is.
type kind struct{ key, value string }

// featureKeys returns the keys that make something with a name a feature, the most specific first.
func featureKeys() []string {
	return []string{
		"place", "amenity", "shop", "tourism", "aeroway", "railway", "leisure", "historic", "healthcare", "office", "craft", "emergency",
		"public_transport", "aerialway", "natural", "man_made", "sport", "club", "military", "bridge", "tunnel", "waterway", "landuse", "highway", "building",
	}
}

// hasBrand reports whether features of a key without a name are known by their brand.
func hasBrand(key string) bool { return key == "amenity" || key == "shop" || key == "tourism" }

// kindOf returns the kind of an object with the given tags, and false if it is not a feature.
func kindOf(tags osmpbf.Tags, keys []string) (kind, bool) {
	for _, key := range keys {
		value, ok := tags.Get(key)
		if !ok || value == "no" || value == "" || !isFeature(key, value) {
			continue
		}
		if !plainValue(value) {
			value = "yes"
		}
		return kind{key, value}, true
	}
	return kind{}, false
}

// isFeature reports whether a tag makes something a feature.
func isFeature(key, value string) bool {
	switch key {
	case "highway":
		switch value {
		case "bus_stop", "services", "rest_area", "motorway_junction", "trailhead":
			return true
		}
		return false
	case "railway":
		switch value {
		case "station", "halt", "tram_stop", "subway_entrance", "stop":
			return true
		}
		return false
	case "waterway":
		return value == "dam" || value == "waterfall" || value == "dock"
	case "natural":
		return value != "tree" && value != "coastline" && value != "tree_row"
	case "place":
		return value != "country" && value != "state" && value != "region" // their boundaries are better
	}
	return true
}

// plainValue reports whether a value may be shown as the value of a tag.
func plainValue(value string) bool {
	if value == "" || len(value) > 40 {
		return false
	}
	for i := range len(value) {
		if c := value[i]; !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_' || c == '-') {
			return false
		}
	}
	return true
}

// isStreet reports whether ways with a highway value are streets.
func isStreet(highway string) bool {
	switch highway {
	case "", "no", "construction", "proposed", "bus_stop", "platform", "services", "rest_area", "corridor", "elevator", "razed", "abandoned", "bridleway_entrance":
		return false
	}
	return plainValue(highway)
}

// layer returns the layer of a kind.
func (k kind) layer() Layer {
	switch k.key {
	case "place":
		switch k.value {
		case "city", "town", "village", "hamlet", "municipality", "isolated_dwelling":
			return LayerCity
		case "suburb", "borough", "quarter", "neighbourhood", "district", "city_block":
			return LayerDistrict
		case "county":
			return LayerCounty
		case "state", "province", "region":
			return LayerState
		case "country":
			return LayerCountry
		case "locality", "island", "islet", "farm", "archipelago", "square":
			return LayerLocality
		}
	case "highway":
		if !isFeature(k.key, k.value) {
			return LayerStreet
		}
	}
	return LayerOther
}

// importance returns the importance of something among others of the same name, from 0 to 1. population is its tag, or
// empty.
func (k kind) importance(population string) float64 {
	base := 0.2
	switch k.key {
	case "place":
		base = placeImportance(k.value)
		if n, err := strconv.ParseFloat(population, 64); err == nil && n > 1 {
			base = min(1, max(base, math.Log10(n)/7))
		}
	case "highway":
		base = streetImportance(k.value)
	case "aeroway":
		if k.value == "aerodrome" {
			base = 0.5
		}
	case "railway":
		switch k.value {
		case "station":
			base = 0.45
		case "subway_entrance", "stop", "tram_stop":
			base = 0.12
		}
	case "tourism", "historic":
		base = 0.26
	case "building", "landuse", "sport":
		base = 0.12
	case "amenity":
		switch k.value {
		case "hospital", "university", "townhall":
			base = 0.35
		case "fuel", "charging_station", "parking":
			base = 0.25
		}
	}
	return base
}

func placeImportance(value string) float64 {
	switch value {
	case "country":
		return 1
	case "state", "province", "region":
		return 0.85
	case "county":
		return 0.6
	case "city":
		return 0.75
	case "town", "municipality":
		return 0.6
	case "village":
		return 0.5
	case "suburb", "borough":
		return 0.45
	case "hamlet", "quarter", "island":
		return 0.4
	case "neighbourhood", "postcode":
		return 0.35
	}
	return 0.25
}

func streetImportance(value string) float64 {
	switch value {
	case "motorway":
		return 0.4
	case "trunk", "primary":
		return 0.38
	case "secondary":
		return 0.36
	case "tertiary":
		return 0.34
	case "unclassified", "residential", "living_street", "pedestrian":
		return 0.3
	case "motorway_link", "trunk_link", "primary_link", "secondary_link", "tertiary_link", "service", "track", "road":
		return 0.22
	case "bus_stop", "motorway_junction":
		return 0.12
	}
	return 0.2
}
