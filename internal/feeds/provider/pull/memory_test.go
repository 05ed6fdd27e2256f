package pull

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"wayside/internal/feeds/ingest"
	"wayside/internal/feeds/provider/trial"
	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/safehttp"
)

// memory is a store and an ingester for tests of schedules.
type memory struct {
	t  *testing.T
	mu sync.Mutex

	feeds  map[mapdata.FeedID]*stored
	all    []*stored // of feeds: Claim scans thousands, many times
	failed []mapdata.PollFailed
	good   []good
	broken error // the error of recording and ingesting, if not nil
	result ingest.Result
	during func(f mapdata.FeedID) // called within Snapshot
}

type stored struct {
	mapdata.Feed
	node     string
	until    time.Time
	released int
}

type good struct {
	feed    mapdata.FeedID
	polling mapdata.Polling
	attempt mapdata.Attempt
	body    string
}

func newMemory(t *testing.T) *memory {
	return &memory{t: t, feeds: make(map[mapdata.FeedID]*stored)}
}

// add registers a feed, due now.
func (m *memory) add(host string, interval time.Duration) mapdata.FeedID {
	id := newID(m.t)
	m.mu.Lock()
	defer m.mu.Unlock()
	f := &stored{Feed: mapdata.Feed{
		ID: id, Owner: mapdata.AccountID(id), Name: "Feed of " + host, Direction: mapdata.Pull, Active: true,
		PullURL: "https://" + host + "/feed.json", PullInterval: interval, Polling: mapdata.Polling{NextFetchAt: time.Now()},
	}}
	m.feeds[id], m.all = f, append(m.all, f)
	return id
}

func (m *memory) Claim(_ context.Context, node string, now, until time.Time, limit int) ([]mapdata.Feed, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var due []*stored
	for _, f := range m.all {
		if f.Active && !f.Polling.NextFetchAt.IsZero() && !f.Polling.NextFetchAt.After(now) && !f.until.After(now) {
			due = append(due, f)
		}
	}
	slices.SortFunc(due, func(a, b *stored) int {
		return cmp.Or(a.Polling.NextFetchAt.Compare(b.Polling.NextFetchAt), slices.Compare(a.ID[:], b.ID[:]))
	})
	var claimed []mapdata.Feed
	for _, f := range due[:min(limit, len(due))] {
		f.node, f.until = node, until
		claimed = append(claimed, f.Feed)
	}
	return claimed, nil
}

// fenced reports whether the lease no longer matches the feed's.
func (f *stored) fenced(lease mapdata.Lease) bool {
	return f.node != lease.Node || f.Generation != lease.Generation
}

func (m *memory) Release(ctx context.Context, feed mapdata.FeedID, lease mapdata.Lease) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if f := m.feeds[feed]; f != nil && !f.fenced(lease) && ctx.Err() == nil {
		f.node, f.until = "", time.Time{}
		f.released++
	}
	return ctx.Err()
}

func (m *memory) PollFailed(_ context.Context, failed *mapdata.PollFailed) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.broken != nil {
		return m.broken
	}
	if f := m.feeds[failed.Feed]; f != nil {
		if f.fenced(failed.Lease) {
			return mapdata.ErrFenced
		}
		f.Polling, f.Active, f.node, f.until = failed.Polling, failed.Active, "", time.Time{}
	}
	m.failed = append(m.failed, *failed)
	return nil
}

func (m *memory) Snapshot(ctx context.Context, feed mapdata.FeedID, s ingest.Snapshot) (ingest.Report, error) {
	if m.during != nil {
		m.during(feed)
	}
	r, err := s.Open()
	if err != nil {
		return ingest.Report{}, err
	}
	defer r.Close()
	body, err := io.ReadAll(r)
	if err != nil {
		return ingest.Report{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := cmp.Or(m.broken, ctx.Err()); err != nil {
		return ingest.Report{}, fmt.Errorf("store snapshot: %w", err)
	}
	f := m.feeds[feed]
	if f != nil && f.fenced(s.Lease) {
		return ingest.Report{}, mapdata.ErrFenced
	}
	record, err := s.Finish(m.result)
	if err != nil {
		return ingest.Report{}, err
	}
	m.good = append(m.good, good{feed, record.Polling, record.Attempt, string(body)})
	if f != nil {
		f.Polling, f.node, f.until = record.Polling, "", time.Time{}
	}
	return m.result.Report, nil
}

func (m *memory) feed(id mapdata.FeedID) stored {
	m.mu.Lock()
	defer m.mu.Unlock()
	return *m.feeds[id]
}

// poller returns a poller on the memory.
func (m *memory) poller(web trial.Fetcher, change func(*Options)) *Poller {
	o := Options{
		Store: m, Ingest: m, Web: web, Now: time.Now, Log: slog.New(slog.DiscardHandler), Node: "here", Spool: m.t.TempDir(),
		Unseal: func(*mapdata.Feed) (string, error) { return "X-Key: k", nil },
	}
	if change != nil {
		change(&o)
	}
	return New(o)
}

// run runs a poller until the test stops it, and waits for it.
func run(t *testing.T, p *Poller) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- p.Run(ctx) }()
	return func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("run: %v", err)
		}
		if len(p.held) != 0 || len(p.hosts) != 0 {
			t.Errorf("%d feeds on %d hosts are still held", len(p.held), len(p.hosts))
		}
		if disk, memory := p.spool.Used(); disk != 0 || memory != 0 {
			t.Errorf("%d bytes of bodies on disk and %d in memory were not given back", disk, memory)
		}
	}
}

// web is a fake Fetcher that records each request and its time.
type web struct {
	mu     sync.Mutex
	answer func(ctx context.Context, r safehttp.Request) (string, error)
	asked  []asked
}

type asked struct {
	url, header string
	at          time.Time
}

func (w *web) Fetch(ctx context.Context, r safehttp.Request) (*safehttp.Response, error) {
	w.mu.Lock()
	w.asked = append(w.asked, asked{r.URL.String(), r.AuthHeader, time.Now()})
	w.mu.Unlock()
	leave, err := r.Admit(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	if r.Started != nil {
		r.Started()
	}
	body, err := w.answer(ctx, r)
	if err != nil {
		return nil, err
	}
	return &safehttp.Response{Status: 200, Body: io.NopCloser(strings.NewReader(body))}, nil
}

// times returns when a host was requested.
func (w *web) times(host string) []time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	var at []time.Time
	for _, a := range w.asked {
		if strings.Contains(a.url, "//"+host+"/") {
			at = append(at, a.at)
		}
	}
	return at
}

func answering(body string) *web {
	return &web{answer: func(context.Context, safehttp.Request) (string, error) { return body, nil }}
}

func failing(outcome mapdata.Outcome, connected bool) *web {
	return &web{answer: func(context.Context, safehttp.Request) (string, error) {
		return "", &safehttp.Error{Outcome: outcome, Advice: "Mend it.", Connected: connected}
	}}
}

// wait waits for d of virtual time, or until ctx ends.
func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
