package refprovider

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"wayside/internal/geo"
	"wayside/internal/ingest"
)

// timeForm is that of every time on the wire: UTC, milliseconds.
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

// rawForm is how the raw form names a kind.
type rawForm struct {
	kind, subtype string
	jam           bool
}

// rawFormOf gives the raw form's words for a kind. Cameras and chargers are no incidents: it has none for them.
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

// encode makes the row's two forms. first is when it was first read.
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
	if !ok || row.Retire { // a form that cannot express a deletion leaves deleted rows out
		return made, nil
	}
	made.jam = form.jam
	made.raw, err = encodeRaw(row.ExternalID, form, row.Point, first, row.Properties)
	return made, err
}

// encodeRaw makes an item of the raw form. The row's properties stand in it as further members, unless they have the name
// of one that every item has.
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

// ownMember says whether a name is, for some reader, one that every item has: many readers do not mind case.
func ownMember(name string) bool {
	for _, own := range [...]string{"uuid", "type", "subtype", "location", "pubMillis"} {
		if strings.EqualFold(name, own) {
			return true
		}
	}
	return false
}

// encodeJSON leaves text as it is: < need not grow to six bytes here, and properties have a longest length.
func encodeJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encode row: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
