package consensus

import (
	"slices"

	"wayside/internal/mapdata"
)

// order sorts hits by keys: a hit is large, and so is moved once at most.
type order struct {
	keys, spare []key
	ends        []int // of runs
}

// key stands for the hit in a place.
type key struct {
	chord float64
	place int32
}

// arrange puts the hits that are not gone in order, at the beginning of the array.
func (o *order) arrange(hits []mapdata.Hit, gone []bool) []mapdata.Hit {
	o.keys = o.keys[:0]
	for i := range hits {
		if !gone[i] {
			o.keys = append(o.keys, key{chord: hits[i].Chord, place: int32(i)})
		}
	}
	o.sort(hits)
	o.move(hits, gone)
	return hits[:len(o.keys)]
}

func less(hits []mapdata.Hit, a, b key) bool {
	if a.chord != b.chord {
		return a.chord < b.chord
	}
	return hits[a.place].Compare(&hits[b.place]) < 0
}

// sort merges the runs that the keys already have: what an index found comes in order.
func (o *order) sort(hits []mapdata.Hit) {
	o.ends = o.ends[:0]
	for i := 1; i <= len(o.keys); i++ {
		if i == len(o.keys) || less(hits, o.keys[i], o.keys[i-1]) {
			o.ends = append(o.ends, i)
		}
	}
	for len(o.ends) > 1 {
		o.spare = slices.Grow(o.spare[:0], len(o.keys))
		kept, from := 0, 0
		for r := 0; r < len(o.ends); r += 2 {
			mid, end := o.ends[r], o.ends[min(r+1, len(o.ends)-1)]
			o.spare = mergeRuns(hits, o.spare, o.keys[from:mid], o.keys[mid:end])
			o.ends[kept], from = end, end
			kept++
		}
		o.ends = o.ends[:kept]
		o.keys, o.spare = o.spare, o.keys
	}
}

func mergeRuns(hits []mapdata.Hit, dst, a, b []key) []key {
	for len(a) > 0 && len(b) > 0 {
		if less(hits, b[0], a[0]) {
			dst, b = append(dst, b[0]), b[1:]
		} else {
			dst, a = append(dst, a[0]), a[1:]
		}
	}
	return append(append(dst, a...), b...)
}

// move puts every hit where its key is. Places of hits that are gone are free: chains of moves that end in one come
// first, then what is left is rings.
func (o *order) move(hits []mapdata.Hit, gone []bool) {
	for i := range o.keys {
		if !gone[i] {
			continue
		}
		for hole := int32(i); int(hole) < len(o.keys); {
			from := o.keys[hole].place
			hits[hole] = hits[from]
			o.keys[hole].place = hole
			hole = from
		}
	}
	for i := range o.keys {
		start := int32(i)
		if o.keys[i].place == start {
			continue
		}
		first := hits[i]
		for hole := start; ; {
			from := o.keys[hole].place
			o.keys[hole].place = hole
			if from == start {
				hits[hole] = first
				break
			}
			hits[hole] = hits[from]
			hole = from
		}
	}
}
