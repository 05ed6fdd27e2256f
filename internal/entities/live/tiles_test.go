package live

import (
	"fmt"
	"hash/maphash"
	"testing"
	"time"

	"wayside/internal/ground/mapdata"
)

// TestParsedTilesAreBounded checks that tiles that are no longer requested are dropped, and requested ones kept.
func TestParsedTilesAreBounded(t *testing.T) {
	const limit = 100_000
	encoded := 0
	all := tiles{
		encode: func(dst []byte, _ *mapdata.Entity) []byte { encoded++; return append(dst, "x"...) },
		seed:   maphash.MakeSeed(), limit: limit, current: make(map[string]*tile),
	}
	now := time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)
	upstream := func(int) string { return "north" }
	kept := writeTile(someRecords())
	for i := range 1000 {
		value := writeTile(someRecords())
		if got := all.all([]string{fmt.Sprint(i), "kept"}, [][]byte{value, kept}, upstream, now); got[0] == nil || got[1] == nil {
			t.Fatal("nothing is read")
		}
		if all.size > limit {
			t.Fatalf("%d bytes, more than %d", all.size, limit)
		}
		sum := 0
		for _, have := range all.current {
			sum += have.size
		}
		if sum != all.size {
			t.Fatalf("%d bytes, counted as %d", sum, all.size)
		}
	}
	if encoded != 1001 {
		t.Errorf("%d records were encoded, want 1001: what is asked for all the time is forgotten", encoded)
	}
	if len(all.current)+len(all.previous) > 200 {
		t.Errorf("%d tiles are remembered", len(all.current)+len(all.previous))
	}
	for range 2 { // after twice the freshness, a new store finds no old records
		now = now.Add(Freshness)
		all.all([]string{"new"}, [][]byte{writeTile(someRecords())}, upstream, now)
	}
	if len(all.current)+len(all.previous) > 2 {
		t.Errorf("%d tiles are remembered", len(all.current)+len(all.previous))
	}
}
