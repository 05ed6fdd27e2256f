package geo

// Circle is the part of the globe within Radius metres of Center.
type Circle struct {
	Center Point
	Radius float64 // metres, 0 or more
}

// Meets reports whether the circles have a common point.
func (c Circle) Meets(o Circle) bool {
	return c.Center.Vector().ChordSquared(o.Center.Vector()) <= ChordSquaredOf(c.Radius+o.Radius)
}
