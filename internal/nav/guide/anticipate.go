package guide

// laneChangeMs is how long a driver needs to change lanes between two junctions. Where it takes less to the next one, one is told at the
// first which lanes lead to the right ones at the second.
const laneChangeMs = 15_000

// anticipateLanes narrows the lanes that are recommended to those from which the next junctions can be driven without a change of lanes.
func (g *Guide) anticipateLanes() {
	next := -1 // the next junction with lanes
	for i := len(g.turns) - 1; i >= 0; i-- {
		t := &g.turns[i]
		switch {
		case t.kind.entersCircle() || t.kind.leavesCircle():
			t.spot.Lanes = nil // lanes within a roundabout are not known
			next = -1
		case len(t.spot.Lanes) > 0:
			if next >= 0 && g.between(t, &g.turns[next]) < laneChangeMs {
				narrow(t.spot.Lanes, g.turns[next].spot.Lanes)
			}
			next = i
		}
	}
}

// between is the time from one turn to another, in ms.
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

// narrow recommends of the lanes before one junction those that become the recommended ones before the next.
func narrow(lanes, next []Lane) {
	first, count := recommended(lanes)
	nextFirst, nextCount := recommended(next)
	if count <= nextCount || nextCount == 0 || count < 2 {
		return
	}
	left, right := nextFirst, len(next)-nextFirst-nextCount
	switch {
	case count == len(next): // the lanes go on as they are
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

// recommended are the lanes side by side that are valid; none if they are not side by side.
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
