package guide

import "math"

// Direction is the modifier of a maneuver.
type Direction uint8

// The directions, clockwise.
const (
	NoDirection Direction = iota
	UTurn
	SharpLeft
	Left
	SlightLeft
	Straight
	SlightRight
	Right
	SharpRight
)

// The angles from which drivers use another word for a turn.
const (
	slightFrom = 20
	turnFrom   = 40
	sharpFrom  = 120
	backFrom   = 179.5
)

// directionOf returns the direction for an angle.
func directionOf(angle float64) Direction {
	side := math.Abs(angle)
	switch {
	case side <= slightFrom:
		return Straight
	case side >= backFrom:
		return UTurn
	case angle > 0 && side <= turnFrom:
		return SlightRight
	case angle > 0 && side <= sharpFrom:
		return Right
	case angle > 0:
		return SharpRight
	case side <= turnFrom:
		return SlightLeft
	case side <= sharpFrom:
		return Left
	}
	return SharpLeft
}

// String returns OSRM's word for the direction.
func (d Direction) String() string {
	return [...]string{"", "uturn", "sharp left", "left", "slight left", "straight", "slight right", "right", "sharp right"}[d]
}

// IsLeft reports whether the direction is to the left.
func (d Direction) IsLeft() bool { return d == SharpLeft || d == Left || d == SlightLeft }

// IsRight reports whether the direction is to the right.
func (d Direction) IsRight() bool { return d == SharpRight || d == Right || d == SlightRight }

// mirrored returns the same direction to the other side.
func (d Direction) mirrored() Direction {
	if d < SharpLeft || d == Straight {
		return d
	}
	return SharpLeft + SharpRight - d
}
