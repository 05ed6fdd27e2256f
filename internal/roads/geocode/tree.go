package geocode

import (
	"cmp"
	"slices"

	"wayside/internal/roads/graph"
)

// The tree is a k-d tree without pointers: the middle of a range is its root, and the elements before and after the
// middle are its two sides, divided by latitude and longitude in turn. Its numbers are those of features, then houses,
// then samples.

// writeTree puts everything that can be found by its position into the tree.
func (b *builder) writeTree() {
	for id := range b.features {
		if !b.documents[id].has(hidden) {
			b.tree = append(b.tree, id)
		}
	}
	for i := range b.houses {
		if b.houses[i].OSM != [2]uint32{} {
			b.tree = append(b.tree, b.features+uint32(i))
		}
	}
	for i := range b.samples {
		b.tree = append(b.tree, b.features+uint32(len(b.houses)+i))
	}
	features := int(b.features)
	b.divide(b.tree, features, false)
}

func (a *arrays) divide(part []uint32, features int, byLng bool) {
	if len(part) < 2 {
		return
	}
	slices.SortFunc(part, func(x, y uint32) int {
		p, q := a.treePosition(x, features), a.treePosition(y, features)
		if byLng {
			return cmp.Or(cmp.Compare(p.Lng, q.Lng), cmp.Compare(x, y))
		}
		return cmp.Or(cmp.Compare(p.Lat, q.Lat), cmp.Compare(x, y))
	})
	middle := len(part) / 2
	a.divide(part[:middle], features, !byLng)
	a.divide(part[middle+1:], features, !byLng)
}

// treePosition returns the position of an entry of the tree.
func (a *arrays) treePosition(number uint32, features int) graph.Position {
	n := int(number)
	if n < features {
		return a.documents[n].at()
	}
	if n -= features; n < len(a.houses) {
		return graph.Position{Lng: a.houses[n].Lng, Lat: a.houses[n].Lat}
	}
	s := &a.samples[n-len(a.houses)]
	return graph.Position{Lng: s.Lng, Lat: s.Lat}
}
