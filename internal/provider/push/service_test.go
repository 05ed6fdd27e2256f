package push_test

import (
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"wayside/internal/ingest"
	"wayside/internal/mapdata"
	"wayside/internal/provider/push"
	"wayside/internal/ratelimit"
	"wayside/internal/signal"
	"wayside/internal/store/sqlite"
	"wayside/internal/store/sqlite/sqlitetest"
	"wayside/internal/token"
)

var (
	start  = time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
	client = netip.MustParseAddr("192.0.2.7")
)

// dock is the service on a real database with one push feed.
type dock struct {
	*push.Service
	db      *sqlite.DB
	feed    mapdata.FeedID
	token   string
	log     strings.Builder
	changed signal.StoreChanged
}

func newDock(tb testing.TB) *dock {
	tb.Helper()
	now := func() time.Time { return start }
	db, err := sqlite.Open(tb.Context(), sqlitetest.Path(tb), sqlite.Options{Now: now})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := db.Close(); err != nil {
			tb.Error(err)
		}
	})
	d := &dock{db: db, changed: signal.NewStoreChanged(), token: token.New(token.Push)}
	owner := &mapdata.Account{Email: "owner@example.com", Role: mapdata.Driver, Tier: mapdata.TierAccount, CreatedAt: start}
	if owner.ID, err = mapdata.NewAccountID(); err != nil {
		tb.Fatal(err)
	}
	if err := db.CreateAccount(tb.Context(), owner); err != nil {
		tb.Fatal(err)
	}
	f := &mapdata.Feed{
		Owner: owner.ID, Layer: mapdata.Layer{ID: "l", Slug: "l", Name: "l"}, Name: "l", Direction: mapdata.Push, Visibility: mapdata.Private,
		Active: true, ReviewState: mapdata.Pending, CreatedAt: start, UpdatedAt: start, PushTokenHash: token.Hash(d.token),
	}
	if f.ID, err = mapdata.NewFeedID(); err != nil {
		tb.Fatal(err)
	}
	if err := db.CreateFeed(tb.Context(), f, 1); err != nil {
		tb.Fatal(err)
	}
	d.feed = f.ID
	d.Service = push.New(push.Config{
		Store: db, Ingest: ingest.New(db, now, signal.StoreChanged{}), Buckets: ratelimit.NewMemory(1000), Now: now,
		Log: slog.New(slog.NewTextHandler(&d.log, nil)), Requests: 60, Entities: 10_000, StoreChanged: d.changed,
	})
	return d
}

func body(text string) func() ([]byte, error) {
	return func() ([]byte, error) { return []byte(text), nil }
}

// TestRatesAreTakenTogether pushes from many goroutines at once, again and again: as many pass as the rates say, and a
// refusal by one rate takes nothing of the other (D7.3).
func TestRatesAreTakenTogether(t *testing.T) {
	d := newDock(t)
	d.Requests, d.Entities = 30, 100
	requests := ratelimit.HashKey(ratelimit.Pushes, token.Hash(d.token))
	const rounds, pushes = 30, 25
	for round := range rounds {
		now := start.Add(time.Duration(round) * time.Minute) // all buckets are full again
		d.Now = func() time.Time { return now }
		var (
			group, decoded sync.WaitGroup
			ok, limits     atomic.Int32
		)
		decoded.Add(pushes)
		for range pushes { // 10 of 10 rows pass
			group.Go(func() {
				_, err := d.Push(t.Context(), d.token, client, nil, func() ([]byte, error) {
					decoded.Done()
					decoded.Wait()
					return []byte("[0,0,0,0,0,0,0,0,0,0]"), nil
				})
				var limit *mapdata.LimitError
				switch {
				case err == nil:
					ok.Add(1)
				case errors.As(err, &limit):
					limits.Add(1)
				default:
					t.Error(err)
				}
			})
		}
		group.Wait()
		left := d.Buckets.Peek(requests, ratelimit.PerMinute(30), 0, now).Remaining
		if ok.Load() != 10 || limits.Load() != pushes-10 || left != 20 {
			t.Fatalf("round %d: %d passed, %d were refused, %d requests are left; want 10, %d, 20", round, ok.Load(), limits.Load(), left, pushes-10)
		}
	}
}

// TestAMistypedTokenIsNotLookedUp is D5.1.
func TestAMistypedTokenIsNotLookedUp(t *testing.T) {
	d := newDock(t)
	d.Store = failing{d.db}
	for _, text := range []string{"", "x", d.token[:49], d.token + "0", "wsk_" + d.token[4:], d.token[:20] + "_" + d.token[21:]} {
		if _, err := d.Push(t.Context(), text, client, nil, body("[]")); !errors.Is(err, mapdata.ErrUnauthenticated) {
			t.Errorf("a token of %d characters: %v", len(text), err)
		}
	}
}

// TestAFailingStore says so, and not that the token is unknown.
func TestAFailingStore(t *testing.T) {
	d := newDock(t)
	d.Store = failing{d.db}
	read := false
	_, err := d.Push(t.Context(), d.token, client, nil, func() ([]byte, error) { read = true; return nil, nil })
	if !errors.Is(err, mapdata.ErrUnavailable) || read {
		t.Errorf("%v, body read %v", err, read)
	}
	d.Store = deaf{d.db}
	if _, err := d.Push(t.Context(), d.token, client, nil, body("{}")); !errors.Is(err, ingest.ErrNotArray) {
		t.Errorf("a refusal that could not be recorded: %v", err)
	}
	if !strings.Contains(d.log.String(), "refused push not recorded") || strings.Contains(d.log.String(), d.token) {
		t.Errorf("log: %s", d.log.String())
	}
	if len(d.changed.C()) != 0 {
		t.Error("told of a change that was not stored")
	}
}

// failing is a store that does not answer.
type failing struct{ push.Store }

func (failing) FeedByPushToken(context.Context, []byte) (*mapdata.Feed, error) {
	return nil, mapdata.ErrUnavailable
}

// deaf is a store that cannot write.
type deaf struct{ push.Store }

func (deaf) RecordAttempt(context.Context, mapdata.FeedID, mapdata.Attempt) error {
	return mapdata.ErrUnavailable
}

// TestAFeedThatGoesMeanwhile is refused as an unknown token is.
func TestAFeedThatGoesMeanwhile(t *testing.T) {
	d := newDock(t)
	remove := func() {
		if err := d.db.DeleteFeed(t.Context(), d.feed, mapdata.AuditEntry{At: start, Action: "feed.delete"}); err != nil {
			t.Fatal(err)
		}
	}
	_, err := d.Push(t.Context(), d.token, client, nil, func() ([]byte, error) { remove(); return []byte("[]"), nil })
	if !errors.Is(err, mapdata.ErrUnauthenticated) {
		t.Errorf("%v", err)
	}
	if err := d.db.RecordAttempt(t.Context(), d.feed, mapdata.Attempt{At: start, Outcome: mapdata.OutcomeParseError}); err != nil {
		t.Errorf("recorded for a feed that is gone: %v", err)
	}
}

// BenchmarkToken measures what a token costs before any body is read (D7.5): an unknown one no more than a known one.
func BenchmarkToken(b *testing.B) {
	d := newDock(b)
	d.Requests = 0
	stop := errors.New("body")
	for name, text := range map[string]string{"known": d.token, "unknown": token.New(token.Push), "mistyped": "x" + d.token[1:]} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				_, err := d.Push(b.Context(), text, client, nil, func() ([]byte, error) { return nil, stop })
				if err == nil {
					b.Fatal("it passed")
				}
			}
		})
	}
}
