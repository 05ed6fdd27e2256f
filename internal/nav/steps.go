package nav

// Step is a maneuver and the way from there to the next one.
type Step struct{}

func (n *Network) describe(*Leg, *Spot, *Spot) {}
