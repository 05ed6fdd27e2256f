package guide

import "math"

// follow returns the branch that a driver follows without instruction, or -1 if none is obvious.
func (v *view) follow() int {
	best := -1
	for i := range v.branches {
		if b := &v.branches[i]; b.entry && math.Abs(b.angle) > turnFrom && v.bends(i) {
			return i
		}
	}
	for i := range v.branches {
		if v.branches[i].entry && (best < 0 || v.prefers(&v.branches[i], &v.branches[best])) {
			best = i
		}
	}
	if best < 0 {
		return -1
	}
	b := &v.branches[best]
	if len(v.all) == 2 || v.entries() == 1 {
		return best
	}
	if math.Abs(b.angle) > 75 {
		return -1
	}
	for i := range v.branches {
		if i != best && v.branches[i].entry && v.competes(b, &v.branches[i]) {
			return -1
		}
	}
	return best
}

// bends reports whether a road continues around a corner at which only much smaller roads begin.
func (v *view) bends(at int) bool {
	b := &v.branches[at]
	if math.Abs(b.angle) > 110 || rankOf(v.in.way) >= 10 || !v.net.sameName(v.in.way, b.way) || rankOf(b.way) > rankOf(v.in.way) {
		return false
	}
	for i := range v.branches {
		if o := &v.branches[i]; i != at && o.entry && rankOf(o.way) < rankOf(b.way)+bendRanks {
			return false
		}
	}
	return true
}

// bendRanks is the minimum number of classes by which other roads must be smaller where a road continues around a
// corner.
const bendRanks = 5

// prefers reports whether a driver takes one branch instead of another for the road's continuation.
func (v *view) prefers(b, o *branch) bool { return v.strangeness(b) < v.strangeness(o) }

// strangeness returns how different a branch is from the current road. It grows with the angle, and with each differing
// property.
func (v *view) strangeness(b *branch) float64 {
	s := math.Abs(b.angle)
	if !v.net.sameRoad(v.in.way, b.way) {
		s += 15
	}
	if d := rankOf(b.way) - rankOf(v.in.way); d > 0 {
		s += 4 * float64(d)
	}
	switch {
	case isRamp(b.way) && !isRamp(v.in.way):
		s += 20
	case isLink(b.way) && !isLink(v.in.way):
		s += 25
	}
	return s
}

// competes reports whether a driver who follows one branch may mistake another one for it.
func (v *view) competes(b, o *branch) bool {
	mine, other := math.Abs(b.angle), math.Abs(o.angle)
	if isLow(o.way) && !isLow(v.in.way) && !isLow(b.way) && mine < 60 {
		return false
	}
	if isRamp(o.way) && !isRamp(v.in.way) && !isRamp(b.way) && mine < 40 {
		return false
	}
	same := v.net.sameRoad(v.in.way, b.way)
	if same && isLink(o.way) && !isLink(b.way) && !isLink(v.in.way) && mine < 75 {
		return false
	}
	if mine <= slightFrom && other-mine >= slightFrom {
		if same && !v.net.sameRoad(v.in.way, o.way) && rankOf(b.way) <= rankOf(v.in.way)+2 {
			return false
		}
		if o.way.Lanes > 0 && b.way.Lanes > o.way.Lanes && b.way.Lanes >= v.in.way.Lanes && rankOf(b.way) <= rankOf(o.way) {
			return false // all lanes lead there
		}
	}
	if same && !v.net.sameRoad(v.in.way, o.way) && rankOf(b.way) <= rankOf(v.in.way) {
		if rankOf(o.way) > rankOf(b.way)+1 {
			return mine > 60 && other < mine
		}
		return mine >= 30 && other < mine+15 || other < 15 && mine >= 10 || other-mine < 5
	}
	if rankOf(o.way) > rankOf(b.way)+4 && mine < 45 {
		return other < mine
	}
	return other < 2*mine || other-mine < 25
}
