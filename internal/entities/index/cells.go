package index

import (
	"cmp"
	"slices"

	"wayside/internal/ground/geo"
)

// removal is an entry that is removed from a cell.
type removal struct {
	cell geo.Cell
	ref  ref
}

// addition is an entry that is added to a cell.
type addition struct {
	cell  geo.Cell
	entry entry
}

// mergeCells builds the cells that the change touches, and the bands around them. Removals and additions are gathered
// by cell first, so that each cell is built once: one entry after the other would cost the square of a cell's size.
func (c *change) mergeCells() {
	if len(c.removed)+len(c.added) == 0 {
		return
	}
	slices.SortFunc(c.removed, func(a, b removal) int { return cmp.Or(a.cell.Compare(b.cell), a.ref.compare(b.ref)) })
	slices.SortFunc(c.added, func(a, b addition) int {
		return cmp.Or(a.cell.Compare(b.cell), cmp.Compare(a.entry.at.Z, b.entry.at.Z))
	})
	c.v.bands = slices.Clone(c.v.bands)
	removed, added := c.removed, c.added
	for len(removed)+len(added) > 0 {
		number := firstCell(removed, added).Band
		old := c.v.bands[number]
		if old == nil {
			old = new(band)
		}
		next := &band{columns: make([]int32, 0, len(old.columns)+1), cells: make([][]entry, 0, len(old.columns)+1)}
		from := 0
		for len(removed)+len(added) > 0 {
			cell := firstCell(removed, added)
			if cell.Band != number {
				break
			}
			r, a := ofCell(removed, added, cell)
			at := old.find(cell.Column)
			next.columns = append(next.columns, old.columns[from:at]...)
			next.cells = append(next.cells, old.cells[from:at]...)
			from = at
			var entries []entry
			if at < len(old.columns) && old.columns[at] == cell.Column {
				entries = old.cells[at]
				from++
			}
			next.add(cell.Column, mergeCell(entries, removed[:r], added[:a]))
			c.pace.row(1 + (len(entries)+r+a)/rowsPerEntry)
			removed, added = removed[r:], added[a:]
		}
		next.columns = append(next.columns, old.columns[from:]...)
		next.cells = append(next.cells, old.cells[from:]...)
		if len(next.columns) == 0 {
			next = nil
		}
		c.v.bands[number] = next
	}
	c.removed, c.added = nil, nil
}

// rowsPerEntry is the number of entries that are merged in the time in which one row is stored.
const rowsPerEntry = 64

// firstCell returns the first cell of two lists that are ordered by cell. One of them may be empty.
func firstCell(removed []removal, added []addition) geo.Cell {
	if len(added) == 0 || len(removed) > 0 && removed[0].cell.Compare(added[0].cell) < 0 {
		return removed[0].cell
	}
	return added[0].cell
}

// ofCell returns how many of the first removals and additions belong to a cell.
func ofCell(removed []removal, added []addition, cell geo.Cell) (r, a int) {
	for r < len(removed) && removed[r].cell == cell {
		r++
	}
	for a < len(added) && added[a].cell == cell {
		a++
	}
	return r, a
}

// mergeCell builds a cell from its previous entries, without the removed and with the added ones. Removals are in the
// order of their references, entries in that of their heights. An entry that was added and removed in one change is
// left out.
func mergeCell(old []entry, removed []removal, added []addition) []entry {
	gone := func(r ref) bool {
		_, found := slices.BinarySearchFunc(removed, r, func(a removal, r ref) int { return a.ref.compare(r) })
		return found
	}
	merged := make([]entry, 0, max(0, len(old)+len(added)-len(removed)))
	next := 0
	for i := range old {
		for ; next < len(added) && added[next].entry.at.Z < old[i].at.Z; next++ {
			if !gone(added[next].entry.ref) {
				merged = append(merged, added[next].entry)
			}
		}
		if !gone(old[i].ref) {
			merged = append(merged, old[i])
		}
	}
	for ; next < len(added); next++ {
		if !gone(added[next].entry.ref) {
			merged = append(merged, added[next].entry)
		}
	}
	return merged
}
