package car

// Node is what a node does to cars that come by (D15.7). The zero value does nothing.
type Node struct {
	// Barred tells that roads end there.
	Barred bool
	// BarrierDelay is the seconds that opening a gate takes.
	BarrierDelay float64
	// Delay is the seconds that a sign or a signal costs, in the directions of Faces. See Seconds.
	Delay float64
	Sign  Sign
	Faces Faces
	// TurningPlace tells that one may turn back there (D15.8).
	TurningPlace bool
}

// Sign is what costs the delay.
type Sign uint8

// What may cost a delay. OtherSign is one of the data that no rule of its own concerns.
const (
	NoSign Sign = iota
	OtherSign
	Signals
	Stop
	MinorStop // only for those who come from the smaller road
)

// Faces is for whom a sign is there: by the direction of the way that they drive in on.
type Faces uint8

// The directions of a sign. Without one it concerns everybody, but for stops (see Seconds).
const (
	FacesUnknown Faces = iota
	FacesForward
	FacesBackward
	FacesBoth
)

// stopDistance is the metres within which a stop stands before its junction.
const stopDistance = 20

// EndsPieces tells whether roads are parted at the node (D15.8).
func (n Node) EndsPieces() bool { return n.Barred || n.BarrierDelay > 0 || n.Delay > 0 }

// Passage is how a car drives over a node.
type Passage struct {
	Direction Direction // of the way that it drives in on
	Ends      int       // how many ends of pieces meet at the node
	In, Out   float64   // metres of the piece that it drives in on and of the next one
	Speed     float64   // km/h of the piece that it drives in on
	Fastest   float64   // km/h of the fastest of the other pieces there
}

// Seconds is what driving over the node costs.
func (n Node) Seconds(p Passage) float64 {
	seconds := n.BarrierDelay
	switch {
	case n.Faces == FacesForward && p.Direction != Forward, n.Faces == FacesBackward && p.Direction != Backward:
	case n.Sign == MinorStop && p.Speed >= p.Fastest:
	case n.Sign == Stop && n.Faces == FacesUnknown && p.Ends == 2 && p.In < stopDistance && p.Out > stopDistance:
		// It stands for those who come from the other side: this car has just left the junction that the stop belongs to.
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

// nodeAccess is the value of the first access key that is there; nodes have no directions.
func (p *Profile) nodeAccess(tags Tags) string {
	for _, key := range p.data.AccessKeys {
		if value := tags.Value(key); value != "" {
			return value
		}
	}
	return ""
}

// isBarred tells whether a barrier without an access tag ends roads.
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
