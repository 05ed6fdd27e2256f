package account

import (
	"testing"
	"time"
)

func TestCacheSkipsPutAfterClear(t *testing.T) {
	c := newCache[int]()
	now := time.Unix(0, 0)
	key, value := [32]byte{1}, 7
	_, epoch := c.get(key, now)
	c.clear() // the session is revoked between look-up and put
	c.put(key, &value, epoch, now)
	if got, _ := c.get(key, now); got != nil {
		t.Error("a revoked session is cached")
	}
}

func TestCacheIsBounded(t *testing.T) {
	c := newCache[int]()
	value := 7
	for i := range 3 * cacheSize {
		c.put([32]byte{byte(i), byte(i >> 8), byte(i >> 16)}, &value, 0, time.Unix(0, 0))
		if len(c.entries) > cacheSize {
			t.Fatalf("%d entries", len(c.entries))
		}
	}
}

func BenchmarkCacheGet(b *testing.B) {
	c := newCache[int]()
	now, value := time.Unix(0, 0), 7
	c.put([32]byte{1}, &value, 0, now)
	b.ReportAllocs()
	for b.Loop() {
		c.get([32]byte{1}, now)
	}
}
