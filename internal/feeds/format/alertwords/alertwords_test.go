package alertwords

import "testing"

func TestFind(t *testing.T) {
	for _, tt := range []struct{ typ, subtype, kind, word string }{
		{"ACCIDENT", "", "alert.accident", "ACCIDENT"},
		{"HAZARD", "HAZARD_ON_ROAD_ICE", "alert.hazard.ice", "HAZARD_ON_ROAD_ICE"},
		{"HAZARD", "HAZARD_ON_ROAD_SHARKS", "alert.hazard", "HAZARD"},
		{"ACCIDENT", "HAZARD_ON_ROAD_ICE", "alert.accident", "ACCIDENT"},
		{"HAZARD", "HAZARD_WEATHER_HEAT_WAVE", None, "HAZARD_WEATHER_HEAT_WAVE"},
		{"CAMERA", "ANY", None, "CAMERA"},
	} {
		m, known := Find(tt.typ, tt.subtype)
		if !known || m.Shown != (tt.kind != None) || m.Shown && m.Kind.ID() != tt.kind || m.Word != tt.word {
			t.Errorf("%s %s: %+v %v, want %s by %s", tt.typ, tt.subtype, m, known, tt.kind, tt.word)
		}
	}
	for _, typ := range []string{"", "accident", "SHARKS", "HAZARD_ON_ROAD_ICE"} {
		if m, known := Find(typ, "HAZARD_ON_ROAD_ICE"); known {
			t.Errorf("%q is known: %+v", typ, m)
		}
	}
	if got := compile([]Term{{"A", "", "alert.no_such_kind"}}); len(got) != 0 {
		t.Errorf("a kind that the catalogue lacks has a meaning: %v", got)
	}
	if len(meanings) != len(Terms()) {
		t.Errorf("%d meanings of %d terms", len(meanings), len(Terms()))
	}
}
