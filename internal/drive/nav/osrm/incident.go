package osrm

import (
	"strconv"
	"time"

	"wayside/internal/drive/nav"
	"wayside/internal/entities/wire"
)

// eventType returns Mapbox's word for the type of an incident.
func eventType(t nav.EventType) string {
	switch t {
	case nav.RoadClosure:
		return "road_closure"
	case nav.Construction:
		return "construction"
	case nav.Congestion:
		return "congestion"
	case nav.Hazard:
		return "road_hazard"
	case nav.Accident:
		return "accident"
	}
	return "miscellaneous"
}

// The limits from which an incident is major.
const (
	majorFactor = 0.5
	majorDelay  = 5 * time.Minute
)

// impactOf returns Mapbox's word for the impact of an incident.
func impactOf(i *nav.Incident) string {
	switch {
	case i.Closed:
		return "critical"
	case i.Factor < majorFactor, i.Delay >= majorDelay:
		return "major"
	case i.Factor < 1, i.Delay > 0:
		return "minor"
	}
	return "low"
}

// appendIncidents appends the incidents of a leg, in Mapbox's form (D15.18).
func appendIncidents(dst []byte, incidents []nav.Incident) []byte {
	dst = append(dst, '[')
	for k := range incidents {
		dst = appendIncident(wire.AppendComma(dst, k > 0), &incidents[k])
	}
	return append(dst, ']')
}

func appendIncident(dst []byte, i *nav.Incident) []byte {
	dst = wire.AppendString(append(dst, `{"id":`...), i.EntityID)
	dst = append(append(dst, `,"type":"`...), eventType(i.Type)...)
	dst = wire.AppendString(append(dst, `","kind_id":`...), i.KindID)
	dst = wire.AppendString(append(dst, `,"description":`...), i.Description)
	dst = wire.AppendTime(append(dst, `,"creation_time":`...), i.Created.UnixMilli())
	if !i.Starts.IsZero() {
		dst = wire.AppendTime(append(dst, `,"start_time":`...), i.Starts.UnixMilli())
	}
	if !i.Ends.IsZero() {
		dst = wire.AppendTime(append(dst, `,"end_time":`...), i.Ends.UnixMilli())
	}
	dst = append(append(dst, `,"impact":"`...), impactOf(i)...)
	dst = strconv.AppendBool(append(dst, `","closed":`...), i.Closed)
	dst = appendMetres(append(dst, `,"length":`...), i.Length)
	dst = appendTexts(append(dst, `,"affected_road_names":`...), i.Roads)
	dst = strconv.AppendInt(append(dst, `,"geometry_index_start":`...), int64(i.First), 10)
	dst = strconv.AppendInt(append(dst, `,"geometry_index_end":`...), int64(i.Last), 10)
	return append(dst, '}')
}
