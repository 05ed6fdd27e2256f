package car

import "strings"

// Access is who may drive in one direction of a way.
type Access uint8

// What a car may do in one direction. Local: only to reach a place there, which a weight on the turn into it sees to (D15.8).
const (
	Closed Access = iota
	Local
	Open
)

// accessValue is what the value of an access tag says. Of a list the largest counts (D15.4).
type accessValue uint8

const (
	noAccessTag accessValue = iota
	unknownAccess
	closedAccess
	localAccess
	openAccess
)

// private is the local access that keeps routes from beginning on service roads (D15.10).
const private = "private"

// resolve reads the value of an access tag, and gives the part of a list that counts: the first of the most open ones.
func (p *Profile) resolve(value string) (accessValue, string) {
	if value == "" {
		return noAccessTag, ""
	}
	if !strings.Contains(value, ";") {
		return max(p.access[value], unknownAccess), value
	}
	best, part := unknownAccess, ""
	for one := range strings.SplitSeq(value, ";") {
		one = strings.TrimSpace(one)
		if access := p.access[one]; access > best {
			best, part = access, one
		}
	}
	return best, part
}

// hasHighOccupancyLanes tells whether a direction is for vehicles of several people alone.
func (p *Profile) hasHighOccupancyLanes(v *values, d Direction) bool {
	const designated = "designated"
	if v[p.keys.hov] == designated {
		return true
	}
	lanes := v.first(p.keys.hovLanes, d)
	if lanes == "" {
		return false
	}
	for lane := range strings.SplitSeq(lanes, "|") {
		if lane != designated {
			return false
		}
	}
	return true
}

// exceedsLimit tells whether the vehicle is larger or heavier than a direction of a way permits. A limit that cannot be read
// is none.
func (p *Profile) exceedsLimit(v *values, d Direction) bool {
	if height, ok := height(v.first(p.keys.heightLimit, d)); ok && height < p.data.Vehicle.Height {
		return true
	}
	if width, ok := metres(v.first(p.keys.widthLimit, d)); ok && width <= p.data.Vehicle.Width {
		return true
	}
	if length, ok := metres(v.first(p.keys.lengthLimit, d)); ok && length < p.data.Vehicle.Length {
		return true
	}
	weight, ok := kilograms(v.first(p.keys.weightLimit, d))
	return ok && weight < p.data.Vehicle.Weight
}

// onewayValue is what the one-way tag of a way says.
type onewayValue uint8

const (
	otherOneway onewayValue = iota
	onewayForward
	onewayBackward
)

// onewayTag is the value of the first one-way key that is there (D15.5).
func (p *Profile) onewayTag(v *values) string {
	for _, key := range p.keys.oneway {
		if v[key] != "" {
			return v[key]
		}
	}
	return ""
}

// directions tells in which directions a way with that one-way tag may be driven.
func (p *Profile) directions(v *values, tag string) (forward, backward bool) {
	switch p.oneway[tag] {
	case onewayForward:
		return true, false
	case onewayBackward:
		return false, true
	}
	return true, tag == "no" || !v.any(p.implied)
}
