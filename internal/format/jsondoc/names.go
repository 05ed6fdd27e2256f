package jsondoc

import (
	"hash/maphash"
	"math/bits"
)

// maxMembers is how many members an object has at most: as many as a line of a table has cells.
const maxMembers = 4096

// names finds names that stand twice in one object. It keeps a hash of 64 bits for each member of the objects that are open, the innermost
// last. The seed is chosen by chance, so that nobody can make two names meet: by chance alone, one of 2^40 objects with 4 096 members is
// refused.
type names struct {
	seed   maphash.Seed
	hashes []uint64
	table  []uint64 // for larger objects; its room is used again
}

// fewMembers is how many names are compared each with each.
const fewMembers = 12

// add notes a member of the innermost object, whose first is at from, and reports whether the object may have so many.
func (n *names) add(name []byte, from int) bool {
	n.hashes = append(n.hashes, max(1, maphash.Bytes(n.seed, name)))
	return len(n.hashes)-from <= maxMembers
}

// end forgets the members of the innermost object, whose first is at from, and reports whether one name stands twice among them.
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
	table := n.table[:size] // no more of it is cleared than the object needs
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
