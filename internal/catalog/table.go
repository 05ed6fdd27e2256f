package catalog

import (
	"hash/maphash"
	"maps"
)

// pageCount divides a table into pages: a change copies one page, which at 10 000 keys has some ten.
const pageCount = 1 << 10

// table is a persistent map: an edit leaves the table that it began from as it was, and shares with it the pages that it
// does not change. The zero value is empty.
type table[K comparable, V any] struct{ pages []map[K]V }

// seed makes keys that strangers choose spread over the pages.
var seed = maphash.MakeSeed()

func pageOf[K comparable](key K) uint64 { return maphash.Comparable(seed, key) % pageCount }

func (t table[K, V]) get(key K) (value V, ok bool) {
	if t.pages == nil {
		return value, false
	}
	value, ok = t.pages[pageOf(key)][key]
	return value, ok
}

// tableEdit is a table in the making.
type tableEdit[K comparable, V any] struct {
	table[K, V]
	own map[uint64]bool // pages that are copies already; nil: so far nothing is
}

func (t table[K, V]) edit() tableEdit[K, V] { return tableEdit[K, V]{table: t} }

// page gives the edit's own copy of a key's page.
func (e *tableEdit[K, V]) page(key K) map[K]V {
	number := pageOf(key)
	if e.own[number] {
		return e.pages[number]
	}
	if e.own == nil {
		e.own = make(map[uint64]bool)
		e.pages = append(make([]map[K]V, 0, pageCount), e.pages...)[:pageCount]
	}
	page := maps.Clone(e.pages[number])
	if page == nil {
		page = make(map[K]V, 1)
	}
	e.own[number], e.pages[number] = true, page
	return page
}

func (e *tableEdit[K, V]) set(key K, value V) { e.page(key)[key] = value }

func (e *tableEdit[K, V]) remove(key K) {
	if _, ok := e.get(key); ok {
		delete(e.page(key), key)
	}
}
