package format

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"wayside/internal/ground/mapdata"
)

//go:embed kinds.json
var kindsJSON []byte

// Values that stand for a kind that depends on more than a word.
const (
	Lanes   = "@lanes"   // alert.construction where there are works, otherwise alert.hazard (D17.24, D17.33)
	Charger = "@charger" // by power (D17.10)
)

// RoadClosed is the kind of an entry that closes a road, whichever member of a document states it.
const RoadClosed = "alert.road_closed"

// Words maps foreign words to kinds: the id of a kind, Lanes, Charger, or an empty string for a known word that has no
// kind here.
type Words map[string]string

// Kind returns the kind of a word, or otherwise if the table lacks the word.
func (w Words) Kind(word, otherwise string) string {
	if kind, known := w[word]; known {
		return kind
	}
	return otherwise
}

// Tables map foreign words to kinds. kinds.json contains them, as D17 states them.
type Tables struct {
	Rank     []string                     `json:"rank"` // kinds, the gravest first
	Severity map[string]map[string]string `json:"severity"`
	WZDx     struct {
		EventType Words `json:"event_type"`
		Closed    Words `json:"vehicle_impact_closed"`
	} `json:"wzdx"`
	DATEX2 struct {
		Record map[string]RecordWords `json:"record"` // by the type of a situation record
	} `json:"datex2"`
	CIFS struct {
		Type    Words `json:"type"`
		Subtype Words `json:"subtype"`
	} `json:"cifs"`
	Open511 struct {
		EventType Words `json:"event_type"`
		Subtypes  Words `json:"event_subtypes"`
	} `json:"open511"`
	Autobahn struct {
		List        Words  `json:"list"`
		DisplayType Words  `json:"display_type"`
		Blocked     string `json:"blocked"`
		Abnormal    string `json:"abnormalTrafficType"`
	} `json:"autobahn"`
	Digitraffic struct {
		SituationType    Words    `json:"situationType"`
		AnnouncementType Words    `json:"trafficAnnouncementType"`
		Closed           []string `json:"restriction_closed"`
	} `json:"digitraffic"`
	TraFF struct {
		Event    Words       `json:"event"`
		Class    Words       `json:"class"`
		Contains [][2]string `json:"contains"` // a part of an event's type, and the kind
	} `json:"traff"`
	Overpass struct {
		Enforcement Words    `json:"enforcement"`
		DCSockets   []string `json:"dc_sockets"`
	} `json:"overpass"`
	Plugs struct {
		OCPI   map[string]string `json:"ocpi"`
		DATEX2 map[string]string `json:"datex2"`
		Else   string            `json:"else"`
	} `json:"plugs"`
	EVSEStatus struct {
		Available  []string `json:"available"`
		Occupied   []string `json:"occupied"`
		OutOfOrder []string `json:"out_of_order"`
		Gone       []string `json:"gone"`
	} `json:"evse_status"`
}

// RecordWords maps the words of one type of situation record to kinds.
type RecordWords struct {
	By    string `json:"by"`   // the element whose word decides; empty: Else for all
	Also  string `json:"also"` // another element, used where that one is absent
	Kinds Words  `json:"kinds"`
	Else  string `json:"else"`
}

// tables are parsed once and read-only.
var tables = sync.OnceValues(func() (*Tables, error) {
	t := new(Tables)
	if err := json.Unmarshal(kindsJSON, t); err != nil {
		return nil, fmt.Errorf("kinds.json: %w", err)
	}
	return t, nil
})

// Vocabulary returns the tables. Callers must not change them. They always parse, as a test verifies.
func Vocabulary() *Tables {
	t, err := tables()
	if err != nil {
		return new(Tables)
	}
	return t
}

// LanesKind resolves Lanes to the kind that it stands for with or without works, and returns any other kind unchanged.
func LanesKind(kind string, works bool) string {
	switch {
	case kind != Lanes:
		return kind
	case works:
		return "alert.construction"
	}
	return mapdata.Hazard().ID()
}

// Graver reports whether kind a comes before kind b in Rank. An empty kind comes after all.
func (t *Tables) Graver(a, b string) bool {
	if a == "" || b == "" {
		return a != ""
	}
	return slices.Index(t.Rank, a) < slices.Index(t.Rank, b)
}
