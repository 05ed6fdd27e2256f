package cch

import "math"

// directions is in how many directions a cut of a cell is tried; the best is taken.
const directions = 4

// along returns how far a place lies in a direction.
func along(direction int, x, y int64) int64 {
	switch direction {
	case 0:
		return x
	case 1:
		return y
	case 2:
		return x + y
	}
	return x - y
}

// components splits a disconnected cell into two cells of about equal size, without cutting a street. It returns nil if
// the cell is connected.
func (c *cell) components() []bool {
	seen, side := make([]bool, len(c.nodes)), make([]bool, len(c.nodes))
	var stack []uint32
	var sizes [2]int
	for start := range c.nodes {
		if seen[start] {
			continue
		}
		seen[start] = true
		to, count := sizes[1] < sizes[0], 0
		stack = append(stack[:0], uint32(start))
		for len(stack) > 0 {
			n := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			side[n] = to
			count++
			for _, h := range c.heads[c.first[n]:c.first[n+1]] {
				if !seen[h.to] {
					seen[h.to] = true
					stack = append(stack, h.to)
				}
			}
		}
		if count == len(c.nodes) {
			return nil
		}
		if to {
			sizes[1] += count
		} else {
			sizes[0] += count
		}
	}
	return side
}

// Inertial flow: the outermost nodes of a cell in some direction, heldPart/heldWhole of all nodes at each end, are the
// sources and targets of a maximum flow, which gives the cut with the fewest arcs between them.
const (
	heldPart  = 1
	heldWhole = 4
)

// cut is a way to split a cell.
type cut struct {
	side  []bool
	score float64 // cut arcs for each node on the smaller side
}

// bisect splits a cell in two.
func (d *dissection) bisect(c *cell) []bool {
	if len(c.nodes) == 2 {
		return []bool{false, true}
	}
	best := cut{score: math.Inf(1)}
	if len(c.nodes) >= minConcurrentNodes {
		var cuts [directions]cut
		done := make(chan struct{}, directions)
		for i := range cuts {
			d.concurrently(func() {
				cuts[i] = newFlow(c, d).cut(i, math.Inf(1))
				done <- struct{}{}
			})
		}
		for range cuts {
			<-done
		}
		for _, found := range cuts {
			if found.score < best.score {
				best = found
			}
		}
		return best.side
	}
	f := newFlow(c, d)
	for i := range directions {
		if found := f.cut(i, best.score); found.score < best.score {
			best = found
		}
	}
	return best.side
}

// minConcurrentNodes is the size of a cell from which its directions are tried concurrently.
const minConcurrentNodes = 4000

// flow finds maximum flows in a cell with Dinic's algorithm.
type flow struct {
	cell     *cell
	capacity []int32 // of each half, in arcs
	residual []int32
	level    []int32
	next     []uint32 // the half to try next, by node
	held     []int8   // source, target or neither, by node
	queue    []uint32
	path     []uint32 // halves
}

const (
	free int8 = iota
	source
	target
)

func newFlow(c *cell, d *dissection) *flow {
	f := &flow{
		cell: c, capacity: make([]int32, len(c.heads)), residual: make([]int32, len(c.heads)), level: make([]int32, len(c.nodes)),
		next: make([]uint32, len(c.nodes)), held: make([]int8, len(c.nodes)), queue: make([]uint32, 0, len(c.nodes)),
	}
	for i, h := range c.heads {
		s := d.streets[h.street]
		f.capacity[i] = int32(s.end - s.first)
	}
	return f
}

// cut returns the best cut in a direction. Its score is infinite if it cannot be better than best.
func (f *flow) cut(direction int, best float64) cut {
	order := f.cell.orders[direction]
	count := len(order)
	held := max(1, count*heldPart/heldWhole)
	clear(f.held)
	for _, n := range order[:held] {
		f.held[n] = source
	}
	for _, n := range order[count-held:] {
		f.held[n] = target
	}
	copy(f.residual, f.capacity)
	total := int32(0)
	for f.levels() {
		copy(f.next, f.cell.first)
		for _, n := range order[:held] {
			total += f.augment(n)
		}
		if float64(total)/float64(count/2) >= best {
			return cut{score: math.Inf(1)}
		}
	}
	near := f.reachable(source)
	size := 0
	for _, in := range near {
		if in {
			size++
		}
	}
	side, small := near, min(size, count-size)
	far := f.reachable(target)
	size = 0
	for _, in := range far {
		if in {
			size++
		}
	}
	if other := min(size, count-size); other > small {
		side, small = far, other
	}
	return cut{side, float64(total) / float64(small)}
}

// levels computes the number of halves between the sources and each node. It returns false if no target can be reached.
func (f *flow) levels() bool {
	c := f.cell
	f.queue = f.queue[:0]
	for n := range f.level {
		f.level[n] = -1
		if f.held[n] == source {
			f.level[n] = 0
			f.queue = append(f.queue, uint32(n))
		}
	}
	reached := int32(math.MaxInt32)
	for at := 0; at < len(f.queue); at++ {
		n := f.queue[at]
		if f.level[n] >= reached {
			break
		}
		for i := c.first[n]; i < c.first[n+1]; i++ {
			to := c.heads[i].to
			if f.residual[i] == 0 || f.level[to] >= 0 {
				continue
			}
			f.level[to] = f.level[n] + 1
			if f.held[to] == target {
				reached = f.level[to]
			}
			f.queue = append(f.queue, to)
		}
	}
	return reached != math.MaxInt32
}

// augment sends as much flow as possible from a source to the targets along the levels.
func (f *flow) augment(from uint32) (sent int32) {
	c := f.cell
	f.path = f.path[:0]
	n := from
	for {
		if f.held[n] == target {
			least := int32(math.MaxInt32)
			for _, i := range f.path {
				least = min(least, f.residual[i])
			}
			for _, i := range f.path {
				f.residual[i] -= least
				f.residual[c.heads[i].twin] += least
			}
			sent += least
			f.path = f.path[:0]
			n = from
			continue
		}
		advanced := false
		for ; f.next[n] < c.first[n+1]; f.next[n]++ {
			i := f.next[n]
			if to := c.heads[i].to; f.residual[i] > 0 && f.level[to] == f.level[n]+1 {
				f.path = append(f.path, i)
				n, advanced = to, true
				break
			}
		}
		if advanced {
			continue
		}
		if len(f.path) == 0 {
			return sent
		}
		last := f.path[len(f.path)-1]
		f.path = f.path[:len(f.path)-1]
		n = c.heads[c.heads[last].twin].to
		f.next[n]++
	}
}

// reachable reports for each node whether the sources reach it over residual capacity or, if from is target, whether it
// reaches the targets.
func (f *flow) reachable(from int8) []bool {
	c := f.cell
	seen := make([]bool, len(c.nodes))
	f.queue = f.queue[:0]
	for n := range seen {
		if f.held[n] == from {
			seen[n] = true
			f.queue = append(f.queue, uint32(n))
		}
	}
	for at := 0; at < len(f.queue); at++ {
		n := f.queue[at]
		for i := c.first[n]; i < c.first[n+1]; i++ {
			h := c.heads[i]
			room := f.residual[i]
			if from == target {
				room = f.residual[h.twin]
			}
			if room > 0 && !seen[h.to] {
				seen[h.to] = true
				f.queue = append(f.queue, h.to)
			}
		}
	}
	return seen
}
