package cch

import "time"

// Edges returns the weights of all edges of the hierarchy.
func (v View) Edges() (out, in []uint32) { return v.costs.out, v.costs.in }

// Exclusions returns the number of metrics that avoid arcs.
func (m *Metric) Exclusions() int { return len(m.exclusions) }

// InFull reports whether the last change was so large that it was customised in full, without a list of what it changed.
func (m *Metric) InFull() bool {
	return m.all && len(m.behind.arcs)+len(m.behind.out)+len(m.behind.in) == 0
}

// PauseAfter calls pauseAfter.
func PauseAfter(took time.Duration) time.Duration { return pauseAfter(took) }
