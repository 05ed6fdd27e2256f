package index

import "slices"

// followLaw applies the law that was set last to the version. A law changes only when an operator reloads the
// configuration, so that reading every entity is affordable.
func (c *change) followLaw() {
	l := c.ix.law.Load()
	if l == c.v.law {
		return
	}
	c.v.law = l
	bands := slices.Clone(c.v.bands)
	made := new(merge)
	made.v = &version{}
	for number, b := range bands {
		if b == nil {
			continue
		}
		next := &band{columns: b.columns, cells: make([][]entry, len(b.cells))}
		for i, entries := range b.cells {
			next.cells[i] = slices.Clone(entries)
			for k := range next.cells[i] {
				c.pace.row(1)
				e := &next.cells[i][k]
				s, seg := c.v.slot(e.ref)
				*e = s.entry(seg, e.ref, l)
				made.summarize(s, seg, e)
			}
		}
		bands[number] = next
	}
	made.endSummaries()
	c.v.bands, c.v.summaries = bands, made.v.summaries
	c.v.withheld = slices.Clone(c.v.withheld)
	for i := range c.v.withheld {
		w := &c.v.withheld[i]
		s, seg := c.v.slot(w.ref)
		e := s.entry(seg, w.ref, l)
		w.spot = e.spot(s, seg)
	}
}
