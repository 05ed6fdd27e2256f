package geocode

// Occupy takes the memory of all concurrent searches, until the caller calls release.
func (x *Index) Occupy() (release func()) {
	var taken []*scratch
	for range cap(x.scratches) {
		taken = append(taken, <-x.scratches)
	}
	return func() {
		for _, s := range taken {
			x.scratches <- s
		}
	}
}
