package consensus

import "hash/maphash"

// Narrowed gives a Resolver that holds few pairs at once, so that small tests take the way of crowds.
func Narrowed(few, most int) *Resolver {
	r := &Resolver{kinds: newKindTable(), seed: maphash.MakeSeed()}
	r.crowd.portions = portions{few: few, most: most}
	return r
}
