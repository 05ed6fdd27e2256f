package budget

import (
	"context"
	"errors"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"wayside/internal/ground/ratelimit"
)

func caller(last byte) ratelimit.Key {
	return ratelimit.ClientKey(ratelimit.Reads, netip.AddrFrom4([4]byte{192, 0, 2, last}))
}

// TestBounds checks that neither all requests, nor those of one part or one caller, hold more than they may.
func TestBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New(100)
		routes, reads := b.Part(60, 30), b.Part(80, 40)
		soon, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		first := take(t, routes, caller(1), 30)
		if _, err := routes.Take(soon, caller(1), 1); !errors.Is(err, ErrShare) {
			t.Errorf("one caller took 31 of 30 bytes: %v", err)
		}
		take(t, routes, caller(2), 30)
		if _, err := routes.Take(soon, caller(3), 1); !errors.Is(err, ErrFull) {
			t.Errorf("requests of one part took 61 of 60 bytes: %v", err)
		}
		take(t, reads, caller(1), 40) // the share is that of a part
		if _, err := reads.Take(soon, caller(4), 1); !errors.Is(err, ErrFull) {
			t.Errorf("all requests took 101 of 100 bytes: %v", err)
		}
		if now, most := b.Held(); now != 100 || most != 100 {
			t.Errorf("%d bytes are held, at most %d; want 100", now, most)
		}
		first.Release()
		first.Release()
		if now, _ := b.Held(); now != 70 {
			t.Errorf("%d bytes are held after 30 of 100 were released twice", now)
		}
		if h := take(t, routes, caller(5), 1000); h.bytes != 30 {
			t.Errorf("a request of more than the share holds %d bytes, want the share", h.bytes)
		}
	})
}

func take(t *testing.T, p *Part, c ratelimit.Key, bytes int) *Hold {
	t.Helper()
	h, err := p.Take(t.Context(), c, bytes)
	if err != nil {
		t.Fatalf("take %d bytes: %v", bytes, err)
	}
	return h
}

// TestWaiting checks that requests get room in their order, and that a request that waits for room of its own caller delays no
// other.
func TestWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New(100)
		p := b.Part(100, 50)
		first, second := take(t, p, caller(1), 50), take(t, p, caller(2), 40)
		order := make(chan int, 4)
		wait := func(number int, c ratelimit.Key, bytes int) {
			go func() {
				if _, err := p.Take(t.Context(), c, bytes); err != nil {
					t.Errorf("request %d: %v", number, err)
				}
				order <- number
			}()
			synctest.Wait()
		}
		wait(1, caller(1), 10) // its caller's share is used up
		wait(2, caller(3), 30)
		wait(3, caller(4), 5) // there is room, but it came after a request that waits for more
		if len(order) != 0 {
			t.Fatalf("request %d did not wait", <-order)
		}
		second.Release()
		synctest.Wait()
		if a, b := <-order, <-order; a+b != 5 {
			t.Errorf("requests %d and %d got room, want 2 and 3", a, b)
		}
		first.Release()
		if got := <-order; got != 1 {
			t.Errorf("request %d got room, want 1", got)
		}
	})
}

// TestWaitEnds checks that a request whose context ends leaves the queue, and holds nothing.
func TestWaitEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New(10)
		p := b.Part(10, 10)
		h := take(t, p, caller(1), 10)
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		began := time.Now()
		if _, err := p.Take(ctx, caller(2), 10); !errors.Is(err, ErrFull) || time.Since(began) != 2*time.Second {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
		h.Release()
		if now, _ := b.Held(); now != 0 || len(b.waiting) != 0 || len(p.callers) != 0 {
			t.Errorf("%d bytes, %d waiting, %d callers are left", now, len(b.waiting), len(p.callers))
		}
	})
}

// TestManyWait checks that no more than 512 requests wait.
func TestManyWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(10).Part(10, 10)
		take(t, p, caller(1), 10)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		for range 512 {
			go p.Take(ctx, caller(2), 1) //nolint:errcheck // they wait in vain
		}
		synctest.Wait()
		began := time.Now()
		if _, err := p.Take(ctx, caller(3), 1); !errors.Is(err, ErrFull) || time.Since(began) != 0 {
			t.Errorf("the 513th waited %v: %v", time.Since(began), err)
		}
		cancel()
	})
}

// TestSlowClients checks that an answer that its client does not read is given up after a second once others wait, and not before.
func TestSlowClients(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(100).Part(100, 60)
		evicted := make(chan int, 2)
		for i := range 2 {
			h := take(t, p, caller(byte(i)), 50)
			h.Write(func() {
				evicted <- i
				go h.Release() // the handler returns, as its write fails
			})
			time.Sleep(100 * time.Millisecond)
		}
		time.Sleep(time.Minute)
		if len(evicted) != 0 {
			t.Fatal("an answer was given up for nobody")
		}
		began := time.Now()
		take(t, p, caller(7), 50)
		if got := <-evicted; got != 0 || len(evicted) != 0 || time.Since(began) > 300*time.Millisecond {
			t.Errorf("answer %d was given up first, %d more, after %v; want the oldest alone", got, len(evicted), time.Since(began))
		}
		young := take(t, New(10).Part(10, 10), caller(1), 10)
		young.Write(func() { t.Error("an answer of less than a second was given up") })
		soon, cancel := context.WithTimeout(t.Context(), 900*time.Millisecond)
		defer cancel()
		if _, err := young.part.Take(soon, caller(2), 1); !errors.Is(err, ErrFull) {
			t.Errorf("room was found: %v", err)
		}
		slow := take(t, New(10).Part(10, 10), caller(1), 10)
		slow.Write(func() { go slow.Release() })
		time.Sleep(1100 * time.Millisecond)
		soon, cancel = context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if h, err := slow.part.Take(soon, caller(2), 1); err != nil {
			t.Errorf("an answer of more than a second was not given up: %v", err)
		} else {
			h.Release()
		}
	})
}

// TestGrow checks that a growing body is refused at the bounds immediately, and that the bytes that are really held count beyond
// them.
func TestGrow(t *testing.T) {
	b := New(100)
	p := b.Part(100, 60)
	h := p.Begin(caller(1))
	if err := errors.Join(h.Grow(40), h.Grow(20)); err != nil {
		t.Fatal(err)
	}
	if err := h.Grow(1); !errors.Is(err, ErrShare) {
		t.Errorf("61 of 60 bytes: %v", err)
	}
	other := p.Begin(caller(2))
	if err := other.Grow(41); !errors.Is(err, ErrFull) {
		t.Errorf("101 of 100 bytes: %v", err)
	}
	h.Set(90)
	if now, _ := b.Held(); now != 90 {
		t.Errorf("%d bytes are held, want 90", now)
	}
	h.Set(10)
	if err := other.Grow(41); err != nil {
		t.Error(err)
	}
}
