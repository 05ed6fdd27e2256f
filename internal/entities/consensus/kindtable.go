package consensus

import (
	"math/bits"
	"strings"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// kindTable holds which kinds may be one event, and how near they must be (D10.1, D10.2).
type kindTable struct {
	mergeable mapdata.KindSet
	match     [mapdata.KindCount]mapdata.KindSet
	reach     [mapdata.KindCount]float64 // squared chord of the merge distance
	family    [mapdata.KindCount]family
	fine      [mapdata.KindCount]family // with smaller cells, each of which lies in one cell of family
}

// family is a set of kinds that matches connect, directly or not, with their common search parameters: their pairs are
// searched together.
type family struct {
	number uint64
	radius float64 // chord of the longest merge distance among them, and a margin for rounding
	scale  float64 // cells of their grid per unit
}

const (
	// cells are this many merge distances wide, so that most entities have all their neighbours in one or two cells
	cellWidth = 4
	// About a hundredth of a millimetre.
	chordEpsilon = 1e-12
	// Smaller cells, or those of the finer grid of crowds, would not fit into a cell's key.
	minCellSize = 1.6e-5
)

func newKindTable() *kindTable {
	t := new(kindTable)
	kinds := mapdata.Kinds()
	for k := range kinds {
		if kinds[k].MergeDistance <= 0 {
			continue
		}
		t.mergeable = t.mergeable.With(mapdata.Kind(k))
		t.reach[k] = geo.ChordSquaredOf(kinds[k].MergeDistance)
		for o := range kinds {
			if kinds[o].MergeDistance > 0 && related(kinds[k].ID, kinds[o].ID) {
				t.match[k] = t.match[k].With(mapdata.Kind(o))
			}
		}
	}
	for k := range kinds {
		if t.mergeable.Has(mapdata.Kind(k)) {
			t.family[k] = t.familyOf(mapdata.Kind(k), kinds)
			t.fine[k] = t.family[k]
			t.fine[k].scale *= cellWidth
		}
	}
	return t
}

// related reports whether a and b are one kind, or one the parent of the other.
func related(a, b string) bool {
	return a == b || strings.HasPrefix(a, b+".") || strings.HasPrefix(b, a+".")
}

func (t *kindTable) familyOf(k mapdata.Kind, kinds []mapdata.KindInfo) family {
	set := t.match[k]
	for before := mapdata.KindSet(0); before != set; {
		before = set
		for o := range kinds {
			if set.Has(mapdata.Kind(o)) {
				set |= t.match[o]
			}
		}
	}
	longest := 0.0
	for o := range kinds {
		if set.Has(mapdata.Kind(o)) {
			longest = max(longest, kinds[o].MergeDistance)
		}
	}
	// The straight line is never longer than the way over the globe.
	radius := longest/geo.EarthRadius + chordEpsilon
	return family{
		number: uint64(bits.TrailingZeros64(uint64(set))),
		radius: radius,
		scale:  1 / max(cellWidth*radius, minCellSize),
	}
}
