package index

import "math/bits"

// setLapsing updates whether the persistent entities of a feed are hidden at some time (D4.16), because it was
// deactivated after failed polls. There are few such feeds, so that a search checks each of them once rather than the
// feed of each entity.
func (v *version) setLapsing(place uint32) {
	switch {
	case v.feeds[place].lapses != 0:
		v.lapsing = v.lapsing.with(place)
	case v.lapsing.has(place):
		if v.lapsing.without(place); v.lapsing.empty() {
			v.lapsing = nil
		}
	}
}

// lapsed appends to an empty set the places of the feeds whose persistent entities are hidden at now, in milliseconds
// since 1970, except for those of own.
func (v *version) lapsed(set, own bitset, now int64) bitset {
	for k, word := range v.lapsing {
		for ; word != 0; word &= word - 1 {
			place := uint32(k*64 + bits.TrailingZeros64(word))
			if v.feeds[place].lapses <= now && !own.has(place) {
				set = set.with(place)
			}
		}
	}
	return set
}
