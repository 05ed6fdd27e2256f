package live

// sieve picks pins out of one upstream's tiles. A pin that moved stands in two tiles for a while, of which the later word
// counts, even if that is outside of the circle or says that the pin is gone. That is rare, and so looking for it must
// cost next to nothing: a table of hashes that is used again and again.
type sieve struct {
	ring   keyRing
	slots  []int32 // a number of all + 1; 0: free
	all    []entry
	beaten []int32 // numbers of all that a later word stands against; nearly always none
}

type entry struct {
	tile  *tile
	place int32 // in the tile
}

func (e entry) mark() *mark { return &e.tile.marks[e.place] }

// pick appends the pins of the tiles that are fresh and within the area; nil tiles hold nothing.
func (s *sieve) pick(tiles []*tile, area *circle, now int64, pins []*Pin) []*Pin {
	count, full := 0, 0
	for _, t := range tiles {
		if t != nil && len(t.marks) > 0 {
			count += len(t.marks)
			full++
		}
	}
	if full > 1 { // within one tile, an external id stands once
		s.compare(tiles, count)
	}
	number, beaten := int32(0), s.beaten
	for _, t := range tiles {
		if t == nil {
			continue
		}
		for i := range t.marks {
			m := &t.marks[i]
			if m.fresh(now) && area.holds(m.at) && !contains(beaten, number) {
				pins = append(pins, &t.records[i].pin)
			}
			number++
		}
	}
	clear(s.all)
	s.all, s.beaten = s.all[:0], s.beaten[:0]
	return pins
}

func contains(numbers []int32, n int32) bool {
	for _, other := range numbers {
		if other == n {
			return true
		}
	}
	return false
}

// compare fills beaten.
func (s *sieve) compare(tiles []*tile, count int) {
	size := 64
	for size < 2*count {
		size *= 2
	}
	if cap(s.slots) < size {
		s.slots = make([]int32, size)
	}
	s.slots = s.slots[:size]
	clear(s.slots)
	for _, t := range tiles {
		if t == nil {
			continue
		}
		for i := range t.marks {
			s.put(entry{t, int32(i)})
		}
	}
}

func (s *sieve) put(e entry) {
	s.all = append(s.all, e)
	number, last := int32(len(s.all)-1), uint64(len(s.slots)-1)
	m := e.mark()
	for at := m.hash & last; ; at = (at + 1) & last {
		if s.slots[at] == 0 {
			s.slots[at] = number + 1
			return
		}
		other := s.slots[at] - 1
		o := s.all[other]
		if o.mark().hash != m.hash || o.tile.records[o.place].pin.ExternalID != e.tile.records[e.place].pin.ExternalID {
			continue
		}
		if m.outranks(o.mark()) {
			s.slots[at], number = number+1, other
		}
		s.beaten = append(s.beaten, number)
		return
	}
}
