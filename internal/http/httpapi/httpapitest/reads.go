package httpapitest

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"wayside/internal/entities/catalog"
	"wayside/internal/entities/index"
	"wayside/internal/entities/nearby"
	"wayside/internal/entities/wire"
	"wayside/internal/feeds/feed"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/ratelimit"
	"wayside/internal/ground/signal"
	"wayside/internal/http/console"
	"wayside/internal/http/httpapi"
	"wayside/internal/http/httpapi/public"
	"wayside/internal/store/sqlite"
	"wayside/internal/store/sqlite/sqlitetest"
)

// GetAs sends a request with a Host header.
func (s *ReadService) GetAs(host, path string) *http.Response {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.Server.URL+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	req.Host = host
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	_ = resp.Body.Close()
	return resp
}

// Start is the time at which tests begin.
var Start = time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)

// ReadService is the part of the service that answers reads; tests fill its index.
type ReadService struct {
	t         *testing.T
	index     *index.Index
	Catalogue *catalog.Catalog
	Server    *httptest.Server

	mu  sync.Mutex
	now time.Time
}

// NewReadService returns a service of reads over an index in memory; edit changes its dependencies.
func NewReadService(t *testing.T, edit func(*public.Deps)) *ReadService {
	t.Helper()
	s := &ReadService{t: t, index: index.New(wire.EncodeEntity), Catalogue: catalog.New(nil), now: Start}
	deps := public.Deps{
		BaseURL: "http://wayside.test",
		Now:     s.time,
		Log:     slog.New(slog.DiscardHandler),
		Ready:   func() error { return nil },
		Nearby:  nearby.New(nearby.Config{Index: s.index, Catalog: s.Catalogue, Primary: "tesla", Now: s.time}),
		Sources: s.Catalogue,
		Limits:  httpapi.Limits{GuestReads: 1_000_000, AccountReads: 1_000_000, Manage: 1_000_000},
		Buckets: ratelimit.NewMemory(1000),
	}
	db, err := sqlite.Open(t.Context(), sqlitetest.Path(t), sqlite.Options{Now: s.time})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	deps.Console = NewConsole(t, &console.Config{
		BaseURL: deps.BaseURL, Now: s.time, Log: deps.Log, Sources: s.Catalogue, Entities: func(mapdata.FeedID) int { return 0 },
		Feeds: feed.New(feed.Config{Store: db, Now: s.time, Signals: signal.NewSet()}),
		State: func() console.State { return console.State{Since: Start, Ready: true} },
	})
	if edit != nil {
		edit(&deps)
	}
	s.Server = httptest.NewServer(public.New(deps))
	t.Cleanup(s.Server.Close)
	return s
}

func (s *ReadService) time() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

// Advance moves the test's time forward.
func (s *ReadService) Advance(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = s.now.Add(d)
}

// AddFeed adds a feed with entities to the index and to the catalogue.
func (s *ReadService) AddFeed(f *mapdata.Feed, entities ...mapdata.Entity) {
	s.index.Apply([]mapdata.FeedChange{{Feed: f, FeedID: f.ID, Entities: entities}})
	s.Catalogue.Apply([]mapdata.FeedChange{{Feed: f, FeedID: f.ID}}).Publish()
}

// Get requests a path; header pairs may follow.
func (s *ReadService) Get(path string, header ...string) (*http.Response, []byte) {
	s.t.Helper()
	req, err := http.NewRequest(http.MethodGet, s.Server.URL+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Add(header[i], header[i+1])
	}
	transport := &http.Transport{DisableCompression: true}
	defer transport.CloseIdleConnections()
	resp, err := transport.RoundTrip(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return resp, body
}

// Answer is a nearby response as a client decodes it.
type Answer struct {
	Entities        []map[string]any
	HiddenKinds     []string `json:"hidden_kinds"`
	Sources         []map[string]any
	NetworksApplied []string `json:"networks_applied"`
	Truncated       *bool
	FetchedAt       string `json:"fetched_at_utc"`
}

// Near reads nearby entities.
func (s *ReadService) Near(query string) Answer {
	s.t.Helper()
	resp, body := s.Get("/v2/entities/nearby?" + query)
	if resp.StatusCode != http.StatusOK {
		s.t.Fatalf("%s: %s: %s", query, resp.Status, body)
	}
	var a Answer
	if err := json.Unmarshal(body, &a); err != nil {
		s.t.Fatalf("%s: %v: %s", query, err, body)
	}
	return a
}

// ExternalIDs returns the external ids of the entities, in the answer's order.
func (a Answer) ExternalIDs() []string {
	ids := []string{}
	for _, e := range a.Entities {
		ids = append(ids, e["external_id"].(string))
	}
	return ids
}

// Feed returns an approved public feed with the number n; edit changes it.
func Feed(n byte, edit func(*mapdata.Feed)) *mapdata.Feed {
	f := &mapdata.Feed{
		ID: mapdata.FeedID{6: 0x70, 8: 0x80, 15: n}, Owner: mapdata.AccountID{15: 1}, Name: fmt.Sprintf("Feed %d", n), Attribution: "© Somebody",
		Direction: mapdata.Push, Visibility: mapdata.Public, ReviewState: mapdata.Approved, Active: true,
		Layer: mapdata.Layer{Slug: fmt.Sprintf("layer-%d", n)}, SnapshotAt: Start,
	}
	if edit != nil {
		edit(f)
	}
	return f
}

// Entity returns an entity of a feed.
func Entity(t *testing.T, f *mapdata.Feed, id, kind string, lat, lng float64) mapdata.Entity {
	t.Helper()
	k, ok := mapdata.ParseKind(kind)
	if !ok {
		t.Fatalf("no kind %q", kind)
	}
	return mapdata.Entity{
		Feed: f.ID, ExternalID: id, Kind: k, Point: geo.Point{Lat: lat, Lng: lng}, Properties: []byte(`{"street":"A1"}`),
		FirstSeenAt: Start, SeenAt: Start, ChangedAt: Start, Lifetime: k.Lifetime(0),
	}
}
