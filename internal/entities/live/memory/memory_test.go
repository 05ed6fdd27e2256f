package memory_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"wayside/internal/entities/live"
	"wayside/internal/entities/live/livetest"
	"wayside/internal/entities/live/memory"
)

var start = time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)

type clock struct{ elapsed atomic.Int64 }

func (c *clock) now() time.Time          { return start.Add(time.Duration(c.elapsed.Load())) }
func (c *clock) advance(d time.Duration) { c.elapsed.Add(int64(d)) }

func TestContract(t *testing.T) {
	var c clock
	livetest.Run(t, func(*testing.T) live.Driver { return memory.New(c.now) }, livetest.WithClock(c.advance))
}

// TestContractByTheRealClock runs the contract with a driver whose clock cannot be advanced.
func TestContractByTheRealClock(t *testing.T) {
	livetest.Run(t, func(*testing.T) live.Driver { return memory.New(time.Now) })
}

func put(t *testing.T, d *memory.Driver, key string, value []byte, ttl time.Duration) {
	t.Helper()
	if done, err := d.Swap(t.Context(), key, nil, value, ttl); err != nil || !done {
		t.Fatalf("swap: %v, %v", done, err)
	}
}

func get(t *testing.T, d *memory.Driver, key string) []byte {
	t.Helper()
	values, err := d.Get(t.Context(), []string{key})
	if err != nil {
		t.Fatal(err)
	}
	return values[0]
}

func TestGetGivesTheStoredSlice(t *testing.T) {
	var c clock
	d := memory.New(c.now)
	value := []byte("value")
	put(t, d, "a", value, time.Minute)
	if got := get(t, d, "a"); &got[0] != &value[0] {
		t.Error("a copy")
	}
}

func TestRunSweeps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := memory.New(time.Now)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- d.Run(ctx) }()
		for i := range 1000 {
			put(t, d, fmt.Sprint(i), make([]byte, 100), time.Duration(i%2+1)*time.Minute)
		}
		full := d.Used()
		time.Sleep(time.Minute + 2*time.Second)
		synctest.Wait()
		if used := d.Used(); used < full*4/10 || used > full*6/10 {
			t.Errorf("after half had expired, %d bytes of %d", used, full)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if used := d.Used(); used != 0 {
			t.Errorf("after all had expired, %d bytes of %d", used, full)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// TestEvictsWhatWasWrittenLongestAgo checks the eviction when more is written than fits, with lifetimes in no order.
func TestEvictsWhatWasWrittenLongestAgo(t *testing.T) {
	var c clock
	const limit = 100_000
	d := memory.New(c.now, memory.WithLimit(limit))
	for i := range 1000 { // about 85 of them fit
		put(t, d, fmt.Sprint(i), make([]byte, 1000), time.Duration(i*7919%1000+1)*time.Second)
		if d.Used() > limit {
			t.Fatalf("%d bytes, more than %d", d.Used(), limit)
		}
	}
	if d.Used() < limit*9/10 {
		t.Errorf("only %d bytes of %d are used", d.Used(), limit)
	}
	kept := 0
	for i := range 1000 {
		there := get(t, d, fmt.Sprint(i)) != nil
		if there {
			kept++
		}
		if late := i >= 1000-80; late != there && (late || i < 1000-90) {
			t.Errorf("%d, the last but %d, is kept: %v", i, 999-i, there)
		}
	}
	if kept > 90 {
		t.Errorf("%d are kept", kept)
	}
}

// TestClaimsOutliveOlderPins checks that a short claim, which enforces the rate of D8.3, is not evicted before pins
// that were written earlier and would stay for longer.
func TestClaimsOutliveOlderPins(t *testing.T) {
	var c clock
	d := memory.New(c.now, memory.WithLimit(100_000))
	pins := 0
	writePins := func(n int) {
		t.Helper()
		for range n {
			put(t, d, fmt.Sprint("pins/", pins), make([]byte, 1000), 5*time.Minute)
			pins++
		}
	}
	writePins(200) // twice as many as fit
	put(t, d, "called/key", []byte{1}, 4*time.Second)
	c.advance(time.Second)
	writePins(40)
	if get(t, d, "called/key") == nil {
		t.Error("the claim was evicted, and older pins were kept")
	}
	if get(t, d, "pins/239") == nil || get(t, d, "pins/201") == nil {
		t.Error("a pin that was written later was evicted")
	}
	// A rewritten value counts as written then.
	if done, err := d.Swap(t.Context(), "pins/199", get(t, d, "pins/199"), make([]byte, 1000), 5*time.Minute); !done || err != nil {
		t.Fatalf("swap: %v, %v", done, err)
	}
	writePins(60)
	if get(t, d, "pins/199") == nil {
		t.Error("a pin that was written anew was evicted")
	}
	if get(t, d, "called/key") != nil {
		t.Error("the claim was kept, and later pins were evicted")
	}
}

// TestEvictsWhatHasExpiredFirst checks that no live value is evicted while there is an expired one.
func TestEvictsWhatHasExpiredFirst(t *testing.T) {
	var c clock
	d := memory.New(c.now, memory.WithLimit(100_000))
	put(t, d, "lasting", make([]byte, 1000), time.Hour)
	for i := range 70 {
		put(t, d, fmt.Sprint("short/", i), make([]byte, 1000), time.Second)
	}
	c.advance(2 * time.Second)
	for i := range 70 {
		put(t, d, fmt.Sprint("new/", i), make([]byte, 1000), time.Hour)
	}
	if get(t, d, "lasting") == nil {
		t.Error("it was evicted, and expired values were kept")
	}
}

func TestAValueThatDoesNotFit(t *testing.T) {
	var c clock
	d := memory.New(c.now, memory.WithLimit(10_000))
	put(t, d, "a", []byte("1"), time.Minute)
	if done, err := d.Swap(t.Context(), "b", nil, make([]byte, 10_000), time.Minute); done || !errors.Is(err, memory.ErrTooLarge) {
		t.Errorf("swap: %v, %v", done, err)
	}
	if get(t, d, "a") == nil {
		t.Error("it drove out another")
	}
}

// TestReplacedValuesTakeNoMemory checks the count of bytes after many swaps and deletes.
func TestReplacedValuesTakeNoMemory(t *testing.T) {
	var c clock
	d := memory.New(c.now)
	put(t, d, "a", make([]byte, 10), time.Minute)
	one := d.Used()
	for i := range 100 {
		if done, err := d.Swap(t.Context(), "a", get(t, d, "a"), make([]byte, 10+i), time.Minute); err != nil || !done {
			t.Fatalf("swap: %v, %v", done, err)
		}
	}
	if d.Used() != one+99 {
		t.Errorf("%d bytes, want %d", d.Used(), one+99)
	}
	c.advance(time.Hour)
	put(t, d, "a", make([]byte, 10), time.Minute)
	if d.Used() != one {
		t.Errorf("%d bytes, want %d", d.Used(), one)
	}
	if err := d.Delete(t.Context(), "a"); err != nil || d.Used() != 0 {
		t.Errorf("%d bytes are left, %v", d.Used(), err)
	}
}

func BenchmarkGet(b *testing.B) {
	d := memory.New(time.Now)
	keys := make([]string, 100)
	for i := range keys {
		keys[i] = fmt.Sprintf("pins/north/1423/%d", i)
		if _, err := d.Swap(b.Context(), keys[i], nil, make([]byte, 100), time.Hour); err != nil {
			b.Fatal(err)
		}
	}
	for _, n := range []int{1, 100} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := d.Get(b.Context(), keys[:n]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
