package car

// Tag is one tag of a node, way or relation.
type Tag struct{ Key, Value string }

// Tags are the tags of one node, way or relation, in any order. If a key occurs twice, the first value counts.
type Tags []Tag

// Value returns the value of a key, or "" if there is none. A tag with an empty value counts as absent (D15.3).
func (t Tags) Value(key string) string {
	for i := range t {
		if t[i].Key == key && t[i].Value != "" {
			return t[i].Value
		}
	}
	return ""
}

// Direction is one of the two directions of a way: that of its nodes, or against it.
type Direction uint8

// The two directions of a way.
const (
	Forward Direction = iota
	Backward
)

// slot is the index of a key in values.
type slot uint8

// maxKeys bounds the number of keys that a profile reads; the built-in one reads about 70.
const maxKeys = 96

// values holds the values of the profile's keys on one way, by slot. It is an array, because a map for each way would
// cost more than everything else.
type values [maxKeys]string

// directedKey is a key with its variants for one direction. A variant takes precedence over the key itself (D15.4).
type directedKey struct{ both, forward, backward slot }

// first returns the value of the first of the keys that the way has in a direction, or "".
func (v *values) first(keys []directedKey, d Direction) string {
	for _, k := range keys {
		own := k.forward
		if d == Backward {
			own = k.backward
		}
		if v[own] != "" {
			return v[own]
		}
		if v[k.both] != "" {
			return v[k.both]
		}
	}
	return ""
}

// vocabulary assigns a slot to each key that a profile reads.
type vocabulary map[string]slot

func (v vocabulary) slot(key string) slot {
	s, ok := v[key]
	if !ok {
		s = slot(len(v)) //nolint:gosec // Parse refuses data with more than maxKeys keys
		v[key] = s
	}
	return s
}

func (v vocabulary) slots(keys ...string) []slot {
	all := make([]slot, len(keys))
	for i, key := range keys {
		all[i] = v.slot(key)
	}
	return all
}

func (v vocabulary) directed(keys ...string) []directedKey {
	all := make([]directedKey, len(keys))
	for i, key := range keys {
		all[i] = directedKey{v.slot(key), v.slot(key + ":forward"), v.slot(key + ":backward")}
	}
	return all
}

// read puts the values of tags into the slots of their keys.
func (v vocabulary) read(tags Tags, into *values) {
	for i := range tags {
		if s, ok := v[tags[i].Key]; ok && into[s] == "" {
			into[s] = tags[i].Value
		}
	}
}
