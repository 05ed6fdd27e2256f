package refprovider

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"wayside/internal/feeds/ingest"
	"wayside/internal/ground/geo"
)

// timeForm is the layout of every time in answers: UTC, milliseconds.
const timeForm = "2006-01-02T15:04:05.000Z"

// entity is a v1 entity.
type entity struct {
	ExternalID string          `json:"external_id"`
	Kind       string          `json:"kind"`
	Lat        float64         `json:"lat"`
	Lng        float64         `json:"lng"`
	Properties json.RawMessage `json:"properties"`
	TTLSeconds int64           `json:"ttl_seconds,omitempty"`
	ObservedAt string          `json:"observed_at,omitempty"`
}

// position is a place in the raw form.
type position struct {
	X float64 `json:"x"` // longitude
	Y float64 `json:"y"` // latitude
}

// rawForm is the name of a kind in the raw form.
type rawForm struct {
	kind, subtype string
	jam           bool
}

// rawFormOf returns the raw form's name of a kind. Cameras and chargers are not incidents, so that it has none for them.
func rawFormOf(kind string) (rawForm, bool) {
	switch kind {
	case "alert.police":
		return rawForm{kind: "POLICE"}, true
	case "alert.accident":
		return rawForm{kind: "ACCIDENT"}, true
	case "alert.road_closed":
		return rawForm{kind: "ROAD_CLOSED"}, true
	case "alert.construction":
		return rawForm{kind: "CONSTRUCTION"}, true
	case "alert.hazard":
		return rawForm{kind: "HAZARD"}, true
	case "alert.hazard.car_stopped":
		return rawForm{kind: "HAZARD", subtype: "HAZARD_ON_SHOULDER_CAR_STOPPED"}, true
	case "alert.hazard.object_on_road":
		return rawForm{kind: "HAZARD", subtype: "HAZARD_ON_ROAD_OBJECT"}, true
	case "alert.hazard.pothole":
		return rawForm{kind: "HAZARD", subtype: "HAZARD_ON_ROAD_POT_HOLE"}, true
	case "alert.hazard.animal":
		return rawForm{kind: "HAZARD", subtype: "HAZARD_ON_SHOULDER_ANIMALS"}, true
	case "alert.hazard.fog":
		return rawForm{kind: "HAZARD", subtype: "HAZARD_WEATHER_FOG"}, true
	case "alert.hazard.ice":
		return rawForm{kind: "HAZARD", subtype: "HAZARD_ON_ROAD_ICE"}, true
	case "alert.hazard.flooding":
		return rawForm{kind: "HAZARD", subtype: "HAZARD_WEATHER_FLOOD"}, true
	case "traffic.jam":
		return rawForm{kind: "JAM", jam: true}, true
	}
	return rawForm{}, false
}

// encode encodes the row in both forms. first is when the row was first read.
func encode(row *ingest.Row, first time.Time) (Row, error) {
	kind := row.Kind.ID()
	e := entity{
		ExternalID: row.ExternalID, Kind: kind, Lat: row.Point.Lat, Lng: row.Point.Lng,
		Properties: row.Properties, TTLSeconds: int64(row.TTL / time.Second),
	}
	if !row.ObservedAt.IsZero() {
		e.ObservedAt = row.ObservedAt.Format(timeForm)
		first = row.ObservedAt
	}
	made := Row{place: row.Point.Vector()}
	var err error
	if made.entity, err = encodeJSON(e); err != nil {
		return Row{}, err
	}
	form, ok := rawFormOf(kind)
	if !ok || row.Retire { // deleted rows are left out, because this form cannot express a deletion
		return made, nil
	}
	made.jam = form.jam
	made.raw, err = encodeRaw(row.ExternalID, form, row.Point, first, row.Properties)
	return made, err
}

// encodeRaw encodes an item of the raw form. The row's properties become further members, unless they have the name of a member
// that every item has.
func encodeRaw(id string, form rawForm, at geo.Point, published time.Time, properties []byte) ([]byte, error) {
	members := map[string]any{
		"uuid": id, "type": form.kind, "subtype": form.subtype,
		"location": position{X: at.Lng, Y: at.Lat}, "pubMillis": published.UnixMilli(),
	}
	var more map[string]json.RawMessage
	if err := json.Unmarshal(properties, &more); err != nil {
		return nil, fmt.Errorf("read properties: %w", err)
	}
	for name, value := range more {
		if !ownMember(name) {
			members[name] = value
		}
	}
	return encodeJSON(members)
}

// ownMember reports whether a reader may take a name for that of a member that every item has. Many readers ignore case.
func ownMember(name string) bool {
	for _, own := range [...]string{"uuid", "type", "subtype", "location", "pubMillis"} {
		if strings.EqualFold(name, own) {
			return true
		}
	}
	return false
}

// encodeJSON encodes v without escaping HTML: the escapes would take six bytes for each <, and properties have a maximum length.
func encodeJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encode row: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
