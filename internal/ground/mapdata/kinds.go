package mapdata

import (
	"strings"
	"time"
)

// Kind is a kind of entity (D2.1), as its index in the list of kinds. Indexes may change between versions, so that
// stored and sent data contain the kind's id.
type Kind uint8

// KindInfo is a kind's entry in the list.
type KindInfo struct {
	ID            string
	Group         string        // alerts, cameras, chargers or traffic
	Label         string        // English, for people
	Icon          string        // name of the icon's drawing
	Default       time.Duration // lifetime without a ttl; 0: persistent
	Longest       time.Duration // maximum; a longer ttl is reduced to it; 0: none
	MergeDistance float64       // metres within which entities of two sources are one event (D10.2); 0: never merged
	Gravity       int           // the kind of the highest gravity is shown first; the reverse of D17's rank, 1 or more, unique
	Colour        string        // of its pin and of everything else that represents it, as #rrggbb
}

const (
	minute = time.Minute
	hour   = time.Hour
	day    = 24 * time.Hour
)

// Colours of kinds. Red is for kinds that stop a driver, amber for those that slow one down; white text is readable on
// all but amber.
const (
	red    = "#c62f1c"
	amber  = "#f4ab00"
	orange = "#d9500b"
	indigo = "#3d3a96"
	blue   = "#1c5bb8"
	green  = "#0d7a3c"
)

// catalogue is the only list of kinds (D2.2). Ids are never renamed.
var catalogue = [...]KindInfo{
	{"alert.police", "alerts", "Police", "police", 60 * minute, 4 * hour, 120, 7, indigo},
	{"alert.accident", "alerts", "Accident", "accident", 2 * hour, 12 * hour, 120, 17, red},
	{"alert.road_closed", "alerts", "Road closed", "road-closed", 24 * hour, 180 * day, 120, 18, red},
	{"alert.construction", "alerts", "Road works", "construction", 7 * day, 180 * day, 120, 16, amber},
	{"alert.hazard", "alerts", "Hazard", "hazard", 2 * hour, 24 * hour, 120, 6, amber},
	{"alert.hazard.car_stopped", "alerts", "Stopped car", "car-stopped", 60 * minute, 12 * hour, 120, 10, amber},
	{"alert.hazard.object_on_road", "alerts", "Object on the road", "object", 2 * hour, 24 * hour, 120, 11, amber},
	{"alert.hazard.pothole", "alerts", "Pothole", "pothole", 7 * day, 90 * day, 120, 9, amber},
	{"alert.hazard.animal", "alerts", "Animal", "animal", 30 * minute, 12 * hour, 120, 12, amber},
	{"alert.hazard.fog", "alerts", "Fog", "fog", 2 * hour, 24 * hour, 120, 13, amber},
	{"alert.hazard.ice", "alerts", "Ice", "ice", 4 * hour, 24 * hour, 120, 15, amber},
	{"alert.hazard.flooding", "alerts", "Flooding", "flooding", 6 * hour, 14 * day, 120, 14, amber},
	{"camera.speed", "cameras", "Speed camera", "camera-speed", 0, 0, 0, 3, blue},
	{"camera.red_light", "cameras", "Red-light camera", "camera-red-light", 0, 0, 0, 4, blue},
	{"camera.avg_speed", "cameras", "Average-speed camera", "camera-average", 0, 0, 0, 5, blue},
	{"charger.supercharger", "chargers", "Fast charger", "charger-fast", 0, 0, 0, 2, green},
	{"charger.destination", "chargers", "Destination charger", "charger-destination", 0, 0, 0, 1, green},
	{"traffic.jam", "traffic", "Traffic jam", "jam", 20 * minute, 4 * hour, 300, 8, orange},
}

// KindCount is the number of kinds; every Kind is below it.
const KindCount = len(catalogue)

// ParseKind finds a kind by its exact id.
func ParseKind(id string) (Kind, bool) {
	for k := range catalogue {
		if catalogue[k].ID == id {
			return Kind(k), true
		}
	}
	return 0, false
}

// Hazard returns the kind of a danger that no more specific kind describes.
func Hazard() Kind { return kindOf("alert.hazard") }

// kindOf returns the kind of an id that is in the catalogue.
func kindOf(id string) Kind {
	k, _ := ParseKind(id)
	return k
}

// Kinds that OpenStreetMap distinguishes: of a region's cameras and chargers (D15.24).
var (
	SpeedCamera        = kindOf("camera.speed")
	RedLightCamera     = kindOf("camera.red_light")
	AverageSpeedCamera = kindOf("camera.avg_speed")
	FastCharger        = kindOf("charger.supercharger")
	SlowCharger        = kindOf("charger.destination")
)

// Kinds returns a copy of the list, in its order.
func Kinds() []KindInfo {
	all := catalogue
	return all[:]
}

// Info returns the entry of k, which must be below KindCount.
func (k Kind) Info() KindInfo { return catalogue[k] }

// ID returns the kind's id.
func (k Kind) ID() string { return catalogue[k].ID }

// Gravity returns the order of kinds where one represents several, as in a cluster: the highest is shown.
func (k Kind) Gravity() int { return catalogue[k].Gravity }

// Persistent reports whether entities of this kind live until they are retired, unless they ask for a ttl (D2.4).
func (k Kind) Persistent() bool { return catalogue[k].Default == 0 }

// Charger reports whether the rules of charger networks apply (D4.7).
func (k Kind) Charger() bool { return catalogue[k].Group == "chargers" }

// Camera reports whether the rules of cameras apply: zones, and limits that drivers may exceed.
func (k Kind) Camera() bool { return catalogue[k].Group == "cameras" }

// Detour reports whether drivers may want to take another road; such kinds are announced early.
func (k Kind) Detour() bool {
	return catalogue[k].ID == "alert.road_closed" || catalogue[k].ID == "traffic.jam"
}

// Lifetime returns how long an entity lives after it was last seen: the kind's default for ttl 0, otherwise ttl, at
// most the kind's maximum (D2.4). 0 means persistent.
func (k Kind) Lifetime(ttl time.Duration) time.Duration {
	info := catalogue[k]
	switch {
	case ttl <= 0:
		return info.Default
	case info.Longest > 0 && ttl > info.Longest:
		return info.Longest
	}
	return ttl
}

// KindSet is a set of kinds.
type KindSet uint64

// AllKinds contains every kind.
const AllKinds = KindSet(1)<<KindCount - 1

// IncidentKinds returns the kinds of live incidents, which are those that are merged (D10.1).
func IncidentKinds() KindSet {
	return kindsWhere(func(k Kind) bool { return catalogue[k].MergeDistance > 0 })
}

// CameraKinds returns the kinds of cameras.
func CameraKinds() KindSet { return kindsWhere(Kind.Camera) }

// ChargerKinds returns the kinds of chargers.
func ChargerKinds() KindSet { return kindsWhere(Kind.Charger) }

// JamKinds returns the kinds of traffic jams.
func JamKinds() KindSet {
	return kindsWhere(func(k Kind) bool { return catalogue[k].Group == "traffic" })
}

// WorksKinds returns the kinds of road works.
func WorksKinds() KindSet { return SelectKinds("alert.construction") }

// ClosureKinds returns the kinds of closed roads.
func ClosureKinds() KindSet { return SelectKinds("alert.road_closed") }

// SlipperyKinds returns the kinds of roads on which drivers go at half the speed (D15.14).
func SlipperyKinds() KindSet {
	return SelectKinds("alert.hazard.ice") | SelectKinds("alert.hazard.flooding")
}

// AccidentKinds returns the kinds of accidents.
func AccidentKinds() KindSet { return SelectKinds("alert.accident") }

func kindsWhere(match func(Kind) bool) KindSet {
	var set KindSet
	for k := range catalogue {
		if match(Kind(k)) {
			set = set.With(Kind(k))
		}
	}
	return set
}

// Has reports whether k is in the set.
func (s KindSet) Has(k Kind) bool { return s&(1<<k) != 0 }

// With returns the set with k added.
func (s KindSet) With(k Kind) KindSet { return s | 1<<k }

// SelectKinds returns the set that a reader's kind id selects: the kind and its subtypes (D2.6). It is empty for an
// unknown id.
func SelectKinds(id string) KindSet {
	k, ok := ParseKind(id)
	if !ok {
		return 0
	}
	set := KindSet(0).With(k)
	for sub := range catalogue {
		if strings.HasPrefix(catalogue[sub].ID, id+".") {
			set = set.With(Kind(sub))
		}
	}
	return set
}
