package live

import (
	"hash/maphash"
	"strings"
	"sync"
	"time"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// tile is a parsed value. It is immutable, so that readers share it.
type tile struct {
	head    head
	marks   []mark // of the records, in their order
	records []record
	size    int // approximate size in bytes
}

// recordSize approximates the memory of a record and its mark, without the data that they point to.
const recordSize = 512

// mark holds the part of a record that a search needs. Marks are contiguous in memory.
type mark struct {
	at    geo.Vector
	hash  uint64 // of the external id
	seen  int64
	said  int64
	until int64 // the pin is shown before this time
	gone  bool
}

// newerThan compares the records of one pin in two tiles.
func (m *mark) newerThan(o *mark) bool {
	switch {
	case m.seen != o.seen:
		return m.seen > o.seen
	case m.said != o.said:
		return m.said > o.said
	}
	return !m.gone && o.gone
}

func (m *mark) fresh(now int64) bool { return !m.gone && m.until > now }

// tiles caches parsed values by key, in two generations: a tile that was not used during one generation is dropped with the next.
type tiles struct {
	encode func(dst []byte, e *mapdata.Entity) []byte
	seed   maphash.Seed
	limit  int // approximate bytes of one generation

	mu                sync.RWMutex
	current, previous map[string]*tile
	size              int // of current
	since             time.Time
}

// all returns the tiles of the keys with the given values: nil where there is no value, or an unreadable one.
func (t *tiles) all(keys []string, values [][]byte, upstream func(i int) string, now time.Time) []*tile {
	found := make([]*tile, len(keys))
	missed := false
	t.mu.RLock()
	for i, value := range values {
		if len(value) < headSize {
			continue
		}
		have := t.current[keys[i]]
		if have == nil || have.head != head(value[:headSize]) {
			missed = true
			continue
		}
		found[i] = have
	}
	t.mu.RUnlock()
	if !missed {
		return found
	}
	for i, value := range values {
		if found[i] == nil && len(value) >= headSize {
			found[i] = t.load(keys[i], value, upstream(i), now)
		}
	}
	return found
}

// load parses a value, or finds it in the previous generation, and caches it.
func (t *tiles) load(key string, value []byte, upstream string, now time.Time) *tile {
	t.mu.RLock()
	have := t.previous[key]
	t.mu.RUnlock()
	if have == nil || have.head != head(value[:headSize]) {
		records, err := readTile(upstream, value)
		if err != nil {
			return nil
		}
		have = t.build(records, value)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.size+have.size > t.limit || now.Sub(t.since) >= Freshness {
		t.current, t.previous = make(map[string]*tile), t.current
		t.size, t.since = 0, now
	}
	if was := t.current[key]; was != nil {
		t.size -= was.size
	}
	t.current[strings.Clone(key)] = have // the key may be part of a longer text
	t.size += have.size
	return have
}

func (t *tiles) build(records []record, value []byte) *tile {
	out := &tile{head: head(value[:headSize]), records: records, marks: make([]mark, len(records))}
	ends := make([]int, len(records))
	var prepared []byte
	for i := range records {
		r := &records[i]
		out.marks[i] = mark{
			at: r.pin.At, hash: maphash.String(t.seed, r.pin.ExternalID),
			seen: r.seen(), said: r.said, until: r.until(), gone: r.gone,
		}
		if !r.gone {
			prepared = t.encode(prepared, &r.pin.Entity)
		}
		ends[i] = len(prepared)
	}
	from := 0
	for i, to := range ends {
		records[i].pin.Prepared, from = prepared[from:to:to], to
	}
	out.size = 2*len(value) + cap(prepared) + len(records)*recordSize
	return out
}
