package guide

// Kind is the type of a maneuver.
type Kind uint8

// The kinds of maneuvers. Silent maneuvers are not announced: the driver just goes on.
const (
	Silent Kind = iota
	Depart
	Arrive
	Turn
	NewName
	Continue
	Merge
	OnRamp
	OffRamp
	Fork
	EndOfRoad
	UseLane
	Notification
	Roundabout
	Rotary
	RoundaboutTurn
	ExitRoundabout
	ExitRotary
)

// String returns OSRM's word for the kind.
func (k Kind) String() string {
	return [...]string{
		"", "depart", "arrive", "turn", "new name", "continue", "merge", "on ramp", "off ramp", "fork", "end of road", "use lane",
		"notification", "roundabout", "rotary", "roundabout turn", "exit roundabout", "exit rotary",
	}[k]
}

// entersCircle reports whether the maneuver is the entry to a roundabout.
func (k Kind) entersCircle() bool { return k == Roundabout || k == Rotary || k == RoundaboutTurn }

// leavesCircle reports whether the maneuver is the exit of a roundabout.
func (k Kind) leavesCircle() bool { return k == ExitRoundabout || k == ExitRotary }

func (k Kind) isCircle() bool { return k.entersCircle() || k.leavesCircle() }
