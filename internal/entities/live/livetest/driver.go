package livetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"wayside/internal/entities/live"
)

// shortTTL is a TTL that is short enough to wait for.
const shortTTL = 150 * time.Millisecond

func driverTests() map[string]func(*fixture) {
	return map[string]func(*fixture){
		"empty at start":                   emptyAtStart,
		"swap of an absent key":            swapAbsent,
		"swap of the stored value":         swapMatching,
		"swap of another value":            swapMismatch,
		"value expires":                    valueExpires,
		"swap resets the TTL":              swapResetsTTL,
		"delete":                           deletes,
		"many keys in order":               manyKeys,
		"any bytes":                        anyBytes,
		"a large value":                    largeValue,
		"returned values are stable":       returnedValuesAreStable,
		"one concurrent swap wins":         oneSwapWins,
		"no lost updates":                  noUpdateLost,
		"a cancelled context":              cancelled,
		"cache passes a cancelled context": rulesCancelled,
	}
}

func (w *fixture) get(keys ...string) [][]byte {
	w.Helper()
	values, err := w.driver.Get(w.ctx(), keys)
	if err != nil {
		w.Fatal(err)
	}
	if len(values) != len(keys) {
		w.Fatalf("%d values for %d keys", len(values), len(keys))
	}
	return values
}

func (w *fixture) expectValue(key string, want []byte) {
	w.Helper()
	if got := w.get(key)[0]; !bytes.Equal(got, want) || (got == nil) != (want == nil) {
		w.Errorf("%s holds %.40q, want %.40q", key, got, want)
	}
}

func (w *fixture) swap(key string, old, value []byte, ttl time.Duration, want bool) {
	w.Helper()
	done, err := w.driver.Swap(w.ctx(), key, old, value, ttl)
	if err != nil {
		w.Fatal(err)
	}
	if done != want {
		w.Errorf("swap of %.40q for %.40q: %v, want %v", old, value, done, want)
	}
}

func emptyAtStart(w *fixture) {
	w.expectValue("a", nil)
	if values := w.get(); len(values) != 0 {
		w.Errorf("%d values for no keys", len(values))
	}
}

func swapAbsent(w *fixture) {
	w.swap("a", nil, []byte("1"), time.Minute, true)
	w.expectValue("a", []byte("1"))
	w.swap("a", nil, []byte("2"), time.Minute, false)
	w.expectValue("a", []byte("1"))
}

func swapMatching(w *fixture) {
	w.swap("a", nil, []byte("1"), time.Minute, true)
	w.swap("a", []byte("1"), []byte("2"), time.Minute, true)
	w.expectValue("a", []byte("2"))
	w.swap("a", []byte("2"), []byte("2"), time.Minute, true)
	w.expectValue("a", []byte("2"))
}

func swapMismatch(w *fixture) {
	w.swap("a", []byte("1"), []byte("2"), time.Minute, false)
	w.expectValue("a", nil)
	w.swap("a", nil, []byte("12"), time.Minute, true)
	for _, old := range []string{"1", "123", "13"} {
		w.swap("a", []byte(old), []byte("2"), time.Minute, false)
	}
	w.expectValue("a", []byte("12"))
}

// waitExpired waits until the key has expired, at most ten seconds.
func (w *fixture) waitExpired(key string) {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.ctx(), 10*time.Second)
	defer cancel()
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for w.get(key)[0] != nil {
		select {
		case <-ctx.Done():
			w.Fatalf("%s is still there", key)
		case <-look.C:
		}
	}
}

func valueExpires(w *fixture) {
	w.swap("stays", nil, []byte("0"), time.Hour, true)
	w.swap("a", nil, []byte("1"), shortTTL, true)
	if w.advance != nil {
		w.advanceClock(shortTTL - time.Millisecond)
		w.expectValue("a", []byte("1"))
		w.advanceClock(time.Millisecond)
		w.expectValue("a", nil)
	}
	w.waitExpired("a")
	w.expectValue("stays", []byte("0"))
	w.swap("a", []byte("1"), []byte("2"), time.Minute, false)
	w.swap("a", nil, []byte("3"), time.Minute, true)
	w.expectValue("a", []byte("3"))
}

func swapResetsTTL(w *fixture) {
	w.swap("a", nil, []byte("1"), shortTTL, true)
	w.swap("a", []byte("1"), []byte("2"), time.Hour, true)
	w.swap("b", nil, []byte("1"), time.Hour, true)
	w.swap("b", []byte("1"), []byte("2"), shortTTL, true)
	if w.advance != nil {
		w.advanceClock(shortTTL)
	}
	w.waitExpired("b") // values with a shorter TTL have expired too
	w.expectValue("a", []byte("2"))
}

func deletes(w *fixture) {
	w.swap("a", nil, []byte("1"), time.Minute, true)
	for range 2 { // deleting an absent key is not an error
		if err := w.driver.Delete(w.ctx(), "a"); err != nil {
			w.Error(err)
		}
		w.expectValue("a", nil)
	}
	w.swap("a", []byte("1"), []byte("2"), time.Minute, false)
	w.swap("a", nil, []byte("2"), time.Minute, true)
	w.expectValue("a", []byte("2"))
}

func manyKeys(w *fixture) {
	var keys []string
	for i := range 600 {
		key := fmt.Sprintf("pins/n%%2Fm %d/%d", i, i*7)
		keys = append(keys, key)
		if i%3 > 0 {
			w.swap(key, nil, []byte(key), time.Minute, true)
		}
	}
	keys = append(keys, keys[1], keys[0]) // a key may be requested twice
	for i, value := range w.get(keys...) {
		if i%600%3 == 0 && i < 600 || i == 601 {
			if value != nil {
				w.Errorf("key %d holds %q", i, value)
			}
			continue
		}
		if string(value) != keys[i] {
			w.Errorf("key %d holds %q", i, value)
		}
	}
}

func anyBytes(w *fixture) {
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	zeros := []byte{0, 0, 0}
	w.swap("a", nil, all, time.Minute, true)
	w.expectValue("a", all)
	w.swap("a", all, zeros, time.Minute, true)
	w.expectValue("a", zeros)
	w.swap("a", []byte{0, 0}, all, time.Minute, false)
	w.swap("a", zeros, []byte{0}, time.Minute, true)
	w.expectValue("a", []byte{0})
}

func largeValue(w *fixture) {
	value := make([]byte, 1<<20)
	for i := range value {
		value[i] = byte(i * 7 >> 3)
	}
	w.swap("a", nil, value, time.Minute, true)
	w.expectValue("a", value)
	other := bytes.Clone(value)
	other[len(other)-1]++
	w.swap("a", other, []byte("1"), time.Minute, false)
	w.swap("a", value, other, time.Minute, true)
	w.expectValue("a", other)
}

func returnedValuesAreStable(w *fixture) {
	w.swap("a", nil, []byte("first"), time.Minute, true)
	given := w.get("a")[0]
	w.swap("a", []byte("first"), []byte("other"), time.Minute, true)
	w.get("a", "b")
	if err := w.driver.Delete(w.ctx(), "a"); err != nil {
		w.Fatal(err)
	}
	if string(given) != "first" {
		w.Errorf("the returned value became %q", given)
	}
}

func oneSwapWins(w *fixture) {
	for round := range 10 {
		var old []byte
		if round > 0 {
			old = w.get("a")[0]
		}
		var wins atomic.Int32
		var group sync.WaitGroup
		for i := range 16 {
			group.Go(func() {
				done, err := w.driver.Swap(w.ctx(), "a", old, fmt.Appendf(nil, "%d by %d", round, i), time.Minute)
				if err != nil {
					w.Error(err)
				}
				if done {
					wins.Add(1)
				}
			})
		}
		group.Wait()
		if wins.Load() != 1 {
			w.Fatalf("round %d: %d swaps won, want 1", round, wins.Load())
		}
	}
}

// noUpdateLost increments a counter concurrently.
func noUpdateLost(w *fixture) {
	const writers, perWriter = 8, 10
	var group sync.WaitGroup
	for range writers {
		group.Go(func() {
			for range perWriter {
				w.countUp()
			}
		})
	}
	group.Wait()
	if got := w.get("count")[0]; len(got) != writers*perWriter {
		w.Errorf("counted to %d, want %d", len(got), writers*perWriter)
	}
}

func (w *fixture) countUp() {
	for {
		values, err := w.driver.Get(w.ctx(), []string{"count"})
		if err != nil {
			w.Error(err)
			return
		}
		done, err := w.driver.Swap(w.ctx(), "count", values[0], append(bytes.Clone(values[0]), 'x'), time.Minute)
		if err != nil {
			w.Error(err)
			return
		}
		if done {
			return
		}
	}
}

func cancelled(w *fixture) {
	w.swap("a", nil, []byte("1"), time.Minute, true)
	ctx, cancel := context.WithCancel(w.ctx())
	cancel()
	if _, err := w.driver.Get(ctx, []string{"a"}); !errors.Is(err, context.Canceled) {
		w.Errorf("get: %v", err)
	}
	if done, err := w.driver.Swap(ctx, "a", []byte("1"), []byte("2"), time.Minute); done || !errors.Is(err, context.Canceled) {
		w.Errorf("swap: %v, %v", done, err)
	}
	if err := w.driver.Delete(ctx, "a"); !errors.Is(err, context.Canceled) {
		w.Errorf("delete: %v", err)
	}
	w.expectValue("a", []byte("1"))
}

func rulesCancelled(w *fixture) {
	w.update(pin("a", center))
	ctx, cancel := context.WithCancel(w.ctx())
	cancel()
	if err := w.cache.Take(ctx, w.answer()); !errors.Is(err, context.Canceled) {
		w.Errorf("take: %v", err)
	}
	before := []*live.Pin{{}}
	pins, err := w.cache.Near(ctx, []string{north}, center, radius, before)
	if !errors.Is(err, context.Canceled) || len(pins) != 1 {
		w.Errorf("near: %d pins, %v", len(pins), err)
	}
	if _, err := w.cache.Find(ctx, []string{north}, "a"); !errors.Is(err, context.Canceled) {
		w.Errorf("find: %v", err)
	}
	w.expectShown("a")
}
