package traffic

// unmatched holds the conditions that are not matched to roads yet, in the order in which they came, each once. It is bounded
// by the conditions that are known: what is replaced or removed meanwhile leaves it. Its zero value is empty.
type unmatched struct {
	places []place
	left   int    // of places, those whose condition left
	last   uint64 // number of the newest place
}

// place is a condition's in the queue. It is void once the condition has another number.
type place struct {
	condition *Condition
	number    uint64
}

// add adds a condition at the end, unless it waits already.
func (u *unmatched) add(c *Condition) {
	if c.place == 0 {
		u.last++
		c.place = u.last
		u.places = append(u.places, place{c, u.last})
	}
}

// remove takes a condition out, if it waits. The list is made anew once more than half of it left.
func (u *unmatched) remove(c *Condition) {
	if c.place == 0 {
		return
	}
	c.place = 0
	if u.left++; u.left <= len(u.places)/2 {
		return
	}
	waiting := make([]place, 0, len(u.places)-u.left)
	for _, p := range u.places {
		if p.condition.place == p.number {
			waiting = append(waiting, p)
		}
	}
	u.places, u.left = waiting, 0
}

// first returns the condition that waits longest; nil: none does.
func (u *unmatched) first() *Condition {
	for len(u.places) > 0 {
		if p := u.places[0]; p.condition.place == p.number {
			return p.condition
		}
		u.places[0] = place{}
		u.places = u.places[1:]
		u.left--
	}
	u.places = nil
	return nil
}
