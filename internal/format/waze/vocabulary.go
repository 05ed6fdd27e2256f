package waze

import (
	"bytes"

	"wayside/internal/mapdata"
)

// Lists of the vocabulary. Two are members of a raw answer; the third is the numbers that items may carry instead.
const (
	listAlert = "alert"
	listJam   = "jam"
	listIcon  = "icon"
)

// dropped is what the vocabulary says of a word that no kind of ours stands for.
const dropped = ""

// term is one line of the vocabulary: what a word of an upstream means here.
type term struct {
	list    string
	typ     string
	subtype string // empty: the type alone, or with a subtype that the vocabulary lacks
	kind    string // a kind's id, or dropped
}

// vocabulary is the one table of D8.5.
//
// Alerts and jams are worded as in the "Waze Data Feed specifications" for partners
// (support.google.com/waze/partners/answer/13458165), which its CIFS specification shares
// (developers.google.com/waze/data-feed/cifs-specification). The sizes of jams, CAMERA, CHIT_CHAT and the parking words are
// those that public programs tell of which read such answers. Icons are numbered as iconCategory in "Incident Details" of
// TomTom's Traffic API (developer.tomtom.com). What is not explained there is not guessed at: it is unknown, which drops and
// counts it.
var vocabulary = [...]term{
	{listAlert, "ACCIDENT", "", "alert.accident"},
	{listAlert, "ACCIDENT", "ACCIDENT_MINOR", "alert.accident"},
	{listAlert, "ACCIDENT", "ACCIDENT_MAJOR", "alert.accident"},

	{listAlert, "POLICE", "", "alert.police"},
	{listAlert, "POLICE", "POLICE_VISIBLE", "alert.police"},
	{listAlert, "POLICE", "POLICE_HIDING", "alert.police"},

	{listAlert, "CONSTRUCTION", "", "alert.construction"},

	{listAlert, "ROAD_CLOSED", "", "alert.road_closed"},
	{listAlert, "ROAD_CLOSED", "ROAD_CLOSED_HAZARD", "alert.road_closed"},
	{listAlert, "ROAD_CLOSED", "ROAD_CLOSED_CONSTRUCTION", "alert.road_closed"}, // that it is closed matters more than why
	{listAlert, "ROAD_CLOSED", "ROAD_CLOSED_EVENT", "alert.road_closed"},

	{listAlert, "JAM", "", "traffic.jam"},
	{listAlert, "JAM", "JAM_LIGHT_TRAFFIC", "traffic.jam"}, // somebody found it worth a report; the subtype tells how bad it is
	{listAlert, "JAM", "JAM_MODERATE_TRAFFIC", "traffic.jam"},
	{listAlert, "JAM", "JAM_HEAVY_TRAFFIC", "traffic.jam"},
	{listAlert, "JAM", "JAM_STAND_STILL_TRAFFIC", "traffic.jam"},

	{listAlert, "HAZARD", "", "alert.hazard"},
	{listAlert, "HAZARD", "HAZARD_ON_ROAD", "alert.hazard"},
	{listAlert, "HAZARD", "HAZARD_ON_ROAD_CAR_STOPPED", "alert.hazard.car_stopped"},
	{listAlert, "HAZARD", "HAZARD_ON_ROAD_CONSTRUCTION", "alert.construction"},
	{listAlert, "HAZARD", "HAZARD_ON_ROAD_EMERGENCY_VEHICLE", "alert.hazard"},
	{listAlert, "HAZARD", "HAZARD_ON_ROAD_ICE", "alert.hazard.ice"},
	{listAlert, "HAZARD", "HAZARD_ON_ROAD_LANE_CLOSED", "alert.hazard"}, // the road itself is open
	{listAlert, "HAZARD", "HAZARD_ON_ROAD_OBJECT", "alert.hazard.object_on_road"},
	{listAlert, "HAZARD", "HAZARD_ON_ROAD_OIL", "alert.hazard"}, // slippery, but no ice
	{listAlert, "HAZARD", "HAZARD_ON_ROAD_POT_HOLE", "alert.hazard.pothole"},
	{listAlert, "HAZARD", "HAZARD_ON_ROAD_ROAD_KILL", "alert.hazard.object_on_road"}, // it lies there until somebody clears it
	{listAlert, "HAZARD", "HAZARD_ON_ROAD_TRAFFIC_LIGHT_FAULT", "alert.hazard"},
	{listAlert, "HAZARD", "HAZARD_ON_SHOULDER", "alert.hazard"},
	{listAlert, "HAZARD", "HAZARD_ON_SHOULDER_ANIMALS", "alert.hazard.animal"},
	{listAlert, "HAZARD", "HAZARD_ON_SHOULDER_CAR_STOPPED", "alert.hazard.car_stopped"},
	{listAlert, "HAZARD", "HAZARD_ON_SHOULDER_MISSING_SIGN", "alert.hazard"},
	{listAlert, "HAZARD", "HAZARD_WEATHER", "alert.hazard"},
	{listAlert, "HAZARD", "HAZARD_WEATHER_FLOOD", "alert.hazard.flooding"},
	{listAlert, "HAZARD", "HAZARD_WEATHER_FOG", "alert.hazard.fog"},
	{listAlert, "HAZARD", "HAZARD_WEATHER_FREEZING_RAIN", "alert.hazard.ice"}, // it is ice as soon as it lies on the road
	{listAlert, "HAZARD", "HAZARD_WEATHER_HAIL", "alert.hazard"},
	{listAlert, "HAZARD", "HAZARD_WEATHER_HEAT_WAVE", dropped},         // a region's weather: nothing is at that place
	{listAlert, "HAZARD", "HAZARD_WEATHER_HEAVY_RAIN", "alert.hazard"}, // water stands where it is heavy
	{listAlert, "HAZARD", "HAZARD_WEATHER_HEAVY_SNOW", "alert.hazard"}, // no ice is said to be there
	{listAlert, "HAZARD", "HAZARD_WEATHER_HURRICANE", "alert.hazard"},
	{listAlert, "HAZARD", "HAZARD_WEATHER_MONSOON", "alert.hazard"}, // rain, which may flood but has not been said to
	{listAlert, "HAZARD", "HAZARD_WEATHER_TORNADO", "alert.hazard"},

	{listAlert, "CAMERA", "", dropped},     // cameras persist, live incidents do not (D10.1): they come by feeds
	{listAlert, "CHIT_CHAT", "", dropped},  // people's talk
	{listAlert, "MISC", "", dropped},       // a pin that cannot say what it warns of
	{listAlert, "PARKED_ON", "", dropped},  // where a person parked, which is nobody's business
	{listAlert, "PARKED_OFF", "", dropped}, // likewise

	{listJam, "", "", "traffic.jam"}, // what stands among jams and says nothing else is one
	{listJam, "NONE", "", "traffic.jam"},
	{listJam, "SMALL", "", "traffic.jam"},
	{listJam, "MEDIUM", "", "traffic.jam"},
	{listJam, "LARGE", "", "traffic.jam"},
	{listJam, "HUGE", "", "traffic.jam"},

	{listIcon, "0", "", dropped}, // unknown to the upstream itself
	{listIcon, "1", "", "alert.accident"},
	{listIcon, "2", "", "alert.hazard.fog"},
	{listIcon, "3", "", "alert.hazard"}, // dangerous conditions
	{listIcon, "4", "", dropped},        // rain of any strength: a driver sees it
	{listIcon, "5", "", "alert.hazard.ice"},
	{listIcon, "6", "", "traffic.jam"},
	{listIcon, "7", "", "alert.hazard"}, // a closed lane: the road itself is open
	{listIcon, "8", "", "alert.road_closed"},
	{listIcon, "9", "", "alert.construction"},
	{listIcon, "10", "", "alert.hazard"}, // wind, which a driver does not see
	{listIcon, "11", "", "alert.hazard.flooding"},
	{listIcon, "14", "", "alert.hazard.car_stopped"},
}

// synonym gives the vocabulary's word for a type that upstreams name in two ways, with the same subtypes.
func synonym(typ string) string {
	switch typ {
	case "WEATHERHAZARD":
		return "HAZARD"
	case "POLICEMAN":
		return "POLICE"
	}
	return typ
}

// word is what a term is found by.
type word struct{ list, typ, subtype string }

// meaning is what an item is here: a kind, or nothing that is shown.
type meaning struct {
	kind  mapdata.Kind
	shown bool
}

// meanings is the vocabulary by its words. It is never changed.
var meanings = compile(vocabulary[:])

// compile looks the kinds up. A term whose kind the catalogue lacks is left out, and so its word is unknown.
func compile(terms []term) map[word]meaning {
	compiled := make(map[word]meaning, len(terms))
	for _, t := range terms {
		kind, ok := mapdata.ParseKind(t.kind)
		if ok || t.kind == dropped {
			compiled[word{t.list, t.typ, t.subtype}] = meaning{kind, ok}
		}
	}
	return compiled
}

// understand finds what an item of a list is from the texts of its members, empty where one is absent. A type that is known
// wins over an icon; a type of digits is an icon. label is empty when the item is shown, and otherwise names what was not
// understood or has no kind.
func understand(list string, typ, subtype, icon []byte) (kind mapdata.Kind, label string) {
	if isNumber(typ) {
		typ, icon = nil, typ
	}
	if len(typ) > 0 || len(icon) == 0 {
		// From the exact word to the more general one. A jam may be worded as alerts are.
		name := synonym(string(typ))
		for _, w := range [...]word{{listAlert, name, string(subtype)}, {listAlert, name, ""}, {list, name, ""}} {
			if m, known := meanings[w]; known {
				return m.orLabel(list, w.mostExact())
			}
		}
	}
	if len(icon) > 0 {
		return meanings[word{list: listIcon, typ: string(icon)}].orLabel(listIcon, string(icon))
	}
	return 0, labelOf(list, string(typ))
}

// AlertKind gives the kind of an alert's type and subtype, for other formats that word alerts in the same way (D17.27), and the word that
// decided: the subtype, otherwise the type. The kind is empty for what is known and has none here, and for what is not known.
func AlertKind(typ, subtype string) (kind, decided string) {
	for _, w := range [...]word{{listAlert, typ, subtype}, {listAlert, typ, ""}} {
		if m, known := meanings[w]; known {
			if m.shown {
				kind = m.kind.ID()
			}
			return kind, w.mostExact()
		}
	}
	return "", typ
}

// mostExact is the part of the word that says the most.
func (w word) mostExact() string {
	if w.subtype != "" {
		return w.subtype
	}
	return w.typ
}

// orLabel gives the kind of what is shown, and a label for what is not.
func (m meaning) orLabel(list, text string) (mapdata.Kind, string) {
	if m.shown {
		return m.kind, ""
	}
	return 0, labelOf(list, text)
}

func isNumber(text []byte) bool {
	return len(text) > 0 && len(bytes.TrimLeft(text, "0123456789")) == 0
}

// longestLabel bounds a label, its list included, in bytes.
const longestLabel = 40

// labelOf makes a label for a metric of an upstream's own word, of which nothing but plain words is kept: labels outlive
// what an upstream says.
func labelOf(list, text string) string {
	if len(text) == 0 || len(list)+1+len(text) > longestLabel {
		return list + ":other"
	}
	for _, c := range []byte(text) {
		if c != '_' && (c < 'A' || c > 'Z') && (c < '0' || c > '9') {
			return list + ":other"
		}
	}
	return list + ":" + text
}
