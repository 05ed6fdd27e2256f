package consensus

import "hash/maphash"

// Narrowed gives a Resolver that holds few pairs at once, so that small tests exercise batches.
func Narrowed(unordered, atOnce int) *Resolver {
	r := &Resolver{kinds: newKindTable(), seed: maphash.MakeSeed()}
	r.clusters.pairLimits = pairLimits{unordered: unordered, atOnce: atOnce}
	return r
}
