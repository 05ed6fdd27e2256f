package waze

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"wayside/internal/feeds/format/alertwords"
	"wayside/internal/ground/mapdata"
)

// meant lists by kind the meaning of every word of the vocabulary, which the vocabulary lists by word, so that a change
// must be made in both.
var meant = map[string]string{
	"alert.accident":              "alert/ACCIDENT alert/ACCIDENT/ACCIDENT_MINOR alert/ACCIDENT/ACCIDENT_MAJOR icon/1",
	"alert.police":                "alert/POLICE alert/POLICE/POLICE_VISIBLE alert/POLICE/POLICE_HIDING",
	"alert.construction":          "alert/CONSTRUCTION alert/HAZARD/HAZARD_ON_ROAD_CONSTRUCTION icon/9",
	"alert.road_closed":           "alert/ROAD_CLOSED alert/ROAD_CLOSED/ROAD_CLOSED_HAZARD alert/ROAD_CLOSED/ROAD_CLOSED_CONSTRUCTION alert/ROAD_CLOSED/ROAD_CLOSED_EVENT icon/8",
	"alert.hazard.car_stopped":    "alert/HAZARD/HAZARD_ON_ROAD_CAR_STOPPED alert/HAZARD/HAZARD_ON_SHOULDER_CAR_STOPPED icon/14",
	"alert.hazard.object_on_road": "alert/HAZARD/HAZARD_ON_ROAD_OBJECT alert/HAZARD/HAZARD_ON_ROAD_ROAD_KILL",
	"alert.hazard.pothole":        "alert/HAZARD/HAZARD_ON_ROAD_POT_HOLE",
	"alert.hazard.animal":         "alert/HAZARD/HAZARD_ON_SHOULDER_ANIMALS",
	"alert.hazard.fog":            "alert/HAZARD/HAZARD_WEATHER_FOG icon/2",
	"alert.hazard.ice":            "alert/HAZARD/HAZARD_ON_ROAD_ICE alert/HAZARD/HAZARD_WEATHER_FREEZING_RAIN icon/5",
	"alert.hazard.flooding":       "alert/HAZARD/HAZARD_WEATHER_FLOOD icon/11",
	"traffic.jam":                 "alert/JAM alert/JAM/JAM_LIGHT_TRAFFIC alert/JAM/JAM_MODERATE_TRAFFIC alert/JAM/JAM_HEAVY_TRAFFIC alert/JAM/JAM_STAND_STILL_TRAFFIC jam/ jam/NONE jam/SMALL jam/MEDIUM jam/LARGE jam/HUGE icon/6",
	dropped:                       "alert/CAMERA alert/CHIT_CHAT alert/MISC alert/PARKED_ON alert/PARKED_OFF alert/HAZARD/HAZARD_WEATHER_HEAT_WAVE icon/0 icon/4",
	"alert.hazard": "alert/HAZARD alert/HAZARD/HAZARD_ON_ROAD alert/HAZARD/HAZARD_ON_ROAD_EMERGENCY_VEHICLE alert/HAZARD/HAZARD_ON_ROAD_LANE_CLOSED alert/HAZARD/HAZARD_ON_ROAD_OIL " +
		"alert/HAZARD/HAZARD_ON_ROAD_TRAFFIC_LIGHT_FAULT alert/HAZARD/HAZARD_ON_SHOULDER alert/HAZARD/HAZARD_ON_SHOULDER_MISSING_SIGN alert/HAZARD/HAZARD_WEATHER " +
		"alert/HAZARD/HAZARD_WEATHER_HAIL alert/HAZARD/HAZARD_WEATHER_HEAVY_RAIN alert/HAZARD/HAZARD_WEATHER_HEAVY_SNOW alert/HAZARD/HAZARD_WEATHER_HURRICANE " +
		"alert/HAZARD/HAZARD_WEATHER_MONSOON alert/HAZARD/HAZARD_WEATHER_TORNADO icon/3 icon/7 icon/10",
}

// TestVocabulary checks an item for every word of the table with the whole decoder (D8.5).
func TestVocabulary(t *testing.T) {
	type wording struct{ list, typ, subtype string }
	want := make(map[wording]string)
	for kind, words := range meant {
		for text := range strings.FieldsSeq(words) {
			part := append(strings.SplitN(text, "/", 3), "")
			w := wording{part[0], part[1], part[2]}
			if _, twice := want[w]; twice {
				t.Errorf("%s is meant twice", text)
			}
			want[w] = kind
		}
	}
	var all []wording
	for _, v := range vocabulary {
		all = append(all, wording{v.list, v.typ, ""})
	}
	for _, v := range alertwords.Terms() {
		all = append(all, wording{listAlert, v.Type, v.Subtype})
	}
	if len(meanings) != len(vocabulary) || len(want) != len(all) {
		t.Errorf("%d terms, %d of them compiled, %d in all, %d meant", len(vocabulary), len(meanings), len(all), len(want))
	}
	for _, w := range all {
		item := alert(w.typ, w.subtype)
		list := "alerts"
		switch w.list {
		case listJam:
			list = "jams"
		case listIcon:
			item = `{"uuid":"u","iconCategory":` + w.typ + `,"location":{"x":4.9,"y":52.3}}`
		}
		items, labels := mapped(t, `{"`+list+`":[`+item+`]}`)
		rows, _ := judged(t, items)
		got := dropped
		if len(rows) == 1 {
			got = rows[0].Kind.ID()
			if !mapdata.IncidentKinds().Has(rows[0].Kind) {
				t.Errorf("%v is no kind of live incidents (D10.1)", w)
			}
		}
		if kind, ok := want[w]; !ok || got != kind || (got == dropped) != (len(labels) == 1) {
			t.Errorf("%v became %q, want %q (%v); labels %q", w, got, kind, ok, labels)
		}
	}
}

func TestVocabularyWithoutKind(t *testing.T) {
	if got := compile([]term{{listJam, "A", "alert.no_such_kind"}}); len(got) != 0 {
		t.Errorf("a kind that the catalogue lacks is mapped: %v", got)
	}
}

func TestUnderstand(t *testing.T) {
	tests := []struct{ name, list, item, kind, label string }{
		{"an unknown subtype falls back", "alerts", alert("HAZARD", "HAZARD_ON_ROAD_SHARKS"), "alert.hazard", ""},
		{"another type's subtype falls back", "alerts", alert("ACCIDENT", "HAZARD_ON_ROAD_ICE"), "alert.accident", ""},
		{"no subtype", "alerts", `{"type":"POLICE"}`, "alert.police", ""},
		{"a null subtype", "alerts", `{"type":"POLICE","subtype":null}`, "alert.police", ""},
		{"a subtype that is no text", "alerts", `{"type":"POLICE","subtype":{"a":[1]}}`, "alert.police", ""},
		{"a synonym", "alerts", alert("POLICEMAN", "POLICE_VISIBLE"), "alert.police", ""},
		{"a synonym's subtype", "alerts", alert("WEATHERHAZARD", "HAZARD_ON_ROAD_POT_HOLE"), "alert.hazard.pothole", ""},
		{"an escaped type", "alerts", `{"type":"\u0041CCIDENT"}`, "alert.accident", ""},
		{"an escaped name", "alerts", `{"ty\u0070e":"ACCIDENT"}`, "alert.accident", ""},
		{"a subtype that is dropped", "alerts", alert("WEATHERHAZARD", "HAZARD_WEATHER_HEAT_WAVE"), "", "alert:HAZARD_WEATHER_HEAT_WAVE"},
		{"an unknown type", "alerts", alert("FOO", "POLICE_HIDING"), "", "alert:FOO"},
		{"words are exact", "alerts", alert("accident", ""), "", "alert:other"},
		{"names are exact", "alerts", `{"TYPE":"ACCIDENT"}`, "", "alert:other"},
		{"no type", "alerts", `{}`, "", "alert:other"},
		{"a subtype alone", "alerts", `{"subtype":"POLICE_HIDING"}`, "", "alert:other"},
		{"a type that is no text", "alerts", `{"type":["ACCIDENT"]}`, "", "alert:other"},
		{"a jam's word among alerts", "alerts", alert("NONE", ""), "", "alert:NONE"},
		{"a jam that says nothing", "jams", `{}`, "traffic.jam", ""},
		{"a jam of no type", "jams", `{"type":"NONE"}`, "traffic.jam", ""},
		{"a jam worded as an alert", "jams", alert("JAM", "JAM_HEAVY_TRAFFIC"), "traffic.jam", ""},
		{"a closure among jams", "jams", alert("ROAD_CLOSED", "ROAD_CLOSED_EVENT"), "alert.road_closed", ""},
		{"a closure among jams, of an unknown subtype", "jams", alert("ROAD_CLOSED", "ROAD_CLOSED_BY_SHARKS"), "alert.road_closed", ""},
		{"an unknown jam", "jams", `{"type":"PILE_UP"}`, "", "jam:PILE_UP"},
		{"a jam that is no text", "jams", `{"type":{}}`, "", "jam:other"},
		{"an icon", "alerts", `{"iconCategory":6}`, "traffic.jam", ""},
		{"an icon as text", "alerts", `{"iconCategory":"9"}`, "alert.construction", ""},
		{"an icon as type", "alerts", `{"type":"6"}`, "traffic.jam", ""},
		{"an icon as a type that is a number", "alerts", `{"type":1}`, "alert.accident", ""},
		{"a jam's icon", "jams", `{"iconCategory":8}`, "alert.road_closed", ""},
		{"an icon beside an unknown type", "alerts", `{"type":"INCIDENT","iconCategory":2}`, "alert.hazard.fog", ""},
		{"a known type wins over an icon", "alerts", `{"type":"POLICE","iconCategory":2}`, "alert.police", ""},
		{"a null icon", "alerts", `{"type":"FOO","iconCategory":null}`, "", "alert:FOO"},
		{"an unknown icon", "alerts", `{"iconCategory":42}`, "", "icon:42"},
		{"an unknown icon as type", "jams", `{"type":"42"}`, "", "icon:42"},
		{"an icon that is no whole number", "alerts", `{"iconCategory":6.0}`, "", "icon:other"},
		{"an icon below zero", "alerts", `{"iconCategory":-1}`, "", "icon:other"},
		{"an icon that is no number", "alerts", `{"iconCategory":[6]}`, "", "icon:other"},
		{"no object", "alerts", `null`, "", "alert:other"},
		{"a number", "jams", `7`, "", "jam:other"},
		{"an array", "jams", `[{"type":"JAM"}]`, "", "jam:other"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			items, labels := mapped(t, `{"`+tt.list+`":[`+tt.item+`]}`)
			if tt.label != "" {
				if len(items) > 0 || !slices.Equal(labels, []string{tt.label}) {
					t.Errorf("%d items, labels %q, want %q", len(items), labels, tt.label)
				}
				return
			}
			if len(items) != 1 || len(labels) > 0 || !bytes.Contains(items[0].Row, []byte(`"kind":"`+tt.kind+`"`)) {
				t.Errorf("%d items, labels %q, want %s", len(items), labels, tt.kind)
			}
		})
	}
}

// TestLabels checks that an upstream can put only short plain words into a metric.
func TestLabels(t *testing.T) {
	tests := []struct{ typ, want string }{
		{"FOO_2", "alert:FOO_2"},
		{strings.Repeat("A", 34), "alert:" + strings.Repeat("A", 34)},
		{strings.Repeat("A", 35), "alert:other"},
		{"FOO BAR", "alert:other"},
		{"FOO\n", "alert:other"},
		{"FÖÖ", "alert:other"},
		{`FOO"`, "alert:other"},
		{"foo", "alert:other"},
		{"FOO-BAR", "alert:other"},
		{"", "alert:other"},
	}
	for _, tt := range tests {
		if got := labelOf(listAlert, tt.typ); got != tt.want || len(got) > longestLabel {
			t.Errorf("labelOf(%q) = %q, want %q", tt.typ, got, tt.want)
		}
	}
}
