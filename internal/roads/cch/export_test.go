package cch

// Edges returns the weights of all edges of the hierarchy.
func (v View) Edges() (out, in []uint32) { return v.costs.out, v.costs.in }

// Exclusions returns the number of metrics that avoid arcs.
func (m *Metric) Exclusions() int { return len(m.exclusions) }
