package mapdata

import "slices"

// Property is a well-known property of entities, as its index in the list. Properties are the provider's (D3.3):
// properties that are not in the list, or do not fit it, are stored and served as they were sent. Readers such as the
// page for cars show properties that are in the list and fit.
type Property uint8

// PropertyType is the form of a property's value.
type PropertyType string

// Types of properties.
const (
	PropertyText   PropertyType = "text"
	PropertyTexts  PropertyType = "texts" // a list of texts
	PropertyNumber PropertyType = "number"
	PropertyBool   PropertyType = "boolean"
	PropertyTime   PropertyType = "time" // RFC 3339
	PropertyEnum   PropertyType = "enum"
)

// PropertyInfo is a property's entry in the list.
type PropertyInfo struct {
	Name    string
	Kinds   KindSet // kinds whose entities have it; it has no meaning for others
	Type    PropertyType
	Min     float64  // of a number
	Max     float64  // of a number
	Unit    string   // of a number; empty: a count or a grade
	Values  []string // of an enum
	Meaning string   // English, for providers
}

// Sets of kinds that have properties in common.
var (
	everyKind   = AllKinds
	roadKinds   = kindsWhere(func(k Kind) bool { return !k.Charger() })
	eventKinds  = IncidentKinds()
	alertKinds  = kindsWhere(func(k Kind) bool { return catalogue[k].Group == "alerts" })
	jamKinds    = JamKinds()
	worksKinds  = WorksKinds()
	cameraKinds = CameraKinds()
	chargeKinds = ChargerKinds()
)

// Ranges of numbers.
const (
	maxBearing = 360     // degrees
	minLimit   = 5       // km/h
	maxLimit   = 200     // km/h
	maxSpeed   = 300     // km/h
	maxLanes   = 20      // lanes of a road
	maxLevel   = 5       // of a jam
	maxDelay   = 86_400  // seconds
	maxLength  = 500_000 // metres
	maxPower   = 5000    // kW
	maxPlaces  = 10_000  // charging points of one place
)

// properties is the only list of well-known properties. The names are those of D15.14, D15.15 and D17.9 where these have one.
var properties = [...]PropertyInfo{
	{Name: "street", Kinds: everyKind, Type: PropertyText, Meaning: "name of the street, otherwise number of the road"},
	{Name: "city", Kinds: everyKind, Type: PropertyText, Meaning: "town"},
	{Name: "description", Kinds: everyKind, Type: PropertyText, Meaning: "a sentence for drivers"},
	{Name: "url", Kinds: everyKind, Type: PropertyText, Meaning: "page about it; not shown in cars"},
	{
		Name: "bearing", Kinds: roadKinds, Type: PropertyNumber, Max: maxBearing, Unit: "°",
		Meaning: "direction of the traffic that is concerned, clockwise from north",
	},
	{Name: "direction", Kinds: roadKinds, Type: PropertyText, Meaning: "that direction in words, such as northbound"},
	{Name: "both_directions", Kinds: roadKinds, Type: PropertyBool, Meaning: "both directions of the road are concerned"},
	{Name: "maxspeed_kmh", Kinds: cameraKinds, Type: PropertyNumber, Min: minLimit, Max: maxLimit, Unit: "km/h", Meaning: "speed limit that the camera enforces"},
	{Name: "speed_limit_kmh", Kinds: eventKinds, Type: PropertyNumber, Min: minLimit, Max: maxLimit, Unit: "km/h", Meaning: "temporary speed limit"},
	{Name: "lanes_closed", Kinds: eventKinds, Type: PropertyNumber, Max: maxLanes, Meaning: "number of closed lanes"},
	{Name: "closed", Kinds: worksKinds, Type: PropertyBool, Meaning: "the road is closed"},
	{Name: "detour", Kinds: eventKinds, Type: PropertyBool, Meaning: "there is a signposted detour"},
	{Name: "severity", Kinds: eventKinds, Type: PropertyEnum, Values: []string{"low", "medium", "high"}, Meaning: "how much traffic is disturbed"},
	{Name: "level", Kinds: jamKinds, Type: PropertyNumber, Max: maxLevel, Meaning: "0 free flow to 4 standing traffic, 5 blocked"},
	{Name: "speed_kmh", Kinds: eventKinds, Type: PropertyNumber, Max: maxSpeed, Unit: "km/h", Meaning: "speed of the traffic"},
	{Name: "delay_seconds", Kinds: eventKinds, Type: PropertyNumber, Max: maxDelay, Unit: "s", Meaning: "time that it costs"},
	{Name: "length_metres", Kinds: eventKinds, Type: PropertyNumber, Max: maxLength, Unit: "m", Meaning: "length of the jam or of the works"},
	{Name: "starts_at", Kinds: eventKinds, Type: PropertyTime, Meaning: "when it begins"},
	{Name: "ends_at", Kinds: eventKinds, Type: PropertyTime, Meaning: "until when it is expected to last"},
	{Name: "subtype", Kinds: alertKinds | jamKinds, Type: PropertyText, Meaning: "the source's own, more exact type"},
	{Name: "source_type", Kinds: alertKinds | jamKinds, Type: PropertyText, Meaning: "the source's word that decided on the kind"},
	{Name: "end_node", Kinds: jamKinds, Type: PropertyText, Meaning: "where the jam ends"},
	{Name: "name", Kinds: chargeKinds, Type: PropertyText, Meaning: "name of the place"},
	{Name: "operator", Kinds: chargeKinds, Type: PropertyText, Meaning: "name of the operator"},
	{Name: "network", Kinds: chargeKinds, Type: PropertyText, Meaning: "operator's id, by which readers choose chargers"},
	{Name: "postcode", Kinds: chargeKinds, Type: PropertyText, Meaning: "postal code"},
	{Name: "country", Kinds: chargeKinds, Type: PropertyText, Meaning: "country"},
	{Name: "max_kw", Kinds: chargeKinds, Type: PropertyNumber, Max: maxPower, Unit: "kW", Meaning: "greatest power of a charging point"},
	{Name: "evses", Kinds: chargeKinds, Type: PropertyNumber, Max: maxPlaces, Meaning: "number of charging points (stalls)"},
	{Name: "available", Kinds: chargeKinds, Type: PropertyNumber, Max: maxPlaces, Meaning: "how many of them are free"},
	{Name: "occupied", Kinds: chargeKinds, Type: PropertyNumber, Max: maxPlaces, Meaning: "how many are in use"},
	{Name: "out_of_order", Kinds: chargeKinds, Type: PropertyNumber, Max: maxPlaces, Meaning: "how many do not work"},
	{Name: "unknown", Kinds: chargeKinds, Type: PropertyNumber, Max: maxPlaces, Meaning: "how many have no known state"},
	{Name: "status_at", Kinds: chargeKinds, Type: PropertyTime, Meaning: "when these states were true"},
	{Name: "plugs", Kinds: chargeKinds, Type: PropertyTexts, Meaning: "types of plugs, each once"},
	{Name: "price", Kinds: chargeKinds, Type: PropertyText, Meaning: "price in words, such as 0.59 €/kWh"},
	{Name: "opening_hours", Kinds: chargeKinds, Type: PropertyText, Meaning: "opening hours, in words or as OpenStreetMap writes them: 24/7"},
}

// PropertyCount is the number of well-known properties; every Property is below it.
const PropertyCount = len(properties)

// longestName is an upper bound of the lengths of names that ParseProperty looks up.
const longestName = 16

// propertiesByLength holds the properties by the length of their names, because the properties of each row are looked
// up in it.
var propertiesByLength = func() (all [longestName][]Property) {
	for p := range properties {
		n := len(properties[p].Name)
		all[n] = append(all[n], Property(p))
	}
	return all
}()

// propertiesOfKind holds the properties of each kind.
var propertiesOfKind = func() (all [KindCount]PropertySet) {
	for p := range properties {
		for k := range all {
			if properties[p].Kinds.Has(Kind(k)) {
				all[k] |= PropertySet(1) << p
			}
		}
	}
	return all
}()

// ParseProperty finds a well-known property by its exact name.
func ParseProperty(name []byte) (Property, bool) {
	if len(name) >= longestName {
		return 0, false
	}
	for _, p := range propertiesByLength[len(name)] {
		if properties[p].Name == string(name) {
			return p, true
		}
	}
	return 0, false
}

// Properties returns a copy of the list, in its order.
func Properties() []PropertyInfo {
	all := properties
	return all[:]
}

// Name returns the property's name.
func (p Property) Name() string { return properties[p].Name }

// Type returns the form of the property's value.
func (p Property) Type() PropertyType { return properties[p].Type }

// Info returns the entry of p, which must be below PropertyCount.
func (p Property) Info() PropertyInfo { return properties[p] }

// InRange reports whether the property may have the number as its value.
func (p Property) InRange(v float64) bool { return v >= properties[p].Min && v <= properties[p].Max }

// Names reports whether a text is one of the values of an enum.
func (p Property) Names(text string) bool { return slices.Contains(properties[p].Values, text) }

// PropertySet is a set of well-known properties.
type PropertySet uint64

// PropertiesOf returns the properties that entities of a kind have.
func PropertiesOf(k Kind) PropertySet { return propertiesOfKind[k] }

// Has reports whether p is in the set.
func (s PropertySet) Has(p Property) bool { return s&(1<<p) != 0 }

// With returns the set with p added.
func (s PropertySet) With(p Property) PropertySet { return s | 1<<p }

// Codes of warnings: a row was accepted, but a well-known property of it is not shown to drivers. Warnings are stored
// and listed by their code, like rejections.
const (
	WarnPropertyType  = "property_wrong_type"
	WarnPropertyRange = "property_out_of_range"
)

// IsWarning reports whether a code of a Rejection is that of a warning, whose rows were accepted.
func IsWarning(code string) bool { return code == WarnPropertyType || code == WarnPropertyRange }
