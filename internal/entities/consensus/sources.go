package consensus

import (
	"hash/maphash"
	"math/bits"
	"slices"

	"wayside/internal/ground/mapdata"
)

// buckets is a hash table without values: chains of positions, each plus one, so that 0 ends a chain.
type buckets struct {
	heads []int32
	next  []int32 // by position
	shift int
}

// reset empties the table and makes room for n positions.
func (b *buckets) reset(n int) {
	size := 1 << bits.Len(uint(2*n))
	b.shift = 64 - bits.TrailingZeros(uint(size))
	b.heads = slices.Grow(b.heads[:0], size)[:size]
	clear(b.heads)
	b.next = slices.Grow(b.next[:0], n)[:n]
}

// head returns the chain of a hash, chosen by its high bits.
func (b *buckets) head(hash uint64) *int32 { return &b.heads[hash>>b.shift] }

// put prepends a position to a chain.
func (b *buckets) put(head *int32, place int32) {
	b.next[place] = *head
	*head = place + 1
}

// sourceNumbers assigns numbers to the sources of one call. Two upstreams of the live incidents are two sources (D8.1).
type sourceNumbers struct {
	seed  maphash.Seed
	known []source
	heads [64]int32 // chains of positions in known, plus one
	last  int32
}

type source struct {
	id       mapdata.SourceID
	upstream string
	next     int32
}

func (o *sourceNumbers) reset(seed maphash.Seed) {
	o.seed = seed
	clear(o.known)
	o.known = o.known[:0]
	clear(o.heads[:])
	o.last = 0
}

// number returns the number of the hit's source, from 0.
func (o *sourceNumbers) number(h *mapdata.Hit) int32 {
	if len(o.known) > 0 && o.known[o.last].is(h) {
		return o.last
	}
	name := string(h.Source)
	if h.Upstream != "" {
		name = h.Upstream
	}
	hash := maphash.String(o.seed, name)
	head := &o.heads[hash%uint64(len(o.heads))]
	for place := *head; place != 0; place = o.known[place-1].next {
		if o.known[place-1].is(h) {
			o.last = place - 1
			return o.last
		}
	}
	o.last = int32(len(o.known))
	o.known = append(o.known, source{id: h.Source, upstream: h.Upstream, next: *head})
	*head = o.last + 1
	return o.last
}

func (o *source) is(h *mapdata.Hit) bool { return o.id == h.Source && o.upstream == h.Upstream }
