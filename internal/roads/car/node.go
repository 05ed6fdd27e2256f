package car

// Node is the effect of a node on passing cars (D15.7). The zero value has no effect.
type Node struct {
	// Barred means that roads end at the node.
	Barred bool
	// BarrierDelay is the time in seconds to open a gate.
	BarrierDelay float64
	// Delay is the cost in seconds of a sign or a signal, in the directions of Faces. See Seconds.
	Delay float64
	Sign  Sign
	Faces Faces
	// TurningPlace means that cars may turn back there (D15.8).
	TurningPlace bool
}

// Sign is the cause of the delay.
type Sign uint8

// The causes of a delay. OtherSign is a cause in the data that has no special rule.
const (
	NoSign Sign = iota
	OtherSign
	Signals
	Stop
	MinorStop // only for cars from the smaller road
)

// Faces is the set of directions, relative to the way that a car comes by, to which a sign applies.
type Faces uint8

// The directions of a sign. A sign without a direction applies to every car, except for stops (see Seconds).
const (
	FacesUnknown Faces = iota
	FacesForward
	FacesBackward
	FacesBoth
)

// stopDistance is the maximum distance in metres from a stop sign to its junction.
const stopDistance = 20

// EndsPieces reports whether roads are split at the node (D15.8).
func (n Node) EndsPieces() bool { return n.Barred || n.BarrierDelay > 0 || n.Delay > 0 }

// Passage is the way of a car over a node.
type Passage struct {
	Direction Direction // of the way that the car comes by
	Ends      int       // number of ends of pieces at the node
	In, Out   float64   // metres of the piece that the car comes by, and of the next one
	Speed     float64   // km/h of the piece that the car comes by
	Fastest   float64   // km/h of the fastest of the other pieces at the node
}

// Seconds returns the cost of driving over the node.
func (n Node) Seconds(p Passage) float64 {
	seconds := n.BarrierDelay
	switch {
	case n.Faces == FacesForward && p.Direction != Forward, n.Faces == FacesBackward && p.Direction != Backward:
	case n.Sign == MinorStop && p.Speed >= p.Fastest:
	case n.Sign == Stop && n.Faces == FacesUnknown && p.Ends == 2 && p.In < stopDistance && p.Out > stopDistance:
		// The stop is for the other direction: this car has just left the junction that the stop belongs to.
	default:
		seconds += n.Delay
	}
	return seconds
}

// Node reads the tags of a node.
func (p *Profile) Node(tags Tags) Node {
	var n Node
	if len(tags) == 0 {
		return n
	}
	if access := p.nodeAccess(tags); access != "" {
		value, _ := p.resolve(access)
		n.Barred = value == closedAccess
	} else if barrier := tags.Value("barrier"); barrier != "" {
		n.BarrierDelay = p.data.BarrierDelay[barrier]
		n.Barred = p.isBarred(tags, barrier)
	}
	highway := tags.Value("highway")
	switch highway {
	case "":
		return n
	case "turning_circle", "turning_loop", "mini_roundabout":
		n.TurningPlace = true
	}
	n.Delay = p.data.NodeDelay[highway]
	if n.Delay == 0 {
		return n
	}
	n.Sign = OtherSign
	direction := tags.Value("direction")
	switch highway {
	case "traffic_signals":
		n.Sign = Signals
		if own := tags.Value("traffic_signals:direction"); own != "" {
			direction = own
		}
	case "stop":
		n.Sign = Stop
		if tags.Value("stop") == "minor" {
			n.Sign = MinorStop
		}
	}
	n.Faces = faces(direction)
	return n
}

// nodeAccess returns the value of the first access key that the node has. Nodes have no directions.
func (p *Profile) nodeAccess(tags Tags) string {
	for _, key := range p.data.AccessKeys {
		if value := tags.Value(key); value != "" {
			return value
		}
	}
	return ""
}

// isBarred reports whether a barrier without an access tag ends roads.
func (p *Profile) isBarred(tags Tags, barrier string) bool {
	if barrier == "height_restrictor" {
		limit := tags.Value("maxheight:physical")
		if limit == "" {
			limit = tags.Value("maxheight")
		}
		if limit, ok := height(limit); ok && limit < p.data.Vehicle.Height {
			return true
		}
	}
	if p.barrierOpen[barrier] || p.data.BarrierDelay[barrier] > 0 || tags.Value("bollard") == "rising" {
		return false
	}
	if kerb := tags.Value("kerb"); kerb == "lowered" || kerb == "flush" {
		return false
	}
	switch barrier {
	case "kerb":
		return tags.Value("highway") != "crossing"
	case "fence":
		sensory := tags.Value("sensory")
		return sensory != "audible" && sensory != "audio"
	}
	return true
}

func faces(direction string) Faces {
	switch direction {
	case "forward":
		return FacesForward
	case "backward":
		return FacesBackward
	case "both":
		return FacesBoth
	}
	return FacesUnknown
}
