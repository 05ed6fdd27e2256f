package votes_test

import (
	"context"
	"encoding/binary"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"wayside/internal/entities/votes"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// setClock is a time that a test sets.
type setClock struct{ now time.Time }

func (c *setClock) time() time.Time { return c.now }

func accountOf(n uint64) (id mapdata.AccountID) {
	binary.BigEndian.PutUint64(id[8:], n)
	id[0] = 1
	return id
}

// north returns an entity the given number of metres north of the equator.
func north(metres float64) *mapdata.Entity {
	return &mapdata.Entity{Point: geo.Point{Lat: metres / 111_195}}
}

// TestPresence checks where an account is near: 5 km around each place of the last ten minutes, and not at places that
// it cannot have reached.
func TestPresence(t *testing.T) {
	c := &setClock{time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)}
	start := c.now
	p := votes.NewPresence(c.time)
	at := func(after time.Duration, metres float64) {
		c.now = start.Add(after)
		p.Seen(accountOf(1), north(metres).Point)
	}
	want := func(what string, metres float64, near bool) {
		t.Helper()
		if got := p.Near(accountOf(1), north(metres)); got != near {
			t.Errorf("%s: near is %v", what, got)
		}
	}
	want("before any position", 0, false)
	at(0, 0)
	want("at the place", 0, true)
	want("4.9 km away", 4_900, true)
	want("5.1 km away", 5_100, false)
	if p.Near(accountOf(2), north(0)) {
		t.Error("another account is near")
	}
	at(time.Second, 500_000)
	want("a place that it looked at from afar", 500_000, false)
	want("where it was meanwhile", 0, true)
	for minute := range 9 {
		at(time.Duration(minute+1)*time.Minute, float64(minute+1)*3_000)
	}
	want("where it was nine minutes before", 0, true)
	want("where it is", 27_000, true)
	c.now = start.Add(10*time.Minute + time.Second)
	want("where it was more than ten minutes before", -4_900, false)
	want("on the way since", 5_000, true)
	c.now = start.Add(19*time.Minute + time.Second)
	want("ten minutes after its last position", 27_000, false)
	at(20*time.Minute, 900_000)
	want("anywhere after ten minutes", 900_000, true)
	p.Seen(mapdata.AccountID{}, north(0).Point)
	if p.Near(mapdata.AccountID{}, north(0)) {
		t.Error("a guest is near")
	}
}

// TestPresenceIsBounded checks that a node stores the positions of at most 102 400 accounts, the newest.
func TestPresenceIsBounded(t *testing.T) {
	c := &setClock{time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)}
	p := votes.NewPresence(c.time)
	const accounts = 110_000
	for i := range uint64(accounts) {
		c.now = c.now.Add(time.Millisecond)
		p.Seen(accountOf(i), north(0).Point)
	}
	known := 0
	for i := range uint64(accounts) {
		if p.Near(accountOf(i), north(0)) {
			known++
		}
	}
	if known != 102_400 || p.Near(accountOf(0), north(0)) || !p.Near(accountOf(accounts-1), north(0)) {
		t.Errorf("%d accounts are remembered", known)
	}
	if p.Accounts() != 102_400 {
		t.Errorf("%d accounts are held", p.Accounts())
	}
}

// TestPresenceIsForgotten checks that positions are removed from memory even if nothing reads them.
func TestPresenceIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := votes.NewPresence(time.Now)
		ctx, stop := context.WithCancel(t.Context())
		var group sync.WaitGroup
		group.Go(func() {
			if err := p.Run(ctx); err != nil {
				t.Error(err)
			}
		})
		p.Seen(accountOf(1), north(0).Point)
		time.Sleep(9 * time.Minute)
		if p.Accounts() != 1 {
			t.Error("forgotten within nine minutes")
		}
		time.Sleep(2*time.Minute + time.Second)
		if p.Accounts() != 0 {
			t.Error("still held after eleven minutes")
		}
		stop()
		group.Wait()
	})
}
