package car

import "strings"

// Access is the permission of a car in one direction of a way.
type Access uint8

// The permissions of a car in one direction. Local means only for access to a place there, which a weight on the turn
// into the direction enforces (D15.8).
const (
	Closed Access = iota
	Local
	Open
)

// accessValue is the meaning of an access tag. Of a list the largest value counts (D15.4).
type accessValue uint8

const (
	noAccessTag accessValue = iota
	unknownAccess
	closedAccess
	localAccess
	openAccess
)

// private is the local access with which no route begins on service roads (D15.10).
const private = "private"

// resolve interprets the value of an access tag, and returns the part of a list that counts: the first of the most open
// ones.
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

// hasHighOccupancyLanes reports whether a direction is only for vehicles with several people.
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

// exceedsLimit reports whether the vehicle is larger or heavier than a direction of a way permits. A limit that cannot
// be parsed is ignored.
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

// onewayValue is the meaning of a way's one-way tag.
type onewayValue uint8

const (
	otherOneway onewayValue = iota
	onewayForward
	onewayBackward
)

// onewayTag returns the value of the first one-way key that the way has (D15.5).
func (p *Profile) onewayTag(v *values) string {
	for _, key := range p.keys.oneway {
		if v[key] != "" {
			return v[key]
		}
	}
	return ""
}

// directions returns in which directions a way with the given one-way tag may be driven.
func (p *Profile) directions(v *values, tag string) (forward, backward bool) {
	switch p.oneway[tag] {
	case onewayForward:
		return true, false
	case onewayBackward:
		return false, true
	}
	return true, tag == "no" || !v.any(p.implied)
}
