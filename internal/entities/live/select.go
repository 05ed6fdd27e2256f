package live

// selector selects pins from one upstream's tiles. A pin that moved is in two tiles for a while, of which the newer
// record counts, even if that lies outside the circle or is a tombstone. This is rare, so that the check must be cheap:
// a hash table whose memory is reused.
type selector struct {
	keyNames   keyBuilder
	slots      []int32 // open addressing: index in refs + 1; 0: free
	refs       []recordRef
	superseded []int32 // indexes in refs for which there is a newer record; nearly always none
}

// recordRef names a record in a tile.
type recordRef struct {
	tile  *tile
	place int32
}

func (e recordRef) mark() *mark { return &e.tile.marks[e.place] }

// selectPins appends the pins of the tiles that are fresh and within the area. Tiles may be nil.
func (s *selector) selectPins(tiles []*tile, area *area, now int64, pins []*Pin) []*Pin {
	count, nonEmpty := 0, 0
	for _, t := range tiles {
		if t != nil && len(t.marks) > 0 {
			count += len(t.marks)
			nonEmpty++
		}
	}
	if nonEmpty > 1 { // within one tile an external id is unique
		s.findSuperseded(tiles, count)
	}
	number, superseded := int32(0), s.superseded
	for _, t := range tiles {
		if t == nil {
			continue
		}
		for i := range t.marks {
			m := &t.marks[i]
			if m.fresh(now) && area.contains(m.at) && !contains(superseded, number) {
				pins = append(pins, &t.records[i].pin)
			}
			number++
		}
	}
	clear(s.refs)
	s.refs, s.superseded = s.refs[:0], s.superseded[:0]
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

// findSuperseded finds external ids that are in two tiles.
func (s *selector) findSuperseded(tiles []*tile, count int) {
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
			s.put(recordRef{t, int32(i)})
		}
	}
}

func (s *selector) put(e recordRef) {
	s.refs = append(s.refs, e)
	number, last := int32(len(s.refs)-1), uint64(len(s.slots)-1)
	m := e.mark()
	for at := m.hash & last; ; at = (at + 1) & last {
		if s.slots[at] == 0 {
			s.slots[at] = number + 1
			return
		}
		other := s.slots[at] - 1
		o := s.refs[other]
		if o.mark().hash != m.hash || o.tile.records[o.place].pin.ExternalID != e.tile.records[e.place].pin.ExternalID {
			continue
		}
		if m.newerThan(o.mark()) {
			s.slots[at], number = number+1, other
		}
		s.superseded = append(s.superseded, number)
		return
	}
}
