package consensus

import "hash/maphash"

// NewWithPairLimits returns a Resolver with low limits of pairs, so that small tests exercise batches.
func NewWithPairLimits(unordered, atOnce int) *Resolver {
	r := &Resolver{kinds: newKindTable(), seed: maphash.MakeSeed()}
	r.clusters.pairLimits = pairLimits{unordered: unordered, atOnce: atOnce}
	return r
}

// Compared returns how many pairs and cells the last call looked at.
func (r *Resolver) Compared() int { return r.clusters.compared }
