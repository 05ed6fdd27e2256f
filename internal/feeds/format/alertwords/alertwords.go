// Package alertwords maps the type and the subtype of an alert, as navigation services word them, to a kind. The raw
// form of relay mode (D8.5) and CIFS (D17.27) share these words.
package alertwords

import "wayside/internal/ground/mapdata"

// None is the kind of a known word for which nothing is shown.
const None = ""

// Term maps a type, alone or together with a subtype, to a kind.
type Term struct {
	Type    string
	Subtype string // empty: the type alone, or with a subtype that the table lacks
	Kind    string // a kind's id, or None
}

// terms are the alerts of D8.5, worded as in the "Waze Data Feed specifications" for partners
// (support.google.com/waze/partners/answer/13458165), which its CIFS specification shares
// (developers.google.com/waze/data-feed/cifs-specification). CAMERA, CHIT_CHAT and the parking words come from public
// programs that read such answers.
var terms = [...]Term{
	{"ACCIDENT", "", "alert.accident"},
	{"ACCIDENT", "ACCIDENT_MINOR", "alert.accident"},
	{"ACCIDENT", "ACCIDENT_MAJOR", "alert.accident"},

	{"POLICE", "", "alert.police"},
	{"POLICE", "POLICE_VISIBLE", "alert.police"},
	{"POLICE", "POLICE_HIDING", "alert.police"},

	{"CONSTRUCTION", "", "alert.construction"},

	{"ROAD_CLOSED", "", "alert.road_closed"},
	{"ROAD_CLOSED", "ROAD_CLOSED_HAZARD", "alert.road_closed"},
	{"ROAD_CLOSED", "ROAD_CLOSED_CONSTRUCTION", "alert.road_closed"}, // the closure matters more than its reason
	{"ROAD_CLOSED", "ROAD_CLOSED_EVENT", "alert.road_closed"},

	{"JAM", "", "traffic.jam"},
	{"JAM", "JAM_LIGHT_TRAFFIC", "traffic.jam"}, // somebody found it worth a report; the subtype states how bad it is
	{"JAM", "JAM_MODERATE_TRAFFIC", "traffic.jam"},
	{"JAM", "JAM_HEAVY_TRAFFIC", "traffic.jam"},
	{"JAM", "JAM_STAND_STILL_TRAFFIC", "traffic.jam"},

	{"HAZARD", "", "alert.hazard"},
	{"HAZARD", "HAZARD_ON_ROAD", "alert.hazard"},
	{"HAZARD", "HAZARD_ON_ROAD_CAR_STOPPED", "alert.hazard.car_stopped"},
	{"HAZARD", "HAZARD_ON_ROAD_CONSTRUCTION", "alert.construction"},
	{"HAZARD", "HAZARD_ON_ROAD_EMERGENCY_VEHICLE", "alert.hazard"},
	{"HAZARD", "HAZARD_ON_ROAD_ICE", "alert.hazard.ice"},
	{"HAZARD", "HAZARD_ON_ROAD_LANE_CLOSED", "alert.hazard"}, // the road itself is open
	{"HAZARD", "HAZARD_ON_ROAD_OBJECT", "alert.hazard.object_on_road"},
	{"HAZARD", "HAZARD_ON_ROAD_OIL", "alert.hazard"}, // slippery, but no ice
	{"HAZARD", "HAZARD_ON_ROAD_POT_HOLE", "alert.hazard.pothole"},
	{"HAZARD", "HAZARD_ON_ROAD_ROAD_KILL", "alert.hazard.object_on_road"}, // it lies there until somebody clears it
	{"HAZARD", "HAZARD_ON_ROAD_TRAFFIC_LIGHT_FAULT", "alert.hazard"},
	{"HAZARD", "HAZARD_ON_SHOULDER", "alert.hazard"},
	{"HAZARD", "HAZARD_ON_SHOULDER_ANIMALS", "alert.hazard.animal"},
	{"HAZARD", "HAZARD_ON_SHOULDER_CAR_STOPPED", "alert.hazard.car_stopped"},
	{"HAZARD", "HAZARD_ON_SHOULDER_MISSING_SIGN", "alert.hazard"},
	{"HAZARD", "HAZARD_WEATHER", "alert.hazard"},
	{"HAZARD", "HAZARD_WEATHER_FLOOD", "alert.hazard.flooding"},
	{"HAZARD", "HAZARD_WEATHER_FOG", "alert.hazard.fog"},
	{"HAZARD", "HAZARD_WEATHER_FREEZING_RAIN", "alert.hazard.ice"}, // freezing rain turns into ice as soon as it lies on the road
	{"HAZARD", "HAZARD_WEATHER_HAIL", "alert.hazard"},
	{"HAZARD", "HAZARD_WEATHER_HEAT_WAVE", None},            // the weather of a region, not of a place
	{"HAZARD", "HAZARD_WEATHER_HEAVY_RAIN", "alert.hazard"}, // heavy rain leaves standing water
	{"HAZARD", "HAZARD_WEATHER_HEAVY_SNOW", "alert.hazard"}, // snow alone is not reported as ice
	{"HAZARD", "HAZARD_WEATHER_HURRICANE", "alert.hazard"},
	{"HAZARD", "HAZARD_WEATHER_MONSOON", "alert.hazard"}, // rain that may flood the road, without a report that it does
	{"HAZARD", "HAZARD_WEATHER_TORNADO", "alert.hazard"},

	{"CAMERA", "", None},     // cameras persist and live incidents do not (D10.1); cameras come by feeds
	{"CHIT_CHAT", "", None},  // chat messages of drivers
	{"MISC", "", None},       // the type does not state what it warns of
	{"PARKED_ON", "", None},  // where a person parked is private
	{"PARKED_OFF", "", None}, // likewise private
}

// Terms lists all terms.
func Terms() []Term { return terms[:len(terms):len(terms)] }

// Meaning is the result of Find: the kind of an alert, and the word that decided.
type Meaning struct {
	Kind  mapdata.Kind
	Shown bool   // false for a word that is known and has no kind
	Word  string // the word that decided: the subtype, otherwise the type
}

// Find looks up the meaning of a type and a subtype: of both together, otherwise of the type alone. known is false for
// a type that no term has.
func Find(typ, subtype string) (m Meaning, known bool) {
	if m, known = meanings[[2]string{typ, subtype}]; !known {
		m, known = meanings[[2]string{typ, ""}]
	}
	return m, known
}

// meanings holds the terms by type and subtype. It is read-only.
var meanings = compile(terms[:])

// compile resolves the kinds of the terms. It leaves out a term whose kind the catalogue lacks, so that its word is
// unknown.
func compile(terms []Term) map[[2]string]Meaning {
	compiled := make(map[[2]string]Meaning, len(terms))
	for _, t := range terms {
		kind, ok := mapdata.ParseKind(t.Kind)
		word := t.Subtype
		if word == "" {
			word = t.Type
		}
		if ok || t.Kind == None {
			compiled[[2]string{t.Type, t.Subtype}] = Meaning{kind, ok, word}
		}
	}
	return compiled
}
