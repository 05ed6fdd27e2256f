package waze

import (
	"bytes"

	"wayside/internal/format/alertwords"
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
	list string
	typ  string
	kind string // a kind's id, or dropped
}

// vocabulary is what the table of D8.5 has beside alerts, whose words package alertwords shares with other formats.
//
// Jams are worded as in the "Waze Data Feed specifications" for partners (support.google.com/waze/partners/answer/13458165);
// their sizes are those that public programs tell of which read such answers. Icons are numbered as iconCategory in "Incident
// Details" of TomTom's Traffic API (developer.tomtom.com). What is not explained there is not guessed at: it is unknown, which
// drops and counts it.
var vocabulary = [...]term{
	{listJam, "", "traffic.jam"}, // what stands among jams and says nothing else is one
	{listJam, "NONE", "traffic.jam"},
	{listJam, "SMALL", "traffic.jam"},
	{listJam, "MEDIUM", "traffic.jam"},
	{listJam, "LARGE", "traffic.jam"},
	{listJam, "HUGE", "traffic.jam"},

	{listIcon, "0", dropped}, // unknown to the upstream itself
	{listIcon, "1", "alert.accident"},
	{listIcon, "2", "alert.hazard.fog"},
	{listIcon, "3", "alert.hazard"}, // dangerous conditions
	{listIcon, "4", dropped},        // rain of any strength: a driver sees it
	{listIcon, "5", "alert.hazard.ice"},
	{listIcon, "6", "traffic.jam"},
	{listIcon, "7", "alert.hazard"}, // a closed lane: the road itself is open
	{listIcon, "8", "alert.road_closed"},
	{listIcon, "9", "alert.construction"},
	{listIcon, "10", "alert.hazard"}, // wind, which a driver does not see
	{listIcon, "11", "alert.hazard.flooding"},
	{listIcon, "14", "alert.hazard.car_stopped"},
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
type word struct{ list, typ string }

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
			compiled[word{t.list, t.typ}] = meaning{kind, ok}
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
		name := synonym(string(typ))
		if m, known := alertwords.Find(name, string(subtype)); known { // a jam may be worded as alerts are
			return meaning{m.Kind, m.Shown}.orLabel(list, m.Word)
		}
		if m, known := meanings[word{list, name}]; known {
			return m.orLabel(list, name)
		}
	}
	if len(icon) > 0 {
		return meanings[word{list: listIcon, typ: string(icon)}].orLabel(listIcon, string(icon))
	}
	return 0, labelOf(list, string(typ))
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
