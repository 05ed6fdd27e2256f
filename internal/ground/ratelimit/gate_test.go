package ratelimit_test

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"testing"
	"testing/synctest"

	"wayside/internal/ground/ratelimit"
)

func guest(n byte) ratelimit.Key {
	return ratelimit.ClientKey(ratelimit.Routes, netip.AddrFrom4([4]byte{127, 0, 0, n}))
}

// TestGateIsFair checks that a caller with one search goes before the hundred that another one requested earlier, and that work is
// shared by its cost.
func TestGateIsFair(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := ratelimit.NewGate(1, 1)
		occupied, err := g.Enter(t.Context(), guest(9), 1, false)
		if err != nil {
			t.Fatal(err)
		}
		var order []byte
		ask := func(of byte, cost int) {
			go func() {
				leave, err := g.Enter(t.Context(), guest(of), cost, false)
				if err != nil {
					t.Error(err)
					return
				}
				order = append(order, of)
				leave()
			}()
			synctest.Wait()
		}
		for range 100 {
			ask(1, 1)
		}
		ask(2, 1)
		for range 4 {
			ask(3, 25)
		}
		occupied()
		synctest.Wait()
		if at := slices.Index(order, 2); at > 1 {
			t.Errorf("who asked once was the %dth", at+1)
		}
		if at := slices.Index(order[slices.Index(order, 3)+1:], 3); at < 20 {
			t.Errorf("work of 25 was done again after %d of 1", at)
		}
		if len(order) != 105 {
			t.Errorf("%d were let in", len(order))
		}
	})
}

// TestGateBounds checks the bounds of running and waiting work, and that work that leaves the queue delays no other.
func TestGateBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := ratelimit.NewGate(2, 1)
		heavy, err := g.Enter(t.Context(), guest(1), 1, true)
		if err != nil {
			t.Fatal(err)
		}
		waits, cancel := context.WithCancelCause(t.Context())
		left := errors.New("the client left")
		ended := make(chan error)
		go func() { _, err := g.Enter(waits, guest(2), 1, true); ended <- err }()
		synctest.Wait()
		light, err := g.Enter(t.Context(), guest(3), 1, false) // passes the heavy one in the queue
		if err != nil {
			t.Fatal(err)
		}
		cancel(left)
		if err := <-ended; !errors.Is(err, left) {
			t.Errorf("%v", err)
		}
		refused, got := 0, make(chan error)
		ctx, stop := context.WithCancel(t.Context())
		for range 130 {
			go func() { _, err := g.Enter(ctx, guest(4), 1, false); got <- err }()
			synctest.Wait()
		}
		for len := 0; len < 2; len++ {
			if err := <-got; errors.Is(err, ratelimit.ErrBusy) {
				refused++
			}
		}
		if refused != 2 {
			t.Errorf("%d of 130 by one caller were refused, want 2", refused)
		}
		dropped := 0
		for i := range 900 { // of many callers: they fill the queue, and then take the places of the greedy one
			go func() { _, err := g.Enter(ctx, guest(byte(10+i%200)), 1, false); got <- err }()
			synctest.Wait()
			select {
			case err := <-got:
				if !errors.Is(err, ratelimit.ErrBusy) {
					t.Error(err)
				}
				dropped++
			default:
			}
		}
		if dropped != 128+900-1024 {
			t.Errorf("%d were dropped, want 4", dropped)
		}
		stop()
		for range 1024 {
			if err := <-got; err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, ratelimit.ErrBusy) {
				t.Error(err)
			}
		}
		heavy()
		light()
		again, err := g.Enter(t.Context(), guest(4), 1, true)
		if err != nil {
			t.Fatal(err)
		}
		again()
	})
}
