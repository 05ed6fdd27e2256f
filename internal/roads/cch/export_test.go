package cch

// Edges are the weights of all edges of the hierarchy.
func (v View) Edges() (out, in []uint32) { return v.costs.out, v.costs.in }

// Exclusions is how many metrics that leave arcs out are kept.
func (m *Metric) Exclusions() int { return len(m.exclusions) }
