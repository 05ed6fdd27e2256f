package jsondoc

import (
	"hash/maphash"
	"math/bits"
)

// maxMembers is the largest number of members of an object, the same as of cells in a line of a table.
const maxMembers = 4096

// names finds duplicate names in one object. It keeps a 64-bit hash for each member of the open objects, those of the
// innermost last. The seed is random, so that nobody can construct two names that collide: by chance alone, one of 2^40
// objects with 4 096 members is refused.
type names struct {
	seed   maphash.Seed
	hashes []uint64
	table  []uint64 // for larger objects; reused
}

// fewMembers is the largest number of names that are compared pairwise.
const fewMembers = 12

// add appends a member of the innermost object, whose first member is at from, and reports whether the object may have
// so many.
func (n *names) add(name []byte, from int) bool {
	n.hashes = append(n.hashes, max(1, maphash.Bytes(n.seed, name)))
	return len(n.hashes)-from <= maxMembers
}

// end removes the members of the innermost object, whose first member is at from, and reports whether they contain a
// duplicate name.
func (n *names) end(from int) (twice bool) {
	own := n.hashes[from:]
	n.hashes = n.hashes[:from]
	if len(own) <= fewMembers {
		for i := 1; i < len(own); i++ {
			for j := range i {
				if own[i] == own[j] {
					return true
				}
			}
		}
		return false
	}
	size := 1 << bits.Len(uint(2*len(own)))
	if cap(n.table) < size {
		n.table = make([]uint64, size)
	}
	table := n.table[:size] // clears no more than the object needs
	clear(table)
	for _, hash := range own {
		at := int(hash) & (size - 1)
		for table[at] != 0 && table[at] != hash {
			at = (at + 1) & (size - 1)
		}
		if table[at] == hash {
			return true
		}
		table[at] = hash
	}
	return false
}
