package mapdata_test

import (
	"testing"

	"wayside/internal/ground/mapdata"
)

// TestPropertiesAreWellFormed checks that each entry has what the type of its property requires.
func TestPropertiesAreWellFormed(t *testing.T) {
	if mapdata.PropertyCount > 64 {
		t.Fatalf("%d properties do not fit into a set", mapdata.PropertyCount)
	}
	for i, info := range mapdata.Properties() {
		p := mapdata.Property(i)
		if found, ok := mapdata.ParseProperty([]byte(info.Name)); !ok || found != p {
			t.Errorf("%s is not found by its name", info.Name)
		}
		if info.Kinds == 0 || info.Meaning == "" {
			t.Errorf("%s: %+v", info.Name, info)
		}
		if number := info.Type == mapdata.PropertyNumber; number != (info.Max > info.Min) || !number && info.Unit != "" {
			t.Errorf("%s has the range %g to %g %s", info.Name, info.Min, info.Max, info.Unit)
		}
		if (info.Type == mapdata.PropertyEnum) != (len(info.Values) > 0) {
			t.Errorf("%s has the values %v", info.Name, info.Values)
		}
	}
	for _, name := range []string{"", "Street", "streets", "sixteen_letters_", "more_than_sixteen_letters"} {
		if p, ok := mapdata.ParseProperty([]byte(name)); ok {
			t.Errorf("%q is %s", name, p.Name())
		}
	}
}

// TestPropertiesOfKinds compares the names of D15.14, D15.15 and D17.9 with the kinds that have them.
func TestPropertiesOfKinds(t *testing.T) {
	has := func(kind, name string) bool {
		k, known := mapdata.ParseKind(kind)
		p, ok := mapdata.ParseProperty([]byte(name))
		if !known || !ok {
			t.Fatalf("no kind %s or property %s", kind, name)
		}
		return mapdata.PropertiesOf(k).Has(p)
	}
	for _, kind := range []string{"alert.accident", "alert.hazard.ice", "traffic.jam"} {
		for _, name := range []string{
			"description", "street", "direction", "both_directions", "bearing", "severity", "lanes_closed", "speed_limit_kmh", "speed_kmh",
			"delay_seconds", "length_metres", "detour", "starts_at", "ends_at", "source_type", "url",
		} {
			if !has(kind, name) {
				t.Errorf("%s has no %s", kind, name)
			}
		}
	}
	for _, name := range []string{
		"name", "street", "city", "postcode", "country", "operator", "network", "evses", "max_kw", "plugs", "available", "occupied",
		"out_of_order", "unknown", "status_at", "price", "opening_hours",
	} {
		if !has("charger.supercharger", name) {
			t.Errorf("a charger has no %s", name)
		}
	}
	for kind, names := range map[string][]string{
		"camera.speed": {"maxspeed_kmh", "bearing", "street"}, "alert.construction": {"closed"}, "traffic.jam": {"level"},
	} {
		for _, name := range names {
			if !has(kind, name) {
				t.Errorf("%s has no %s", kind, name)
			}
		}
	}
	for kind, name := range map[string]string{"traffic.jam": "maxspeed_kmh", "camera.speed": "level", "charger.destination": "bearing", "alert.accident": "closed"} {
		if has(kind, name) {
			t.Errorf("%s has %s", kind, name)
		}
	}
}

// TestGravityOrdersKinds compares the order with the rank of D17, the gravest first.
func TestGravityOrdersKinds(t *testing.T) {
	rank := []string{
		"alert.road_closed", "alert.accident", "alert.construction", "alert.hazard.ice", "alert.hazard.flooding", "alert.hazard.fog",
		"alert.hazard.animal", "alert.hazard.object_on_road", "alert.hazard.car_stopped", "alert.hazard.pothole", "traffic.jam",
		"alert.police", "alert.hazard", "camera.avg_speed", "camera.red_light", "camera.speed", "charger.supercharger", "charger.destination",
	}
	if len(rank) != mapdata.KindCount {
		t.Fatalf("%d kinds are ranked", len(rank))
	}
	for i, id := range rank {
		if k, ok := mapdata.ParseKind(id); !ok || k.Gravity() != len(rank)-i {
			t.Errorf("%s has the gravity %d", id, k.Gravity())
		}
	}
}
