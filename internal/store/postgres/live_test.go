package postgres_test

import (
	"sync/atomic"
	"testing"
	"time"

	"wayside/internal/entities/live"
	"wayside/internal/entities/live/livetest"
	"wayside/internal/store"
	"wayside/internal/store/postgres"
)

var _ live.Driver = (*store.Live)(nil)

// TestLiveContract runs the contract of live caches on the database (D8.9).
func TestLiveContract(t *testing.T) {
	fresh := schemas(t)
	var elapsed atomic.Int64
	livetest.Run(t, func(t *testing.T) live.Driver {
		t.Helper()
		return openAt(t, fresh(t), func() time.Time { return start.Add(time.Duration(elapsed.Load())) }).Live()
	}, livetest.WithClock(func(d time.Duration) { elapsed.Add(int64(d)) }))
}

func openAt(t *testing.T, url string, now func() time.Time) *postgres.DB {
	t.Helper()
	db, err := postgres.Open(t.Context(), postgres.Config{URL: url, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// TestPruneLive checks that expired values are removed, and valid ones stay.
func TestPruneLive(t *testing.T) {
	db := openAt(t, postgres.Servers.Migrated(t), func() time.Time { return start })
	for key, ttl := range map[string]time.Duration{"short": time.Second, "long": time.Hour} {
		if ok, err := db.Live().Swap(t.Context(), key, nil, []byte{1}, ttl); err != nil || !ok {
			t.Fatal(ok, err)
		}
	}
	if err := db.Prune(t.Context(), start.Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	values, err := db.Live().Get(t.Context(), []string{"short", "long"}) // both are valid by the store's clock
	if err != nil || values[0] != nil || values[1] == nil {
		t.Errorf("%v, %v", values, err)
	}
}
