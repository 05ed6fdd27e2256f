package car

import "strings"

// Way is what a car may do on a way.
type Way struct {
	Forward, Backward Drive
	// Duration is the seconds that the whole way takes, as its tag says, or 0. It beats the speed (D15.6).
	Duration float64
	// Ferry tells that the way is a ferry or a shuttle train: no route begins there (D15.10), and turns cost where it begins
	// and ends (D15.8).
	Ferry bool
	// Motorway tells that routes which exclude motorways leave the way out.
	Motorway bool
	// DrivingSide is the side that the way's own tag says; turns are dearer across the other one (D15.8).
	DrivingSide Side
}

// Drive is what a car may do in one direction of a way. All of it is zero where the direction is closed.
type Drive struct {
	Access Access
	Speed  float64 // km/h; what drivers are told
	Rate   float64 // km/h, at most Speed; what routes weigh
	// MayBegin tells whether routes begin and end here (D15.10).
	MayBegin bool
	// Toll tells that routes which exclude toll roads leave the direction out.
	Toll bool
	// ReverseLane tells that a lane is marked for turning back (D15.8).
	ReverseLane bool
}

// Side is the side of the road on which one drives.
type Side uint8

// The sides of the road. Where the way does not say, its place decides.
const (
	SideUnknown Side = iota
	Right
	Left
)

// Direction is what a car may do in one of the directions.
func (w *Way) Direction(d Direction) Drive {
	if d == Backward {
		return w.Backward
	}
	return w.Forward
}

// Cost is what a piece of the way costs in a direction that is not closed, in seconds: how long it takes, and its weight
// (D15.6). The lengths, in metres, are those of the piece and of the whole way, of whose duration the piece has its share.
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

// Way reads the tags of a way. It is false if no car may drive there in either direction (D15.3).
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

// namesRoad tells whether a way has a highway or a route. Most ways of an extract have neither, so this looks first.
func namesRoad(tags Tags) bool {
	for i := range tags {
		if (tags[i].Key == "highway" || tags[i].Key == "route") && tags[i].Value != "" {
			return true
		}
	}
	return false
}

// isNever tells whether a way does not count whatever else it says (D15.3).
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

// hasReverseLane tells whether one of the lanes, which | separates, has a mark for turning back among those that ; separates.
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
