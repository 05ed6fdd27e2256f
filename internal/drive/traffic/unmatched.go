package traffic

// unmatched is a queue of the conditions that are not matched to roads yet, in order of arrival, each once. It is
// bounded by the known conditions, because replaced and removed conditions leave it. Its zero value is empty.
type unmatched struct {
	places []place
	left   int    // number of entries of places whose condition has left
	last   uint64 // number of the newest place
}

// place is an entry of the queue. It is void once its condition has another number.
type place struct {
	condition *Condition
	number    uint64
}

// add adds a condition at the end, unless it is queued already.
func (u *unmatched) add(c *Condition) {
	if c.place == 0 {
		u.last++
		c.place = u.last
		u.places = append(u.places, place{c, u.last})
	}
}

// remove removes a condition, if it is queued. The list is rebuilt once more than half of its entries are void.
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

// first returns the condition that has waited longest, or nil if the queue is empty.
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
