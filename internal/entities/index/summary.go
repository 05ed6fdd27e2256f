package index

import (
	"cmp"
	"slices"
	"sort"

	"wayside/internal/ground/geo"
)

// An overview of a large area must not read each entity, so the index also holds the number of entities in each tile of some levels, by all
// properties that decide whether a reader may see them. A version's summaries are immutable; a change copies the affected chunks.

// summaryLevels are the levels of tiles that are summed up. Finer tiles are counted from the cells, see Overview.
var summaryLevels = [...]int{4, 6, 8, 10}

// finestSummary is the last of summaryLevels.
const finestSummary = 10

// summaries holds one summary for each of summaryLevels.
type summaries [len(summaryLevels)]summary

// row counts the entities of one tile that are equivalent to readers, or the difference that a change makes to them.
type row struct {
	x, y    int64  // sums of the positions within the tile, in 2^-unitLevel of the map's side
	tile    uint32 // y << level | x
	feed    uint32 // place in the version's feeds
	network uint32 // a part of the hash of the charger network's name; 0: none
	count   int32
	kind    uint8
	flags   rowFlags
}

type rowFlags uint8

const (
	decaying rowFlags = 1 << iota // the entities expire
	hidden                        // a law hides them
)

// unitLevel is the level whose tiles are the unit of positions: a summed tile is at least 256 of them wide. Sums of units are exact, so
// that a row without entities is zero.
const unitLevel = finestSummary + 8

// major and minor return the parts of a row's key.
func (r *row) major() uint64 { return uint64(r.tile)<<32 | uint64(r.feed) }
func (r *row) minor() uint64 { return uint64(r.network)<<16 | uint64(r.kind)<<8 | uint64(r.flags) }

func (r *row) compare(o *row) int {
	return cmp.Or(cmp.Compare(r.major(), o.major()), cmp.Compare(r.minor(), o.minor()))
}

// add adds a row of the same key.
func (r *row) add(o *row) { r.count, r.x, r.y = r.count+o.count, r.x+o.x, r.y+o.y }

// spot is an entity as overviews count it.
type spot struct {
	at      geo.Mercator // where readers see it
	feed    uint32
	network uint32
	kind    uint8
	flags   rowFlags
}

// row returns a row of the finest summed level; by is 1, or -1 where the entity is removed.
func (p *spot) row(by int32) row {
	const offset = 1<<(unitLevel-finestSummary) - 1
	x, y := p.at.Tile(finestSummary)
	unitX, unitY := p.at.Tile(unitLevel)
	return row{
		tile: y<<finestSummary | x, feed: p.feed, network: p.network, kind: p.kind, flags: p.flags,
		count: by, x: int64(by) * int64(unitX&offset), y: int64(by) * int64(unitY&offset),
	}
}

// coarser returns a row of the next coarser level than summaryLevels[i].
func (r *row) coarser(i int) row {
	level, coarse := summaryLevels[i], summaryLevels[i-1]
	by := level - coarse
	x, y := r.tile&(1<<level-1), r.tile>>level
	c := *r
	c.tile = y>>by<<coarse | x>>by
	c.x += int64(r.count) * int64(x&(1<<by-1)<<(unitLevel-level))
	c.y += int64(r.count) * int64(y&(1<<by-1)<<(unitLevel-level))
	return c
}

// batchRows is the number of rows of a change that are processed in one step, because sorting more would occupy a reader's processor for
// long.
const batchRows = 1 << 13

// add applies a change, whose rows are of the finest level, in any order. It reuses the rows' memory.
func (s *summaries) add(rows []row, p *pace) {
	for i := len(summaryLevels) - 1; ; i-- {
		rows = combine(rows)
		s[i] = s[i].with(rows, p)
		if i == 0 || len(rows) == 0 {
			return
		}
		p.row(len(rows))
		for k := range rows {
			rows[k] = rows[k].coarser(i)
		}
	}
}

// fillCoarser computes the coarser levels, which are empty, from the finest.
func (s *summaries) fillCoarser(p *pace) {
	for i := len(summaryLevels) - 1; i > 0; i-- {
		var rows []row
		for k, c := range s[i].chunks {
			for j := range c.rows {
				rows = append(rows, c.rows[j].coarser(i))
			}
			if len(rows) >= batchRows || k == len(s[i].chunks)-1 {
				s[i-1] = s[i-1].with(combine(rows), p)
				rows = rows[:0]
			}
		}
	}
}

// Sizes of a chunk. Changes are spread over a country: a small chunk copies less, a large one keeps the list of chunks short.
const (
	minChunkRows = 32
	maxChunkRows = 128
)

// summary is the rows of one level, ordered, in chunks.
type summary struct{ chunks []chunk }

type chunk struct {
	first uint64 // major of the first row
	rows  []row  // not empty
}

// with returns the summary after a change, whose rows are combined.
func (s summary) with(change []row, p *pace) summary {
	if len(change) == 0 {
		return s
	}
	m := chunkMerger{done: make([]chunk, 0, len(s.chunks)+1)}
	at := 0
	for len(change) > 0 {
		i := max(at, sort.Search(len(s.chunks), func(i int) bool { return s.chunks[i].rows[0].compare(&change[0]) > 0 })-1)
		n := len(change)
		if i+1 < len(s.chunks) {
			next := &s.chunks[i+1].rows[0]
			n = sort.Search(n, func(k int) bool { return change[k].compare(next) >= 0 })
		}
		var rows []row
		m.keep(s.chunks[at:min(i, len(s.chunks))])
		if i < len(s.chunks) {
			rows = s.chunks[i].rows
		}
		m.merge(rows, change[:n])
		p.row(1 + (len(rows)+n)/rowsPerEntry)
		change, at = change[n:], i+1
	}
	m.keep(s.chunks[min(at, len(s.chunks)):])
	m.flush()
	return summary{m.done}
}

// chunkMerger builds the chunks of a summary.
type chunkMerger struct {
	done []chunk
	open []row // rows that are not in a chunk yet
}

// keep appends unchanged chunks, but merges the first one into the open rows if these are too few for a chunk.
func (m *chunkMerger) keep(chunks []chunk) {
	if len(chunks) == 0 {
		return
	}
	if n := len(m.open); n > 0 && n < minChunkRows {
		m.open = append(m.open, chunks[0].rows...)
		chunks = chunks[1:]
	}
	m.flush()
	m.done = append(m.done, chunks...)
}

// merge adds the changed rows of one chunk; rows without entities are left out.
func (m *chunkMerger) merge(rows, change []row) {
	for len(rows)+len(change) > 0 {
		order := -1
		if len(rows) == 0 {
			order = 1
		} else if len(change) > 0 {
			order = rows[0].compare(&change[0])
		}
		switch {
		case order < 0:
			m.open, rows = append(m.open, rows[0]), rows[1:]
			continue
		case order > 0:
			m.open, change = append(m.open, change[0]), change[1:]
			continue
		}
		sum := rows[0]
		if sum.add(&change[0]); sum.count != 0 {
			m.open = append(m.open, sum)
		}
		rows, change = rows[1:], change[1:]
	}
	if len(m.open) >= minChunkRows {
		m.flush()
	}
}

// flush makes chunks of the open rows.
func (m *chunkMerger) flush() {
	for parts := (len(m.open) + maxChunkRows - 1) / maxChunkRows; parts > 0; parts-- {
		n := len(m.open) / parts
		rows := slices.Clone(m.open[:n:n])
		m.done = append(m.done, chunk{rows[0].major(), rows})
		m.open = m.open[n:]
	}
	m.open = m.open[:0]
}

// combine sorts rows and adds up those of one key. Rows that cancel each other out are left out.
func combine(rows []row) []row {
	slices.SortFunc(rows, func(a, b row) int { return a.compare(&b) })
	kept := rows[:0]
	for i := range rows {
		if n := len(kept); n > 0 && kept[n-1].compare(&rows[i]) == 0 {
			kept[n-1].add(&rows[i])
		} else {
			kept = append(kept, rows[i])
		}
	}
	return slices.DeleteFunc(kept, func(r row) bool { return r.count == 0 && r.x == 0 && r.y == 0 })
}
