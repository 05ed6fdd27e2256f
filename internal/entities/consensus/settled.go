package consensus

import (
	"math"
	"slices"

	"wayside/internal/ground/geo"
)

// Settled gives a distance in metres from center: what the last Resolve returned within it stays as it is, whatever lies
// known metres from center or farther and was not among the hits; known is in metres too. Merging is a chain: whether two
// pins become one may depend on a third, and so on, as far as there are matches. So a set of hits that are linked by
// matches is settled when each of them is known with all that may match it.
//
// A crowd counts as settled: there more hits may change what is merged, and looking for its end would cost too much.
func (r *Resolver) Settled(center geo.Vector, known float64) float64 {
	c := &r.clusters
	switch c.links {
	case linkedNever:
		return 0
	case notLinked:
		c.linkPairs()
	case linkedAll:
	}
	nearest := known
	open := r.openSets[:0]
	for i := range c.nodes {
		n := &c.nodes[i]
		distance := geo.MetresOf(n.at.ChordSquared(center))
		if !n.crowd && distance+r.kinds.family[n.kind].radius*geo.EarthRadius >= known {
			open = append(open, c.linked.root(int32(i)))
		}
	}
	slices.Sort(open)
	open = slices.Compact(open)
	r.openSets = open
	for i := range c.nodes {
		if _, is := slices.BinarySearch(open, c.linked.root(int32(i))); is {
			nearest = math.Min(nearest, geo.MetresOf(c.nodes[i].at.ChordSquared(center)))
		}
	}
	return nearest
}
