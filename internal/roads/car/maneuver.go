package car

// Maneuver is what mappers want announced at a turn (relations of type=maneuver): at Via, for drivers who come from the
// way From, drive over Over and leave by To. The caller must check whether the members are connected.
type Maneuver struct {
	Via      int64 // a node
	From, To int64 // ways
	Over     []int64
	Type     ManeuverType
	Heading  Heading
}

// ManeuverType is the kind of turn that is announced.
type ManeuverType uint8

// The types of maneuvers.
const (
	AnyManeuver ManeuverType = iota // the one that guidance determines
	SuppressManeuver
	TurnManeuver
	ForkManeuver
	MergeManeuver
	OnRampManeuver
	OffRampManeuver
	EndOfRoadManeuver
	ContinueManeuver
	NewNameManeuver
	UTurnManeuver
)

// Heading is the direction of a turn.
type Heading uint8

// The directions of turns, clockwise.
const (
	AnyHeading Heading = iota // the one that guidance determines
	HeadingUTurn
	HeadingSharpLeft
	HeadingLeft
	HeadingSlightLeft
	HeadingStraight
	HeadingSlightRight
	HeadingRight
	HeadingSharpRight
)

// MaxOver is the maximum number of ways between the first and the last way of a maneuver.
const MaxOver = 8

// ParseManeuver parses the tags and members of a relation. is reports whether the relation is a maneuver, and ok whether
// it is valid; m is only set if both are true. Mappers write both maneuver and manoeuvre.
func ParseManeuver(tags Tags, members []Member) (m Maneuver, is, ok bool) {
	if kind := tags.Value("type"); kind != "maneuver" && kind != "manoeuvre" {
		return m, false, false
	}
	word := tags.Value("manoeuvre")
	if word == "" {
		word = tags.Value("maneuver")
	}
	typed, directed := false, false
	m.Type, typed = maneuverType(word)
	m.Heading, directed = heading(tags.Value("direction"))
	froms, tos, nodes := 0, 0, 0
	for i := range members {
		one := &members[i]
		switch {
		case one.Kind == WayMember && one.Role == "from":
			m.From, froms = one.Ref, froms+1
		case one.Kind == WayMember && one.Role == "to":
			m.To, tos = one.Ref, tos+1
		case one.Kind == WayMember && one.Role == "via":
			if m.Over = append(m.Over, one.Ref); len(m.Over) > MaxOver {
				return Maneuver{}, true, false
			}
		case one.Kind == NodeMember && one.Role == "via":
			m.Via, nodes = one.Ref, nodes+1
		}
	}
	if m.Type == UTurnManeuver {
		m.Type, m.Heading = TurnManeuver, HeadingUTurn
	}
	if !typed || !directed || froms != 1 || tos != 1 || nodes != 1 || m.Type == AnyManeuver && m.Heading == AnyHeading {
		return Maneuver{}, true, false
	}
	return m, true, true
}

func maneuverType(word string) (ManeuverType, bool) {
	switch word {
	case "":
		return AnyManeuver, true
	case "suppress":
		return SuppressManeuver, true
	case "turn":
		return TurnManeuver, true
	case "fork":
		return ForkManeuver, true
	case "merge":
		return MergeManeuver, true
	case "on_ramp":
		return OnRampManeuver, true
	case "off_ramp":
		return OffRampManeuver, true
	case "end_of_road":
		return EndOfRoadManeuver, true
	case "continue":
		return ContinueManeuver, true
	case "new_name":
		return NewNameManeuver, true
	case "uturn":
		return UTurnManeuver, true
	}
	return AnyManeuver, false
}

func heading(word string) (Heading, bool) {
	switch word {
	case "":
		return AnyHeading, true
	case "uturn":
		return HeadingUTurn, true
	case "sharp_left":
		return HeadingSharpLeft, true
	case "left":
		return HeadingLeft, true
	case "slight_left":
		return HeadingSlightLeft, true
	case "straight":
		return HeadingStraight, true
	case "slight_right":
		return HeadingSlightRight, true
	case "right":
		return HeadingRight, true
	case "sharp_right":
		return HeadingSharpRight, true
	}
	return AnyHeading, false
}
