package car

import "strings"

// Way is what a car may do on a way.
type Way struct {
	Forward, Backward Drive
	// Duration is the duration of the whole way in seconds, as tagged, or 0. It takes precedence over the speed (D15.6).
	Duration float64
	// Ferry means that the way is a ferry or a shuttle train: no route begins there (D15.10), and turns cost at its ends
	// (D15.8).
	Ferry bool
	// Motorway means that routes that exclude motorways leave the way out.
	Motorway bool
	// DrivingSide is the side in the way's own tag. Turns across the other side cost more (D15.8).
	DrivingSide Side
}

// Drive is what a car may do in one direction of a way. It is zero if the direction is closed.
type Drive struct {
	Access Access
	Speed  float64 // km/h; shown to drivers
	Rate   float64 // km/h, at most Speed; determines the weight of routes
	// MayBegin reports whether routes may begin and end here (D15.10).
	MayBegin bool
	// Toll means that routes that exclude toll roads leave the direction out.
	Toll bool
	// ReverseLane means that a lane is marked for turning back (D15.8).
	ReverseLane bool
}

// Side is the side of the road on which traffic drives.
type Side uint8

// The sides of the road. If the way has no tag, its location decides.
const (
	SideUnknown Side = iota
	Right
	Left
)

// Direction returns what a car may do in one of the directions.
func (w *Way) Direction(d Direction) Drive {
	if d == Backward {
		return w.Backward
	}
	return w.Forward
}

// Cost returns the cost of a piece of the way in an open direction, in seconds: its duration, and its weight (D15.6).
// The lengths, in metres, are those of the piece and of the whole way. If the way has a duration, the piece gets its
// share.
func (w *Way) Cost(d Direction, piece, whole float64) (duration, weight float64) {
	drive := w.Direction(d)
	duration = piece / (drive.Speed / 3.6)
	if w.Duration > 0 {
		duration = w.Duration
		if whole > 0 {
			duration *= piece / whole
		}
	}
	return duration, duration * (drive.Speed / drive.Rate)
}

// Way reads the tags of a way. It returns false if no car may drive there in either direction (D15.3).
func (p *Profile) Way(tags Tags) (Way, bool) {
	if !namesRoad(tags) {
		return Way{}, false
	}
	var v values
	p.vocabulary.read(tags, &v)
	if p.isNever(&v) {
		return Way{}, false
	}
	oneway := p.onewayTag(&v)
	forward, backward := p.directions(&v, oneway)
	base := p.base(&v)
	w := Way{
		Duration:    base.duration,
		Ferry:       base.ferry,
		Motorway:    v[p.keys.highway] == "motorway" || v[p.keys.highway] == "motorway_link",
		DrivingSide: side(v[p.keys.drivingSide]),
	}
	if forward {
		w.Forward = p.drive(&v, Forward, base)
	}
	if backward {
		w.Backward = p.drive(&v, Backward, base)
	}
	if w.Forward.Access == Closed && w.Backward.Access == Closed {
		return Way{}, false
	}
	p.setRates(&w, &v, oneway)
	return w, true
}

// namesRoad reports whether a way has a highway or a route tag. It is a quick first test, because most ways of an
// extract have neither.
func namesRoad(tags Tags) bool {
	for i := range tags {
		if (tags[i].Key == "highway" || tags[i].Key == "route") && tags[i].Value != "" {
			return true
		}
	}
	return false
}

// isNever reports whether a way is excluded whatever its other tags are (D15.3).
func (p *Profile) isNever(v *values) bool {
	if v.any(p.never) {
		return true
	}
	if construction := v[p.keys.construction]; construction != "" && !p.construction[construction] {
		return true
	}
	highway := v[p.keys.highway]
	return v[p.keys.proposed] != "" && (highway == "" || highway == "proposed")
}

// drive reads one direction of a way that its one-way tag leaves open.
func (p *Profile) drive(v *values, d Direction, base baseSpeed) Drive {
	value, part := p.resolve(v.first(p.keys.access, d))
	access := Open
	if value == localAccess {
		access = Local
	}
	_, known := p.data.HighwaySpeed[v[p.keys.highway]]
	if value == closedAccess || value == localAccess && !known || p.exceedsLimit(v, d) {
		return Drive{}
	}
	speed := p.speed(v, d, base, value)
	if speed <= 0 {
		return Drive{}
	}
	if access == Open && p.hasHighOccupancyLanes(v, d) {
		access = Local
	}
	return Drive{
		Access:      access,
		Speed:       speed,
		MayBegin:    !base.ferry && !(part == private && v[p.keys.highway] == "service"),
		Toll:        v.first(p.keys.toll, d) == "yes",
		ReverseLane: hasReverseLane(v.first(p.keys.turnLanes, d)),
	}
}

// hasReverseLane reports whether one of the lanes, which are separated by |, has a mark for turning back among its
// marks, which are separated by ;.
func hasReverseLane(lanes string) bool {
	if !strings.Contains(lanes, "reverse") {
		return false
	}
	for lane := range strings.SplitSeq(lanes, "|") {
		for mark := range strings.SplitSeq(lane, ";") {
			if strings.TrimSpace(mark) == "reverse" {
				return true
			}
		}
	}
	return false
}

func side(value string) Side {
	switch value {
	case "left":
		return Left
	case "right":
		return Right
	}
	return SideUnknown
}
