package format

import (
	"math"
	"slices"
	"testing"
)

func TestKindOfSite(t *testing.T) {
	tests := []struct {
		name   string
		kw     []float64
		direct bool
		kind   string
		maxKW  Number
	}{
		{"nothing is known", nil, false, "charger.destination", Number{}},
		{"direct current of unknown power", nil, true, "charger.supercharger", Number{}},
		{"direct current of little power", []float64{24}, true, "charger.destination", Num(24)},
		{"alternating current of 43 kW", []float64{43}, false, "charger.destination", Num(43)},
		{"50 kW", []float64{11, 50, 22}, false, "charger.supercharger", Num(50)},
		{"one decimal decides as it is shown", []float64{49.96}, true, "charger.supercharger", Num(50)},
		{"just below", []float64{49.94}, true, "charger.destination", Num(49.9)},
		{"no power", []float64{0, -5, math.NaN(), math.Inf(1), 0.02}, true, "charger.supercharger", Number{}},
	}
	for _, tt := range tests {
		var s Site
		for _, kw := range tt.kw {
			s.Power(kw)
		}
		if tt.direct {
			s.DirectCurrent()
		}
		if kind, c := s.Finish(""); kind != tt.kind || c.MaxKW != tt.maxKW {
			t.Errorf("%s: %s, %v", tt.name, kind, c.MaxKW)
		}
	}
}

// TestStatusWords checks the table of statuses, in upper and lower case, with white space around them.
func TestStatusWords(t *testing.T) {
	words := Vocabulary().EVSEStatus
	count := func(status string) (s Site, counted bool) {
		counted = s.Point(status)
		return s, counted
	}
	for _, word := range words.Available {
		if s, _ := count(" " + word + " "); s.available != 1 {
			t.Errorf("%s: %+v", word, s)
		}
	}
	for _, word := range words.Occupied {
		if s, _ := count(word + "\t"); s.occupied != 1 {
			t.Errorf("%s: %+v", word, s)
		}
	}
	for _, word := range words.OutOfOrder {
		if s, _ := count(word); s.outOfOrder != 1 {
			t.Errorf("%s: %+v", word, s)
		}
	}
	for _, word := range words.Gone {
		if s, counted := count(word); counted || s.Points() != 0 || s.Told {
			t.Errorf("%s: %+v", word, s)
		}
	}
	for _, word := range []string{"available", "Charging", "outOfOrder"} {
		if s, _ := count(word); s.uncertain != 0 || s.Points() != 1 {
			t.Errorf("%s: %+v", word, s)
		}
	}
	if s, _ := count("WHO KNOWS"); s.uncertain != 1 || !s.Told {
		t.Errorf("another word: %+v", s)
	}
	if s, counted := count(" "); s.uncertain != 1 || s.Told || !counted {
		t.Errorf("no word: %+v", s)
	}
}

func TestCountsOfSite(t *testing.T) {
	var s Site
	s.Point("")
	s.Point("")
	if _, c := s.Finish(""); c.EVSEs != Num(2) || c.Unknown != (Number{}) {
		t.Errorf("no status is told: %+v", c)
	}
	s.Point("Charging")
	s.Point("REMOVED")
	if _, c := s.Finish(""); c.EVSEs != Num(3) || c.Available != Num(0) || c.Occupied != Num(1) || c.OutOfOrder != Num(0) || c.Unknown != Num(2) {
		t.Errorf("one status is told: %+v", c)
	}
}

func TestPlugs(t *testing.T) {
	var s Site
	table := Vocabulary().Plugs.OCPI
	for _, word := range []string{"IEC_62196_T2", "CHADEMO", "IEC_62196_T2_COMBO", "GBT_DC", "IEC_62196_T2", "", "GBT_AC"} {
		s.Plug(table, word)
	}
	if want := []string{"ccs", "chademo", "other", "type2"}; !slices.Equal(s.Charging.Plugs, want) {
		t.Errorf("%v, want %v", s.Charging.Plugs, want)
	}
}

func TestNetworks(t *testing.T) {
	for _, tt := range []struct{ option, operator, want string }{
		{"", "Fastned B.V.", "fastned-b-v"},
		{"", "  EVIO - Electrical Mobility ", "evio-electrical-mobility"},
		{"", "<b>E.ON</b>", "e-on"},
		{"", "Électricité", "lectricit"},
		{"", "Энергия", ""},
		{"", "", ""},
		{"none", "Fastned", ""},
		{"my-network", "Fastned", "my-network"},
	} {
		s := Site{Charging: Charging{Operator: tt.operator}}
		if _, c := s.Finish(tt.option); c.Network != tt.want {
			t.Errorf("%q of %q: %q, want %q", tt.option, tt.operator, c.Network, tt.want)
		}
	}
}
