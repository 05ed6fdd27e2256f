package index

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
)

// keyHash is the hash of a feed's place and an external id; the seed keeps providers from aiming at collisions.
func (ix *Index) keyHash(place uint32, externalID []byte) uint64 {
	var h maphash.Hash
	h.SetSeed(ix.seed)
	var number [4]byte
	binary.LittleEndian.PutUint32(number[:], place)
	_, _ = h.Write(number[:]) // never fails
	_, _ = h.Write(externalID)
	return h.Sum64()
}

// networkHash stands for a charger network's name; 0 for none.
func (ix *Index) networkHash(name string) uint64 {
	if name == "" {
		return 0
	}
	return max(1, maphash.String(ix.seed, name))
}

// twinKey is the key itself, for the rare two that share a hash.
func twinKey(place uint32, externalID []byte) string {
	return string(binary.LittleEndian.AppendUint32(nil, place)) + string(externalID)
}

// find gives the slot of an entity that the index holds.
func (e *edit) find(place uint32, externalID []byte) (ref, bool) {
	return e.ix.find(e.v, place, externalID)
}

func (ix *Index) find(v *version, place uint32, externalID []byte) (ref, bool) {
	r, ok := ix.keys[ix.keyHash(place, externalID)]
	if !ok {
		return ref{}, false
	}
	if ix.holds(v, r, place, externalID) {
		return r, true
	}
	r, ok = ix.twins[twinKey(place, externalID)]
	return r, ok
}

func (ix *Index) holds(v *version, r ref, place uint32, externalID []byte) bool {
	seg := v.segments[r.seg]
	s := &seg.slots[r.row]
	return s.feed == place && bytes.Equal(s.externalID(seg), externalID)
}

// setKey remembers where an entity is.
func (ix *Index) setKey(v *version, place uint32, externalID []byte, r ref) {
	h := ix.keyHash(place, externalID)
	if old, taken := ix.keys[h]; taken && !ix.holds(v, old, place, externalID) {
		ix.twins[twinKey(place, externalID)] = r
		return
	}
	ix.keys[h] = r
}

// deleteKey forgets where an entity was. A twin that stays behind without its first moves up, or it would be lost.
func (ix *Index) deleteKey(place uint32, externalID []byte, r ref) {
	h := ix.keyHash(place, externalID)
	if ix.keys[h] != r {
		delete(ix.twins, twinKey(place, externalID))
		return
	}
	delete(ix.keys, h)
	for key, twin := range ix.twins {
		number := binary.LittleEndian.Uint32([]byte(key[:4]))
		if ix.keyHash(number, []byte(key[4:])) == h {
			ix.keys[h] = twin
			delete(ix.twins, key)
			return
		}
	}
}
