// Package alertwords says which kind an alert is by its type and subtype, as navigation services word them: the raw form of relay mode
// (D8.5) and CIFS (D17.27) share these words.
package alertwords

import "wayside/internal/mapdata"

// None is the kind of a word that is known, and for which nothing is shown.
const None = ""

// Term is what a type stands for, together with a subtype.
type Term struct {
	Type    string
	Subtype string // empty: the type alone, or with a subtype that the table lacks
	Kind    string // a kind's id, or None
}

// terms are the alerts of D8.5, worded as in the "Waze Data Feed specifications" for partners
// (support.google.com/waze/partners/answer/13458165), which its CIFS specification shares
// (developers.google.com/waze/data-feed/cifs-specification). CAMERA, CHIT_CHAT and the parking words are those that public programs tell
// of which read such answers.
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
	{"ROAD_CLOSED", "ROAD_CLOSED_CONSTRUCTION", "alert.road_closed"}, // that it is closed matters more than why
	{"ROAD_CLOSED", "ROAD_CLOSED_EVENT", "alert.road_closed"},

	{"JAM", "", "traffic.jam"},
	{"JAM", "JAM_LIGHT_TRAFFIC", "traffic.jam"}, // somebody found it worth a report; the subtype tells how bad it is
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
	{"HAZARD", "HAZARD_WEATHER_FREEZING_RAIN", "alert.hazard.ice"}, // it is ice as soon as it lies on the road
	{"HAZARD", "HAZARD_WEATHER_HAIL", "alert.hazard"},
	{"HAZARD", "HAZARD_WEATHER_HEAT_WAVE", None},            // a region's weather: nothing is at that place
	{"HAZARD", "HAZARD_WEATHER_HEAVY_RAIN", "alert.hazard"}, // water stands where it is heavy
	{"HAZARD", "HAZARD_WEATHER_HEAVY_SNOW", "alert.hazard"}, // no ice is said to be there
	{"HAZARD", "HAZARD_WEATHER_HURRICANE", "alert.hazard"},
	{"HAZARD", "HAZARD_WEATHER_MONSOON", "alert.hazard"}, // rain, which may flood but has not been said to
	{"HAZARD", "HAZARD_WEATHER_TORNADO", "alert.hazard"},

	{"CAMERA", "", None},     // cameras persist, live incidents do not (D10.1): they come by feeds
	{"CHIT_CHAT", "", None},  // people's talk
	{"MISC", "", None},       // a pin that cannot say what it warns of
	{"PARKED_ON", "", None},  // where a person parked, which is nobody's business
	{"PARKED_OFF", "", None}, // likewise
}

// Terms lists all terms.
func Terms() []Term { return terms[:len(terms):len(terms)] }

// Meaning is what an alert is here.
type Meaning struct {
	Kind  mapdata.Kind
	Shown bool   // it has a kind
	Word  string // what decided: the subtype, otherwise the type
}

// Find says what a type and a subtype stand for: both together, otherwise the type alone. known is false for a type that no term has.
func Find(typ, subtype string) (m Meaning, known bool) {
	if m, known = meanings[[2]string{typ, subtype}]; !known {
		m, known = meanings[[2]string{typ, ""}]
	}
	return m, known
}

// meanings are the terms by type and subtype. They are never changed.
var meanings = compile(terms[:])

// compile looks the kinds up. A term whose kind the catalogue lacks is left out, and so its word is unknown.
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
