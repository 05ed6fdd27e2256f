package cch

// Edges are the weights of all edges of the hierarchy.
func (v View) Edges() (out, in []uint32) { return v.costs.out, v.costs.in }
