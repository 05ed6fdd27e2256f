package consensus

import "slices"

// unionFind holds disjoint sets of positions: the parent of each. A root is its own parent.
type unionFind []int32

func (u *unionFind) reset(n int) {
	*u = slices.Grow((*u)[:0], n)[:n]
	for i := range *u {
		(*u)[i] = int32(i)
	}
}

// root returns the root of i's set, and shortens the path to it.
func (u unionFind) root(i int32) int32 {
	for u[i] != i {
		u[i] = u[u[i]]
		i = u[i]
	}
	return i
}

func (u unionFind) union(a, b int32) { u[u.root(b)] = u.root(a) }
