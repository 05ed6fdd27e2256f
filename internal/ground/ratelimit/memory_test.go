package ratelimit_test

import (
	"context"
	"encoding/binary"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/ratelimit"
)

func addr(n uint64) netip.Addr {
	var b [16]byte
	b[0] = 0x20
	binary.BigEndian.PutUint64(b[:8], 0x2000<<48|n)
	return netip.AddrFrom16(b)
}

func TestClientKey(t *testing.T) {
	tests := []struct {
		name, a, b string
		same       bool
	}{
		{"one IPv4 address", "192.0.2.1", "192.0.2.1", true},
		{"two IPv4 addresses", "192.0.2.1", "192.0.2.2", false},
		{"IPv4 mapped into IPv6", "192.0.2.1", "::ffff:192.0.2.1", true},
		{"two mapped ones", "::ffff:192.0.2.1", "::ffff:192.0.2.2", false},
		{"one /64", "2001:db8:1:2::1", "2001:db8:1:2:ffff:ffff:ffff:ffff", true},
		{"two /64", "2001:db8:1:2::1", "2001:db8:1:3::1", false},
		{"a zone", "fe80::1%eth0", "fe80::1%eth1", true},
		{"the IPv6 address with an IPv4 address's bytes", "192.0.2.1", "c000:201::", false},
		{"the unspecified addresses", "0.0.0.0", "::", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := ratelimit.ClientKey(ratelimit.Reads, netip.MustParseAddr(tt.a))
			b := ratelimit.ClientKey(ratelimit.Reads, netip.MustParseAddr(tt.b))
			if (a == b) != tt.same {
				t.Errorf("one bucket: %v, want %v", a == b, tt.same)
			}
		})
	}
	a := netip.MustParseAddr("192.0.2.1")
	if ratelimit.ClientKey(ratelimit.Reads, a) == ratelimit.ClientKey(ratelimit.UnknownTokens, a) {
		t.Error("two classes share a bucket")
	}
}

func TestKeysOfAccountsAndHashes(t *testing.T) {
	a, b := mapdata.AccountID{15: 1}, mapdata.AccountID{15: 2}
	if ratelimit.AccountKey(ratelimit.Reads, a) == ratelimit.AccountKey(ratelimit.Reads, b) {
		t.Error("two accounts share a bucket")
	}
	h := make([]byte, 32)
	g := make([]byte, 32)
	g[15] = 1
	if ratelimit.HashKey(ratelimit.Pushes, h) == ratelimit.HashKey(ratelimit.Pushes, g) {
		t.Error("two hashes share a bucket")
	}
	if ratelimit.HashKey(ratelimit.Pushes, nil) != ratelimit.HashKey(ratelimit.Pushes, h[:8]) {
		t.Error("short hashes have different buckets")
	}
}

func TestMemoryDecidesAsDecide(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := ratelimit.NewMemory(4096)
		limit := ratelimit.PerMinute(rapid.IntRange(1, 200).Draw(t, "count"))
		states := map[uint64]ratelimit.State{}
		now := start
		for range 100 {
			who := rapid.Uint64Range(0, 5).Draw(t, "who")
			now = now.Add(time.Duration(rapid.IntRange(0, 3_000_000).Draw(t, "µs")) * time.Microsecond)
			cost := rapid.IntRange(0, limit.Count*2).Draw(t, "cost")
			next, want := ratelimit.Decide(states[who], now, limit, cost)
			key := ratelimit.ClientKey(ratelimit.Reads, addr(who))
			if got := m.Peek(key, limit, cost, now); got != want {
				t.Fatalf("Peek = %+v, want %+v", got, want)
			}
			if got := m.Allow(key, limit, cost, now); got != want {
				t.Fatalf("Allow = %+v, want %+v", got, want)
			}
			states[who] = next
		}
	})
}

func TestMemoryCountsEveryRequestOfManyGoroutines(t *testing.T) {
	m := ratelimit.NewMemory(ratelimit.DefaultBuckets)
	key := ratelimit.ClientKey(ratelimit.Reads, addr(1))
	var passed atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 1000 {
				if m.Allow(key, ratelimit.PerMinute(60), 1, start).OK {
					passed.Add(1)
				}
			}
		})
	}
	wg.Wait()
	if passed.Load() != 60 {
		t.Errorf("%d requests passed at one instant, want 60", passed.Load())
	}
}

// TestMemoryUnderAFlood checks that a flood of other addresses neither grows the table nor frees a caller who is being refused.
func TestMemoryUnderAFlood(t *testing.T) {
	const buckets = 5 << 10
	m := ratelimit.NewMemory(buckets)
	limit := ratelimit.PerMinute(60)
	abuser := ratelimit.ClientKey(ratelimit.Reads, netip.MustParseAddr("192.0.2.1"))
	m.Allow(abuser, limit, 60, start)
	for n := range uint64(20 * buckets) {
		m.Allow(ratelimit.ClientKey(ratelimit.Reads, addr(n)), limit, 1, start)
	}
	if m.Len() > buckets {
		t.Errorf("%d buckets, want at most %d", m.Len(), buckets)
	}
	if m.Allow(abuser, limit, 1, start).OK {
		t.Error("the flood freed the one who was refused")
	}
}

func TestRunForgetsFullBuckets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := ratelimit.NewMemory(1024)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- m.Run(ctx) }()
		m.Allow(ratelimit.ClientKey(ratelimit.Reads, addr(1)), ratelimit.PerMinute(60), 1, time.Now())
		m.Allow(ratelimit.ClientKey(ratelimit.Reads, addr(2)), ratelimit.PerMinute(1), 5000, time.Now())
		time.Sleep(time.Minute + time.Second)
		if m.Len() != 1 {
			t.Errorf("%d buckets after a minute, want the one in debt", m.Len())
		}
		time.Sleep(time.Hour)
		if m.Len() != 0 {
			t.Errorf("%d buckets after an hour, want none (D13.2)", m.Len())
		}
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run = %v", err)
		}
	})
}

func TestAllowAllocatesNothing(t *testing.T) {
	m := ratelimit.NewMemory(1024)
	n := uint64(0)
	if got := testing.AllocsPerRun(5000, func() {
		n++
		m.Allow(ratelimit.ClientKey(ratelimit.Reads, addr(n)), ratelimit.PerMinute(60), 1, start)
	}); got > 0 {
		t.Errorf("%v allocations", got)
	}
}

// BenchmarkAllow measures Allow, which every read calls. The promise is 100 ns.
func BenchmarkAllow(b *testing.B) {
	for name, callers := range map[string]uint64{"one caller": 1, "100000 callers": 100_000} {
		b.Run(name, func(b *testing.B) {
			m := ratelimit.NewMemory(ratelimit.DefaultBuckets)
			limit := ratelimit.PerMinute(60)
			b.ReportAllocs()
			var first atomic.Uint64 // so that goroutines do not walk in step
			b.RunParallel(func(pb *testing.PB) {
				now := start
				for n := first.Add(1_033_331); pb.Next(); n++ {
					now = now.Add(time.Microsecond)
					m.Allow(ratelimit.ClientKey(ratelimit.Reads, addr(n*7919%callers)), limit, 1, now)
				}
			})
		})
	}
}

// TestReturnUndoesAllow checks that Return gives back what Allow took, and never more than a bucket holds.
func TestReturnUndoesAllow(t *testing.T) {
	m := ratelimit.NewMemory(10)
	key, limit := ratelimit.ClientKey(ratelimit.Pushes, addr(1)), ratelimit.PerMinute(60)
	left := func(now time.Time) int { return m.Peek(key, limit, 0, now).Remaining }
	m.Return(key, limit, 5, start)
	if got := left(start); got != 60 {
		t.Errorf("%d are left of a full bucket to which 5 were given", got)
	}
	m.Allow(key, limit, 10, start)
	m.Return(key, limit, 4, start)
	if got := left(start); got != 54 {
		t.Errorf("10 taken, 4 given back: %d are left, want 54", got)
	}
	later := start.Add(3 * time.Second)
	m.Return(key, limit, 5, later)
	if got := left(later); got != 60 {
		t.Errorf("%d are left after more was given back than is missing", got)
	}
	if got := m.Len(); got != 0 {
		t.Errorf("%d buckets are in use, and all are full", got)
	}
}
