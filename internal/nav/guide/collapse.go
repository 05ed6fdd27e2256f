package guide

// collapse joins maneuvers that a driver does as one.
func (g *Guide) collapse() {}
