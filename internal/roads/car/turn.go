package car

import "math"

// Turn leads from the end of a piece of road onto another (D15.8).
type Turn struct {
	// Angle is in degrees from −180 to 180: 0 straight on, positive to the right. It is ignored if Back is set.
	Angle float64
	// Back means that the car turns around, onto the piece that it came by.
	Back bool
	// Ends is the number of ends of pieces at the node.
	Ends int
	// Ferry means that a ferry begins or ends there.
	Ferry bool
	// DrivingLeft means that traffic drives on the left.
	DrivingLeft bool
	// FromLocal and ToLocal report whether access is local (D15.4) in the directions before and after the turn.
	FromLocal, ToLocal bool
}

// LookAhead returns the distance along a piece, in metres, of the place to which its bearing at a node is measured.
func (p *Profile) LookAhead() float64 { return p.data.Turn.LookAhead }

// Turn returns the cost of a turn in seconds: its duration, and its weight. The cost of the node is not included
// (Node.Seconds).
func (p *Profile) Turn(t Turn) (duration, weight float64) {
	if t.Back || t.Ends > 2 || t.Ferry {
		duration = p.turnSeconds(t)
	}
	weight = duration
	if t.ToLocal && !t.FromLocal {
		weight += p.data.LocalTurnWeight
	}
	return duration, weight
}

// turnSeconds returns the duration of a turn: a sigmoid of the angle, which is steeper towards the side where the car
// crosses no lane.
func (p *Profile) turnSeconds(t Turn) float64 {
	figures := &p.data.Turn
	angle, extra := t.Angle, 0.0
	if t.Back {
		angle, extra = 180, figures.UTurn
	}
	bias := figures.Bias
	if (angle < 0) != t.DrivingLeft {
		bias = 1 / bias
	}
	const slope, middle = 13, 6.5
	return figures.Most/(1+math.Exp(middle*bias-slope/bias*math.Abs(angle)/180)) + extra
}

// TurningBack holds the conditions that decide whether a car may turn around at a node (D15.8).
type TurningBack struct {
	RoadEnds    bool // no other piece begins there
	Barred      bool // Node.Barred
	AtPlace     bool // Node.TurningPlace
	NothingElse bool // every other turn is forbidden or closed
	TwoWay      int  // number of roads at the node that are open in both directions
	ReverseLane bool // Drive.ReverseLane of the direction that the car comes by
}

// Allowed reports whether the car may turn around.
func (t TurningBack) Allowed() bool {
	return t.RoadEnds || t.Barred || t.AtPlace || t.NothingElse || t.TwoWay <= 1 || t.ReverseLane
}
