package mapdata

import (
	"time"

	"wayside/internal/geo"
)

// Touched tells what a change moved of what readers see, for those who watch a part of it. It may name more than moved.
type Touched struct {
	Everywhere bool         // anything may have moved
	Areas      []geo.Circle // where entities came, changed or went, or were voted on
	Returns    []Return     // entities that votes hide, and that come back by themselves
	Live       []Tally      // what was voted on live incidents: whoever tells does not know where they are
}

// Return is where and when a suppression ends (D9.5).
type Return struct {
	At   time.Time
	Area geo.Circle
}
