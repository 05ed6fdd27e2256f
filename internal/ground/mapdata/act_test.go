package mapdata_test

import (
	"testing"
	"time"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// TestIndependent checks the bounds beyond which two accounts count as two people.
func TestIndependent(t *testing.T) {
	for name, tt := range map[string]struct {
		record mapdata.Record
		want   bool
	}{
		"nothing yet":              {mapdata.Record{}, false},
		"three acts on three days": {mapdata.Record{Days: 3, Acts: 3, Own: 3}, true},
		"three acts on two days":   {mapdata.Record{Days: 2, Acts: 3, Own: 3}, false},
		"two acts on three days":   {mapdata.Record{Days: 3, Acts: 2, Own: 2}, false},
		"two of three":             {mapdata.Record{Days: 3, Acts: 3, Own: 2}, false},
		"four fifths together":     {mapdata.Record{Days: 3, Acts: 20, Own: 4}, false},
		"less than four fifths":    {mapdata.Record{Days: 3, Acts: 20, Own: 5}, true},
		"always together":          {mapdata.Record{Days: 3, Acts: 20}, false},
	} {
		if got := tt.record.Independent(); got != tt.want {
			t.Errorf("%s: independent is %v", name, got)
		}
	}
}

// TestNearPlace checks that the 5 km are measured from the nearest point of a closed road, not from its beginning.
func TestNearPlace(t *testing.T) {
	const degree = 111_195 // metres
	at := func(metres float64) geo.Point { return geo.Point{Lat: 40 + metres/degree, Lng: 9} }
	point := &mapdata.Entity{Point: at(0)}
	road := &mapdata.Entity{Point: at(0), Line: []geo.Point{at(0), at(15_000), at(30_000)}}
	for name, tt := range map[string]struct {
		entity *mapdata.Entity
		metres float64
		want   bool
	}{
		"at the place":          {point, 0, true},
		"4.99 km away":          {point, 4_990, true},
		"5.01 km away":          {point, 5_010, false},
		"beside a long road":    {road, 20_000, true},
		"4.99 km beyond a road": {road, 34_990, true},
		"5.01 km beyond a road": {road, 35_010, false},
	} {
		if got := tt.entity.NearPlace(at(tt.metres)); got != tt.want {
			t.Errorf("%s: near is %v", name, got)
		}
	}
}

// TestRoadDisputed checks that one person does not open a closed road.
func TestRoadDisputed(t *testing.T) {
	for _, tt := range []struct {
		confirms, disputes int
		want               bool
	}{{0, 0, false}, {0, 1, false}, {1, 1, false}, {0, 2, true}, {2, 2, true}, {3, 2, false}} {
		if got := mapdata.RoadDisputed(tt.confirms, tt.disputes); got != tt.want {
			t.Errorf("%d confirms, %d disputes: disputed is %v", tt.confirms, tt.disputes, got)
		}
	}
}

// TestAfterAct checks the distance that an account can have travelled: 10 km, and 5 km a minute.
func TestAfterAct(t *testing.T) {
	start := time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)
	act := mapdata.Act{Place: geo.Point{Lat: 40}, At: start}
	for _, tt := range []struct {
		km    float64
		after time.Duration
		want  bool
	}{{9.9, 0, true}, {10.1, 0, false}, {59.9, 10 * time.Minute, true}, {60.1, 10 * time.Minute, false}, {10.1, -time.Hour, false}} {
		if got := act.AfterAct(geo.Point{Lat: 40 + tt.km/111.195}, start.Add(tt.after)); got != tt.want {
			t.Errorf("%v km after %v: %v", tt.km, tt.after, got)
		}
	}
}
