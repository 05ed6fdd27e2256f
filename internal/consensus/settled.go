package consensus

import (
	"math"
	"slices"

	"wayside/internal/geo"
)

// Settled returns a distance in metres from center within which the result of the last Resolve would be the same,
// whatever entities lie known metres from center or farther and were not among the hits; known is in metres too.
// Merging is a chain: whether two pins become one may depend on a third, and so on, as far as there are matches. A set
// of hits that are linked by matches is therefore settled when all possible matches of each of them are known.
func (r *Resolver) Settled(center geo.Vector, known float64) float64 {
	c := &r.clusters
	if c.ordered {
		return 0 // so crowded that the pairs were taken in batches and are not kept
	}
	r.linkPairs()
	nearest := known
	open := r.openSets[:0]
	for i := range c.nodes {
		n := &c.nodes[i]
		distance := geo.MetresOf(n.at.ChordSquared(center))
		if distance+r.kinds.family[n.kind].radius*geo.EarthRadius >= known {
			open = append(open, r.linked.root(int32(i)))
		}
	}
	slices.Sort(open)
	open = slices.Compact(open)
	r.openSets = open
	for i := range c.nodes {
		if _, is := slices.BinarySearch(open, r.linked.root(int32(i))); is {
			nearest = math.Min(nearest, geo.MetresOf(c.nodes[i].at.ChordSquared(center)))
		}
	}
	return nearest
}

// linkPairs unites all nodes that are linked by matching pairs, whether these were joined or not.
func (r *Resolver) linkPairs() {
	r.linked.reset(len(r.clusters.nodes))
	for _, p := range r.clusters.pairs {
		r.linked.union(p.a, p.b)
	}
}
