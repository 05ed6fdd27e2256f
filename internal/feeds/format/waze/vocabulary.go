package waze

import (
	"bytes"

	"wayside/internal/feeds/format/alertwords"
	"wayside/internal/ground/mapdata"
)

// Lists of the vocabulary. Two are members of a raw answer; the third is the numbers that items may have instead of words.
const (
	listAlert = "alert"
	listJam   = "jam"
	listIcon  = "icon"
)

// dropped marks a word of the vocabulary that has no kind here.
const dropped = ""

// term is one line of the vocabulary: a word of an upstream and its kind.
type term struct {
	list string
	typ  string
	kind string // a kind's id, or dropped
}

// vocabulary is the table of D8.5 without the alerts, whose words package alertwords shares with other formats.
//
// Jams are worded as in the "Waze Data Feed specifications" for partners (support.google.com/waze/partners/answer/13458165); their sizes
// come from public programs that read such answers. Icons are numbered as iconCategory in "Incident Details" of TomTom's Traffic API
// (developer.tomtom.com). The table does not guess at words that these sources do not explain: they are unknown, and their items are
// dropped and counted.
var vocabulary = [...]term{
	{listJam, "", "traffic.jam"}, // an entry of the jams without a type is a jam
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

// synonym returns the vocabulary's word for a type that upstreams name in two ways, with the same subtypes.
func synonym(typ string) string {
	switch typ {
	case "WEATHERHAZARD":
		return "HAZARD"
	case "POLICEMAN":
		return "POLICE"
	}
	return typ
}

// word is the key of a term.
type word struct{ list, typ string }

// meaning is the kind of an item, or that none is shown.
type meaning struct {
	kind  mapdata.Kind
	shown bool
}

// meanings holds the vocabulary by its words. It is read-only.
var meanings = compile(vocabulary[:])

// compile resolves the kinds of the terms. It leaves out a term whose kind the catalogue lacks, so that its word is unknown.
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

// understand determines the kind of an item of a list from the texts of its members, which are empty if absent. A known type takes
// precedence over an icon; a type that consists of digits is an icon. label is empty when the item is shown, and otherwise names the word
// that is unknown or has no kind.
func understand(list string, typ, subtype, icon []byte) (kind mapdata.Kind, label string) {
	if isNumber(typ) {
		typ, icon = nil, typ
	}
	if len(typ) > 0 || len(icon) == 0 {
		name := synonym(string(typ))
		if m, known := alertwords.Find(name, string(subtype)); known { // a jam may be worded like an alert
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

// orLabel returns the kind of a meaning that is shown, and a label for one that is not.
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

// labelOf returns a metric's label for a word of an upstream. It keeps only plain words, because labels outlive the answer.
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
