package guide

// How far ahead a driver considers the next junction when choosing a lane, in ms, and how much further for each lane
// that leads elsewhere: a driver who must choose between lanes anyway can take one more junction into account.
const (
	laneChangeMs  = 10_000
	laneSearchMs  = 14_000
	maxOtherLanes = 2
)

// anticipateLanes reduces the recommended lanes to those from which the next junctions can be driven without changing
// lanes.
func (g *Guide) anticipateLanes() {
	next := -1 // the next junction with lanes
	for i := len(g.turns) - 1; i >= 0; i-- {
		t := &g.turns[i]
		switch {
		case t.kind.entersCircle() || t.kind.leavesCircle():
			t.spot.Lanes = nil // lanes within a roundabout are unknown
			next = -1
		case len(t.spot.Lanes) > 0:
			t.group.first, t.group.count = recommended(t.spot.Lanes)
			switch {
			case next < 0:
			case t.kind == Silent && g.turns[next].lanesOf == t.lanesOf:
				copy(t.spot.Lanes, g.turns[next].spot.Lanes)
			case g.leadsOn(t, &g.turns[next]):
				narrow(t.spot.Lanes, &g.turns[next])
			}
			next = i
		}
	}
}

// leadsOn reports whether drivers choose the lanes at one junction with the next one in mind.
func (g *Guide) leadsOn(t, next *turn) bool {
	others, unmarked := 0, false
	for i := range t.spot.Lanes {
		if !t.spot.Lanes[i].Valid {
			others++
		}
		unmarked = unmarked || t.spot.Lanes[i].Valid && t.spot.Lanes[i].Marks == 0
	}
	if unmarked && t.kind == Silent && next.kind == Silent {
		return false // no arrows are painted, so nothing needs to be chosen
	}
	return g.between(t, next) < laneChangeMs+laneSearchMs*uint64(min(others, maxOtherLanes))
}

// between returns the time from one turn to another, in ms.
func (g *Guide) between(a, b *turn) (ms uint64) {
	for part := a.part + 1; part <= b.part; part++ {
		p := &g.way.Parts[part]
		ms += uint64(p.Duration)
		if part < b.part {
			ms += uint64(p.TurnTime)
		}
	}
	return ms
}

// narrow keeps recommended only those lanes before one junction that become the recommended ones before the next.
func narrow(lanes []Lane, behind *turn) {
	next := behind.spot.Lanes
	first, count := recommended(lanes)
	nextFirst, nextCount := recommended(next)
	if count <= nextCount || nextCount == 0 || count < 2 {
		return
	}
	left, right := nextFirst, len(next)-nextFirst-nextCount
	switch {
	case count == behind.group.count: // the same lanes turn there
		for i := range count {
			keep(&lanes[first+i], next[behind.group.first+i].Valid)
		}
	case count == len(next): // the lanes continue unchanged
		for i := range count {
			keep(&lanes[first+i], next[i].Valid)
		}
	case left == 0:
		for i := range count {
			keep(&lanes[first+i], i < nextCount)
		}
	case right == 0:
		for i := range count {
			keep(&lanes[first+i], i >= count-nextCount)
		}
	}
}

func keep(l *Lane, recommended bool) {
	if !recommended {
		l.Valid, l.Taken = false, 0
	}
}

// recommended returns the first valid lane and the number of valid lanes, or zeros if they are not side by side.
func recommended(lanes []Lane) (first, count int) {
	first = -1
	for i := range lanes {
		if !lanes[i].Valid {
			continue
		}
		if first < 0 {
			first = i
		}
		count++
	}
	if first < 0 || first+count > len(lanes) {
		return 0, 0
	}
	for _, l := range lanes[first : first+count] {
		if !l.Valid {
			return 0, 0
		}
	}
	return first, count
}
