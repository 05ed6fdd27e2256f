package geo

// Circle is a part of the globe: everything within Radius metres of Center.
type Circle struct {
	Center Point
	Radius float64 // metres, 0 or more
}

// Meets says whether the circles share a place.
func (c Circle) Meets(o Circle) bool {
	return c.Center.Vector().ChordSquared(o.Center.Vector()) <= ChordSquaredOf(c.Radius+o.Radius)
}
