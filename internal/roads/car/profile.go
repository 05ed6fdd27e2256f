package car

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
)

// Profile holds the rules for where a car may drive, and the costs.
type Profile struct {
	data       data
	vocabulary vocabulary
	keys       keys

	never        []valueSet // ways with one of these values are never roads
	implied      []valueSet // ways with one of these values are one-way unless tagged otherwise
	construction map[string]bool
	access       map[string]accessValue
	oneway       map[string]onewayValue
	barrierOpen  map[string]bool
	width        []widthFactor
}

// valueSet is a key with some of its values.
type valueSet struct {
	key    slot
	values map[string]bool
}

// widthFactor is the factor for two-way roads narrower than width.
type widthFactor struct{ width, factor float64 }

// keys are the slots of the keys that the rules use.
type keys struct {
	highway, route, bridge, duration, construction, proposed   slot
	hov, surface, tracktype, smoothness, service, laneMarkings slot
	width, lanes, sideRoad, priority, drivingSide              slot
	access, maxspeed, hovLanes, turnLanes, toll, widthLimit    []directedKey
	heightLimit, lengthLimit, weightLimit                      []directedKey
	oneway                                                     []slot
}

// New returns the profile with the built-in figures.
func New() (*Profile, error) { return Parse(builtIn) }

// Figures returns a copy of the figures that New uses, so that data made with other figures can be recognised.
func Figures() []byte { return bytes.Clone(builtIn) }

// Parse makes a profile from figures in the form of navigation-car.json. The error names the wrong member.
func Parse(text []byte) (*Profile, error) {
	d, err := decode(text)
	if err != nil {
		return nil, err
	}
	p := &Profile{
		data:         d,
		vocabulary:   vocabulary{},
		construction: set(d.ConstructionOpen),
		access:       map[string]accessValue{},
		oneway:       map[string]onewayValue{},
		barrierOpen:  set(d.BarrierOpen),
	}
	for _, list := range []struct {
		words []string
		value accessValue
	}{{d.AccessOpen, openAccess}, {d.AccessLocal, localAccess}, {d.AccessClosed, closedAccess}} {
		for _, word := range list.words {
			p.access[word] = list.value
		}
	}
	for _, word := range d.OnewayForward {
		p.oneway[word] = onewayForward
	}
	for _, word := range d.OnewayBackward {
		p.oneway[word] = onewayBackward
	}
	for _, pair := range d.Rate.TwoWayWidth {
		p.width = append(p.width, widthFactor{pair[0], pair[1]})
	}
	p.nameKeys()
	if len(p.vocabulary) > maxKeys {
		return nil, fmt.Errorf("read the car's figures: they name %d keys with their directions, and %d are possible", len(p.vocabulary), maxKeys)
	}
	return p, nil
}

// nameKeys assigns slots to all keys of the rules and of the data.
func (p *Profile) nameKeys() {
	v := p.vocabulary
	p.keys = keys{
		highway: v.slot("highway"), route: v.slot("route"), bridge: v.slot("bridge"), duration: v.slot("duration"),
		construction: v.slot("construction"), proposed: v.slot("proposed"), hov: v.slot("hov"), surface: v.slot("surface"),
		tracktype: v.slot("tracktype"), smoothness: v.slot("smoothness"), service: v.slot("service"),
		laneMarkings: v.slot("lane_markings"), width: v.slot("width"), lanes: v.slot("lanes"), sideRoad: v.slot("side_road"),
		priority: v.slot("priority"), drivingSide: v.slot("driving_side"),
		access: v.directed(p.data.AccessKeys...), maxspeed: v.directed(p.data.MaxspeedKeys...),
		hovLanes: v.directed("hov:lanes"), turnLanes: v.directed("turn:lanes"), toll: v.directed("toll"),
		widthLimit:  v.directed("maxwidth:physical", "maxwidth", "width", "est_width"),
		heightLimit: v.directed("maxheight:physical", "maxheight"),
		lengthLimit: v.directed("maxlength"),
		weightLimit: v.directed("maxweightrating", "maxweight"),
		oneway:      v.slots(p.data.OnewayKeys...),
	}
	p.never = p.valueSets(p.data.Never)
	p.implied = p.valueSets(p.data.OnewayImplied)
}

func (p *Profile) valueSets(byKey map[string][]string) []valueSet {
	var all []valueSet
	for _, key := range slices.Sorted(maps.Keys(byKey)) {
		all = append(all, valueSet{p.vocabulary.slot(key), set(byKey[key])})
	}
	return all
}

// any reports whether a way has a value of one of the sets.
func (v *values) any(sets []valueSet) bool {
	for i := range sets {
		if value := v[sets[i].key]; value != "" && sets[i].values[value] {
			return true
		}
	}
	return false
}

func set(words []string) map[string]bool {
	all := make(map[string]bool, len(words))
	for _, word := range words {
		all[word] = true
	}
	return all
}
