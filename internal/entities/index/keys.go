package index

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"maps"
	"slices"

	"wayside/internal/ground/mapdata"
)

// writer is the state of the newest version that only the writer needs. Staging a change modifies it, and records how
// to undo that until the change is published.
type writer struct {
	seed       maphash.Seed
	keys       map[uint64]ref    // by hash of feed and external id
	collisions map[string]ref    // by feed and external id, where two have one hash
	votes      map[string]uint32 // numbers of tallies, by feed id and external id
	newest     uint32            // highest number of a tally so far
	unused     []uint32          // numbers of tallies that nothing refers to
	forgotten  []uint32          // numbers to which a running search may still refer
	open       uint32            // number of the segment that takes the next slots
	free       []uint32          // numbers of segments that were removed
	text       []byte            // scratch: of the current entity
}

func newWriter(seed maphash.Seed, entities int) *writer {
	return &writer{
		seed: seed, keys: make(map[uint64]ref, entities), collisions: make(map[string]ref), votes: make(map[string]uint32),
	}
}

// keyHash returns the hash of a feed's place and an external id. The random seed prevents providers from causing
// collisions.
func (w *writer) keyHash(place uint32, externalID []byte) uint64 {
	var h maphash.Hash
	h.SetSeed(w.seed)
	var number [4]byte
	binary.LittleEndian.PutUint32(number[:], place)
	_, _ = h.Write(number[:]) // never fails
	_, _ = h.Write(externalID)
	return h.Sum64()
}

// networkHash returns the hash of a charger network's name, and 0 for none.
func (ix *Index) networkHash(name string) uint64 {
	if name == "" {
		return 0
	}
	return max(1, maphash.String(ix.seed, name))
}

// collisionKey returns the unhashed key, for the rare two that share a hash.
func collisionKey(place uint32, externalID []byte) string {
	return string(binary.LittleEndian.AppendUint32(nil, place)) + string(externalID)
}

// find returns the slot of an entity, if the version holds it.
func (w *writer) find(v *version, place uint32, externalID []byte) (ref, bool) {
	r, ok := w.keys[w.keyHash(place, externalID)]
	if !ok {
		return ref{}, false
	}
	if holds(v, r, place, externalID) {
		return r, true
	}
	r, ok = w.collisions[collisionKey(place, externalID)]
	return r, ok
}

// holds reports whether a slot belongs to an entity.
func holds(v *version, r ref, place uint32, externalID []byte) bool {
	s, seg := v.slot(r)
	return s.feed == place && bytes.Equal(s.externalID(seg), externalID)
}

// setKey records the slot of an entity.
func (w *writer) setKey(v *version, place uint32, externalID []byte, r ref, u *undo) {
	h := w.keyHash(place, externalID)
	if old, taken := w.keys[h]; taken && !holds(v, old, place, externalID) {
		w.ownCollisions(u)
		w.collisions[collisionKey(place, externalID)] = r
		return
	}
	w.replaceKey(h, r, true, u)
}

// replaceKey sets or deletes the slot of a hash.
func (w *writer) replaceKey(h uint64, r ref, set bool, u *undo) {
	if u != nil {
		old, had := w.keys[h]
		u.keys = append(u.keys, keyBefore{hash: h, ref: old, had: had})
	}
	if set {
		w.keys[h] = r
	} else {
		delete(w.keys, h)
	}
}

// ownCollisions copies the collisions, so that undo can restore the old ones.
func (w *writer) ownCollisions(u *undo) {
	if u != nil && u.collisions == nil {
		u.collisions = w.collisions
		w.collisions = maps.Clone(w.collisions)
	}
}

// deleteKey removes the key of an entity. Another entity with the same hash takes its place in keys, because it would
// be lost otherwise.
func (w *writer) deleteKey(place uint32, externalID []byte, r ref, u *undo) {
	h := w.keyHash(place, externalID)
	if w.keys[h] != r {
		w.ownCollisions(u)
		delete(w.collisions, collisionKey(place, externalID))
		return
	}
	for key, other := range w.collisions {
		if w.keyHash(binary.LittleEndian.Uint32([]byte(key)), []byte(key[4:])) == h {
			w.ownCollisions(u)
			delete(w.collisions, key)
			w.replaceKey(h, other, true, u)
			return
		}
	}
	w.replaceKey(h, ref{}, false, u)
}

// voteKey returns the key of an entity's votes. It contains the feed's id, because the votes outlive the feed's place.
func voteKey(id mapdata.FeedID, externalID []byte) string {
	return string(append(id[:], externalID...))
}

// voteNumber returns the number of an entity's tally, or 0 if there are no votes on it.
func (w *writer) voteNumber(id mapdata.FeedID, externalID []byte) uint32 {
	if len(w.votes) == 0 {
		return 0
	}
	return w.votes[voteKey(id, externalID)]
}

// addVote returns the number of an entity's tally, and assigns a new one where it has none.
func (w *writer) addVote(id mapdata.FeedID, externalID []byte, u *undo) uint32 {
	key := voteKey(id, externalID)
	number, known := w.votes[key]
	if !known {
		number = w.newNumber()
		w.votes[key] = number
		if u != nil {
			u.votes = append(u.votes, key)
		}
	}
	return number
}

// newNumber returns a number for a new tally.
func (w *writer) newNumber() uint32 {
	if n := len(w.unused); n > 0 {
		number := w.unused[n-1]
		w.unused = w.unused[:n-1]
		return number
	}
	w.newest++
	return w.newest
}

// undo restores the writer's state from before a change was staged.
type undo struct {
	keys           []keyBefore
	collisions     map[string]ref // nil: unchanged
	votes          []string       // keys of added votes
	dead           []deadSlot
	open           uint32
	free           []uint32
	used, textUsed int // of the open segment
}

type keyBefore struct {
	hash uint64
	ref  ref
	had  bool
}

// deadSlot is a slot that the change marked as dead.
type deadSlot struct {
	slot    *slot
	segment *segment
}

// newUndo records the state before a change of v.
func (w *writer) newUndo(v *version) *undo {
	seg := v.segments[w.open]
	return &undo{open: w.open, free: slices.Clone(w.free), used: seg.used, textUsed: seg.textUsed}
}

// roll restores the writer's state from before the change of v.
func (u *undo) roll(w *writer, v *version) {
	for _, k := range slices.Backward(u.keys) {
		if k.had {
			w.keys[k.hash] = k.ref
		} else {
			delete(w.keys, k.hash)
		}
	}
	if u.collisions != nil {
		w.collisions = u.collisions
	}
	for _, key := range u.votes {
		delete(w.votes, key)
	}
	for _, d := range u.dead {
		d.slot.dead = false
		d.segment.deadSlots--
	}
	w.open, w.free = u.open, u.free
	seg := v.segments[w.open]
	seg.used, seg.textUsed = u.used, u.textUsed
}
