package consensus

import (
	"hash/maphash"
	"maps"
	"sync/atomic"

	"wayside/internal/mapdata"
)

// ledgerShards divides the ledger: a vote copies one shard, which at 100 000 tallies has some 25.
const ledgerShards = 1 << 12

// Ledger holds the tallies of votes on live incidents. Any number of goroutines may look up while one sets.
type Ledger struct {
	seed  maphash.Seed
	pages atomic.Pointer[ledgerPages]
}

// ledgerPages is replaced whole by a Reset, and page by page by a Set. A page is never changed once it is stored.
type ledgerPages [ledgerShards]atomic.Pointer[map[string]*mapdata.Tally]

// NewLedger makes an empty ledger.
func NewLedger() *Ledger {
	l := &Ledger{seed: maphash.MakeSeed()}
	l.pages.Store(new(ledgerPages))
	return l
}

// Set takes tallies over, each in the place of an earlier one of the same incident. One without votes is kept: its
// ChangedAt says that the last vote was taken back (D4.3). Tallies of other sources are passed over. One goroutine at a
// time may call Set or Reset.
func (l *Ledger) Set(tallies []mapdata.Tally) {
	pages := l.pages.Load()
	for i := range tallies {
		t := tallies[i]
		if t.Source != mapdata.Incidents {
			continue
		}
		place := &pages[maphash.String(l.seed, t.ExternalID)%ledgerShards]
		page := make(map[string]*mapdata.Tally, 1)
		if old := place.Load(); old != nil {
			page = maps.Clone(*old)
		}
		page[t.ExternalID] = &t
		place.Store(&page)
	}
}

// Reset puts tallies in the place of everything that was there. Readers see all of it at once.
func (l *Ledger) Reset(tallies []mapdata.Tally) {
	built := make(map[uint64]map[string]*mapdata.Tally)
	for i := range tallies {
		t := tallies[i]
		if t.Source != mapdata.Incidents {
			continue
		}
		number := maphash.String(l.seed, t.ExternalID) % ledgerShards
		if built[number] == nil {
			built[number] = make(map[string]*mapdata.Tally)
		}
		built[number][t.ExternalID] = &t
	}
	pages := new(ledgerPages)
	for number, page := range built {
		pages[number].Store(&page)
	}
	l.pages.Store(pages)
}

// Lookup gives the tally of a live incident, and false if nobody ever voted on it. It neither locks nor allocates.
func (l *Ledger) Lookup(externalID []byte) (mapdata.Tally, bool) {
	page := l.pages.Load()[maphash.Bytes(l.seed, externalID)%ledgerShards].Load()
	if page == nil {
		return mapdata.Tally{}, false
	}
	t := (*page)[string(externalID)]
	if t == nil {
		return mapdata.Tally{}, false
	}
	return *t, true
}
