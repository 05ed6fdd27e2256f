package apps

import (
	"context"
	"log/slog"
	"net/url"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/signal"
)

func TestSeenPage(t *testing.T) {
	now := time.Date(2026, 11, 25, 8, 0, 0, 0, time.UTC)
	changed := mapdata.AppPage{Digest: "a", ChangedAt: now.Add(-time.Hour)}
	for name, tt := range map[string]struct {
		before mapdata.AppPage
		digest string
		want   mapdata.AppPage
	}{
		"approved before pages were looked at": {mapdata.AppPage{}, "a", mapdata.AppPage{Digest: "a"}},
		"the same":                             {mapdata.AppPage{Digest: "a"}, "a", mapdata.AppPage{Digest: "a"}},
		"another":                              {mapdata.AppPage{Digest: "a"}, "b", mapdata.AppPage{Digest: "a", ChangedAt: now}},
		"yet another":                          {changed, "c", changed},
		"the approved one again":               {changed, "a", mapdata.AppPage{Digest: "a"}},
	} {
		if got := SeenPage(tt.before, tt.digest, now); got != tt.want {
			t.Errorf("%s: %+v, want %+v", name, got, tt.want)
		}
	}
	at := now.Add(7*24*time.Hour - time.Hour)
	if ChangedSinceReview(changed, at.Add(-time.Millisecond)) || !ChangedSinceReview(changed, at) || ChangedSinceReview(mapdata.AppPage{Digest: "a"}, at) {
		t.Error("drivers are told too soon, too late, or of nothing")
	}
}

// TestDigestOfPages checks which changes of a page change its digest.
func TestDigestOfPages(t *testing.T) {
	digest := func(body string) string { return NewPage(Page{Body: []byte(body)}).Digest }
	const page = `<!doctype html><head><script nonce="1">go()</script></head><body class="a">App</body>`
	for other, same := range map[string]bool{
		`<!doctype html><head><script nonce="2">go()</script></head><body class="a">App</body>`:               true,
		`<!DOCTYPE html><head><script>go()</script></head><!-- built at 8:00 --><body class='a'>App</body>`:   true,
		`<!doctype html><head><script nonce="1">other()</script></head><body class="a">App</body>`:            false,
		`<!doctype html><head><script nonce="1" src="//x">go()</script></head><body class="a">App</body>`:     false,
		`<!doctype html><head><script nonce="1">go()</script></head><body class="b">App</body>`:               false,
		`<!doctype html><head><script nonce="1">go()</script></head><body class="a">App</body><iframe src=x>`: false,
	} {
		if got := digest(other) == digest(page); got != same {
			t.Errorf("%s: same is %v, want %v", other, got, same)
		}
	}
}

func FuzzReadDocument(f *testing.F) {
	f.Add([]byte(`<!doctype html><meta name="wayside-app" content="abc"><body>`))
	f.Fuzz(func(t *testing.T, body []byte) {
		if proofs, digest := readDocument(body); len(digest) != 64 || len(proofs) > len(body) {
			t.Errorf("%d proofs, digest %q", len(proofs), digest)
		}
	})
}

// pageStore is a store with one app, which several nodes share. It counts its calls.
type pageStore struct {
	Store
	mu       sync.Mutex
	revision int64
	page     mapdata.AppPage
	due      time.Time
	served   bool
	asked    int // calls of any method
	recorded int
}

func (s *pageStore) count() func() {
	s.mu.Lock()
	s.asked++
	return s.mu.Unlock
}

func (s *pageStore) AppRevision(context.Context) (int64, error) {
	defer s.count()()
	return s.revision, nil
}

func (s *pageStore) ServedApps(_ context.Context, known map[mapdata.AppID]int64) ([]mapdata.ServedApp, int64, error) {
	defer s.count()()
	if !s.served {
		return nil, s.revision, nil
	}
	one := mapdata.ServedApp{ID: mapdata.AppID{1}, Revision: s.revision}
	if known[one.ID] != s.revision {
		one.App = &mapdata.App{ID: one.ID, Owner: mapdata.AccountID{1}, Versions: []mapdata.AppVersion{{
			Number: 1, State: mapdata.AppApproved, Page: s.page,
			Fields: mapdata.AppFields{Name: "Trip", Kinds: []mapdata.AppKind{mapdata.AppWidget}, WidgetURL: "https://apps.example.org/"},
		}}}
	}
	return []mapdata.ServedApp{one}, s.revision, nil
}

func (s *pageStore) ClaimAppPage(_ context.Context, _ mapdata.AppID, _ int, now, until time.Time) (bool, time.Time, error) {
	defer s.count()()
	if s.due.After(now) {
		return false, s.due, nil
	}
	s.due = until
	return true, time.Time{}, nil
}

func (s *pageStore) RecordAppPage(_ context.Context, _ mapdata.AppID, _ int, page mapdata.AppPage, due time.Time) error {
	defer s.count()()
	s.recorded++
	if page != s.page {
		s.revision++
	}
	s.page, s.due = page, due
	return nil
}

// pageNode returns a node of a service whose catalogue has one app.
func pageNode(store *pageStore, body func() string, looks *int) (*Service, signal.AppsChanged) {
	changed := signal.NewAppsChanged()
	check := func(text string) (string, error) { return text, nil }
	return New(Config{
		Store: store, Now: time.Now, Log: slog.New(slog.DiscardHandler), AppsChanged: changed,
		Rules: Rules{BaseURL: &url.URL{Scheme: "https", Host: "map.example.com"}, CheckURL: check, CheckHost: check},
		Look: func(context.Context, string) (*Page, error) {
			store.mu.Lock()
			defer store.mu.Unlock()
			*looks++
			return NewPage(Page{Status: 200, Body: []byte(body())}), nil
		},
	}), changed
}

// TestPagesAreCheckedDailyByOneNode runs three nodes for ten days, and checks that each page is checked about once a day, by one of
// them, and that the mark for drivers appears without a further change.
func TestPagesAreCheckedDailyByOneNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &pageStore{served: true, revision: 1, page: mapdata.AppPage{}}
		ctx, stop := context.WithCancel(t.Context())
		var (
			running sync.WaitGroup
			looks   int
			nodes   []*Service
			began   = time.Now()
		)
		body := func() string {
			if time.Since(began) > 36*time.Hour {
				return "other"
			}
			return "first"
		}
		for range 3 {
			n, changed := pageNode(store, body, &looks)
			nodes = append(nodes, n)
			if err := n.Load(ctx); err != nil {
				t.Fatal(err)
			}
			running.Go(func() {
				if err := n.Run(ctx); err != nil {
					t.Error(err)
				}
			})
			running.Go(func() {
				if err := n.RunPageChecks(ctx); err != nil {
					t.Error(err)
				}
			})
			running.Go(func() { // stands for the log of changes
				for known := int64(1); ; {
					select {
					case <-ctx.Done():
						return
					case <-time.After(time.Minute):
					}
					store.mu.Lock()
					if store.revision != known {
						known = store.revision
						changed.Notify()
					}
					store.mu.Unlock()
				}
			})
		}
		time.Sleep(10 * 24 * time.Hour)
		synctest.Wait()
		store.mu.Lock()
		seen, page, recorded := looks, store.page, store.recorded
		store.mu.Unlock()
		if seen < 8 || seen > 12 || recorded != seen {
			t.Errorf("%d looks in ten days, %d recorded, want about ten", seen, recorded)
		}
		if at := page.ChangedAt.Sub(began); at < 36*time.Hour || at > 64*time.Hour {
			t.Errorf("the change of 36 h was seen after %v", at)
		}
		for i, n := range nodes {
			l, err := n.App(mapdata.AppID{1})
			if err != nil {
				t.Fatal(err)
			}
			if !l.Changed {
				t.Errorf("node %d does not tell drivers after eight days", i)
			}
		}
		stop()
		running.Wait()
	})
}

// TestIdleCatalogueAsksTheStoreForNothing runs a node without apps for a day, and checks that it does not poll the store (F10 b):
// it used to ask four times a second.
func TestIdleCatalogueAsksTheStoreForNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &pageStore{}
		var looks int
		n, changed := pageNode(store, func() string { return "" }, &looks)
		ctx, stop := context.WithCancel(t.Context())
		if err := n.Load(ctx); err != nil {
			t.Fatal(err)
		}
		var running sync.WaitGroup
		running.Go(func() { _ = n.Run(ctx) })           // never fails
		running.Go(func() { _ = n.RunPageChecks(ctx) }) // never fails
		synctest.Wait()
		store.mu.Lock()
		store.asked = 0
		store.mu.Unlock()
		time.Sleep(24 * time.Hour)
		synctest.Wait()
		store.mu.Lock()
		if store.asked > 0 {
			t.Errorf("%d questions in a day without apps, want 0", store.asked)
		}
		store.served, store.revision = true, 1
		store.mu.Unlock()
		changed.Notify()
		synctest.Wait()
		if _, err := n.App(mapdata.AppID{1}); err != nil {
			t.Errorf("after the log spoke of apps: %v", err)
		}
		stop()
		running.Wait()
	})
}
