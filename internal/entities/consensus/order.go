package consensus

import (
	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// order sorts hits by keys, because hits are large and should be moved at most once.
type order struct {
	hits []mapdata.Hit
	keys []geo.Ranked // by positions in hits
	by   geo.Ranking
}

// arrange sorts the hits that are not gone to the beginning of the array.
func (o *order) arrange(hits []mapdata.Hit, gone []bool) []mapdata.Hit {
	o.keys = o.keys[:0]
	for i := range hits {
		if !gone[i] {
			o.keys = append(o.keys, geo.Ranked{Chord: hits[i].Chord, Ref: uint64(i)})
		}
	}
	o.hits = hits
	o.keys = o.by.Sort(o.keys, o)
	o.hits = nil // lets it be collected
	o.move(hits, gone)
	return hits[:len(o.keys)]
}

// CompareTies orders hits at equal distances by id.
func (o *order) CompareTies(a, b uint64) int { return o.hits[a].Compare(&o.hits[b]) }

// move moves every hit to the place of its key. Positions of hits that are gone are free: chains of moves that end in
// one come first; then only cycles of moves are left.
func (o *order) move(hits []mapdata.Hit, gone []bool) {
	for i := range o.keys {
		if !gone[i] {
			continue
		}
		for hole := uint64(i); int(hole) < len(o.keys); {
			from := o.keys[hole].Ref
			hits[hole] = hits[from]
			o.keys[hole].Ref = hole
			hole = from
		}
	}
	for i := range o.keys {
		start := uint64(i)
		if o.keys[i].Ref == start {
			continue
		}
		first := hits[i]
		for hole := start; ; {
			from := o.keys[hole].Ref
			o.keys[hole].Ref = hole
			if from == start {
				hits[hole] = first
				break
			}
			hits[hole] = hits[from]
			hole = from
		}
	}
}
