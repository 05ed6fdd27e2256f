package catalog

import (
	"hash/maphash"
	"maps"
)

// pageCount is the number of pages of a table: a change copies one page, which has some ten of 10 000 keys.
const pageCount = 1 << 10

// table is a persistent (copy-on-write) map: an edit shares unchanged pages with the original table, which stays unchanged.
// The zero value is empty.
type table[K comparable, V any] struct{ pages []map[K]V }

// seed randomizes the distribution of keys that users choose, against hash flooding.
var seed = maphash.MakeSeed()

func pageOf[K comparable](key K) uint64 { return maphash.Comparable(seed, key) % pageCount }

func (t table[K, V]) get(key K) (value V, ok bool) {
	if t.pages == nil {
		return value, false
	}
	value, ok = t.pages[pageOf(key)][key]
	return value, ok
}

// tableEdit is a table under construction.
type tableEdit[K comparable, V any] struct {
	table[K, V]
	copied map[uint64]bool // pages that were copied; nil: none yet
}

func (t table[K, V]) edit() tableEdit[K, V] { return tableEdit[K, V]{table: t} }

// page returns the edit's own copy of a key's page.
func (e *tableEdit[K, V]) page(key K) map[K]V {
	number := pageOf(key)
	if e.copied[number] {
		return e.pages[number]
	}
	if e.copied == nil {
		e.copied = make(map[uint64]bool)
		e.pages = append(make([]map[K]V, 0, pageCount), e.pages...)[:pageCount]
	}
	page := maps.Clone(e.pages[number])
	if page == nil {
		page = make(map[K]V, 1)
	}
	e.copied[number], e.pages[number] = true, page
	return page
}

func (e *tableEdit[K, V]) set(key K, value V) { e.page(key)[key] = value }

func (e *tableEdit[K, V]) remove(key K) {
	if _, ok := e.get(key); ok {
		delete(e.page(key), key)
	}
}
