package car

import "strings"

// baseSpeed is the speed of a way before speed limits and surfaces.
type baseSpeed struct {
	speed    float64 // km/h; 0: neither a known road nor a ferry
	duration float64 // seconds for the whole way, or 0
	ferry    bool
}

// base returns the base speed of a way, by the order of rules in D15.6. The duration of a movable bridge counts like
// that of a ferry.
func (p *Profile) base(v *values) baseSpeed {
	var b baseSpeed
	if speed, ok := p.data.RouteSpeed[v[p.keys.route]]; ok {
		b.speed, b.ferry = speed, true
	} else if v[p.keys.bridge] == "movable" {
		b.speed = p.data.MovableBridgeSpeed
	} else {
		return baseSpeed{speed: p.data.HighwaySpeed[v[p.keys.highway]]}
	}
	b.duration, _ = duration(v[p.keys.duration])
	return b
}

// speed returns the speed in one direction, in km/h; 0 closes it.
func (p *Profile) speed(v *values, d Direction, base baseSpeed, access accessValue) float64 {
	speed := base.speed
	if speed == 0 {
		if access != openAccess && access != unknownAccess {
			return 0
		}
		speed = p.data.OtherSpeed
	}
	if limit := p.maxspeed(v.first(p.keys.maxspeed, d)); limit > 0 {
		speed = limit * p.data.MaxspeedFactor
	}
	speed = capped(speed, p.data.SurfaceCap, v[p.keys.surface])
	speed = capped(speed, p.data.TracktypeCap, v[p.keys.tracktype])
	return capped(speed, p.data.SmoothnessCap, v[p.keys.smoothness])
}

func capped(speed float64, caps map[string]float64, value string) float64 {
	if value == "" {
		return speed
	}
	if limit, ok := caps[value]; ok {
		return min(speed, limit)
	}
	return speed
}

// maxspeed parses a speed limit: a number, the name of a limit, or a zone of a country. It returns km/h, or 0 if the
// value states none.
func (p *Profile) maxspeed(value string) float64 {
	if value == "" {
		return 0
	}
	if isDigit(value[0]) {
		n, ok := leadingDigits(value)
		if strings.Contains(value, "mph") || strings.Contains(value, "mp/h") {
			n *= p.data.MPH
		}
		if !ok || n > maxSpeed {
			return 0
		}
		return n
	}
	name := strings.ToLower(value)
	if speed, ok := p.data.MaxspeedNamed[name]; ok {
		return speed
	}
	return p.data.MaxspeedZone[zone(name)]
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' }

// zone returns the word after the first colon that follows two letters in a lower-case name: urban in de:urban and in
// be-vlg:urban.
func zone(name string) string {
	for i := 2; i+1 < len(name); i++ {
		if name[i] != ':' || !isLetter(name[i-1]) || !isLetter(name[i-2]) || !isLetter(name[i+1]) {
			continue
		}
		end := i + 1
		for end < len(name) && isLetter(name[end]) {
			end++
		}
		return name[i+1 : end]
	}
	return ""
}

// setRates sets the rates of both directions: the speed times the smallest factor that applies (D15.6).
func (p *Profile) setRates(w *Way, v *values, oneway string) {
	rate := &p.data.Rate
	factor := 1.0
	if service, ok := rate.Service[v[p.keys.service]]; ok {
		factor = service
	}
	if w.Forward.Access != Closed && w.Backward.Access != Closed {
		factor = min(factor, p.twoWayFactor(v))
	}
	if oneway == "alternating" {
		factor = min(factor, rate.Alternating)
	}
	if sideRoad := v[p.keys.sideRoad]; sideRoad == "yes" || sideRoad == "rotary" {
		factor = min(factor, rate.SideRoad)
	}
	forward, backward := factor, factor
	switch v[p.keys.priority] {
	case "forward":
		backward = min(backward, rate.AgainstPriority)
	case "backward":
		forward = min(forward, rate.AgainstPriority)
	}
	w.Forward.Rate = w.Forward.Speed * forward
	w.Backward.Rate = w.Backward.Speed * backward
}

// twoWayFactor returns the factor of a two-way road: that of a single lane if it has one, otherwise that of a small
// width, otherwise that of missing markings.
func (p *Profile) twoWayFactor(v *values) float64 {
	if lanes, ok := leadingDigits(v[p.keys.lanes]); ok && lanes <= 1 {
		return p.data.Rate.TwoWayOneLane
	}
	if width, ok := metres(v[p.keys.width]); ok {
		for i, narrow := range p.width {
			if width < narrow.width || i == 0 && width == narrow.width {
				return narrow.factor
			}
		}
	}
	if v[p.keys.laneMarkings] == "no" {
		return p.data.Rate.TwoWayNoMarkings
	}
	return 1
}

// SpeedLimit returns the signed speed limit of a way in a direction, in km/h, or 0. No cost depends on it alone; see
// speed.
func (p *Profile) SpeedLimit(tags Tags, d Direction) float64 {
	own := "maxspeed:forward"
	if d == Backward {
		own = "maxspeed:backward"
	}
	value := tags.Value(own)
	if value == "" {
		value = tags.Value("maxspeed")
	}
	if value == "none" {
		return 0
	}
	return p.maxspeed(value)
}
