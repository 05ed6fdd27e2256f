package graph

import (
	"encoding/binary"
	"slices"
)

// idCounter counts distinct ids. It keeps a byte or two for each: the difference from the previous one.
type idCounter struct {
	differences []byte
	n           int64
	last        int64
	unordered   bool // some id was not larger than the previous one
}

func (c *idCounter) add(ids []int64) {
	for i, id := range ids {
		c.unordered = c.unordered || (c.n > 0 || i > 0) && id <= c.last
		c.differences = binary.AppendVarint(c.differences, id-c.last)
		c.last = id
	}
	c.n += int64(len(ids))
}

func (c *idCounter) count() int64 {
	if !c.unordered {
		return c.n
	}
	ids, id := make([]int64, 0, c.n), int64(0)
	for rest := c.differences; len(rest) > 0; {
		difference, n := binary.Varint(rest)
		rest = rest[n:]
		id += difference
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return int64(len(slices.Compact(ids)))
}
