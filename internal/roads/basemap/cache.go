package basemap

import "sync"

// maxCached is how many entries of leaf directories are kept: 24 bytes each, 12 MiB in total.
const maxCached = 1 << 19

// cache is a least-recently-used cache of leaf directories. The zero value is empty and ready.
type cache struct {
	mu     sync.Mutex
	held   map[section]*cached
	weight int
	clock  uint64
}

type cached struct {
	entries []entry
	used    uint64
}

func (c *cache) get(s section) []entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	found := c.held[s]
	if found == nil {
		return nil
	}
	c.clock++
	found.used = c.clock
	return found.entries
}

// put adds a directory, and evicts the least recently used ones. It scans all directories, which are so few that this
// costs less than reading one.
func (c *cache) put(s section, entries []entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held == nil {
		c.held = make(map[section]*cached)
	}
	if c.held[s] == nil {
		c.weight += weigh(entries)
	}
	c.clock++
	c.held[s] = &cached{entries, c.clock}
	for c.weight > maxCached && len(c.held) > 1 {
		var oldest section
		least := c.clock + 1
		for key, d := range c.held {
			if d.used < least {
				oldest, least = key, d.used
			}
		}
		c.weight -= weigh(c.held[oldest].entries)
		delete(c.held, oldest)
	}
}

// weigh returns the cost of a directory, including its place in the table.
func weigh(entries []entry) int { return len(entries) + 64 }
