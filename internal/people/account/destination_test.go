package account

import (
	"encoding/binary"
	"testing"
	"testing/synctest"
	"time"

	"wayside/internal/ground/mapdata"
)

// TestDestinationIsForgotten checks that a destination is removed from memory after ten minutes, although no car takes
// it and no phone sends another one.
func TestDestinationIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDestinations(func(string) []byte { return make([]byte, 32) })
		var first, second mapdata.AccountID
		second[0] = 1
		held := func() int {
			synctest.Wait()
			d.mu.Lock()
			defer d.mu.Unlock()
			return len(d.sent)
		}
		d.put(t.Context(), first, &Destination{Lat: 1}, time.Now())
		d.put(t.Context(), second, &Destination{Lat: 2}, time.Now())
		time.Sleep(9 * time.Minute)
		d.put(t.Context(), second, &Destination{Lat: 3}, time.Now())
		time.Sleep(time.Minute)
		if n := held(); n != 1 {
			t.Errorf("%d destinations are held after ten minutes, want the one that was replaced", n)
		}
		if got := d.take(t.Context(), second, time.Now()); got == nil || got.Lat != 3 {
			t.Errorf("took %+v, want the last one", got)
		}
		d.put(t.Context(), first, &Destination{}, time.Now())
		time.Sleep(10 * time.Minute)
		if n := held(); n != 0 {
			t.Errorf("%d destinations are held", n)
		}
	})
}

// TestDestinationsAreBounded holds that a node keeps destinations of ten thousand accounts, and replaces one of theirs then, too.
func TestDestinationsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDestinations(func(string) []byte { return make([]byte, 32) })
		var id mapdata.AccountID
		for i := range uint32(10_000) {
			binary.BigEndian.PutUint32(id[:], i)
			if !d.put(t.Context(), id, &Destination{}, time.Now()) {
				t.Fatalf("destination %d is refused", i+1)
			}
		}
		if !d.put(t.Context(), id, &Destination{Lat: 1}, time.Now()) {
			t.Error("an account cannot replace its destination")
		}
		if d.put(t.Context(), mapdata.AccountID{1}, &Destination{}, time.Now()) {
			t.Error("a destination more is kept")
		}
		time.Sleep(10 * time.Minute)
	})
}
