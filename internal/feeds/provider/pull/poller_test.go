package pull

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"wayside/internal/feeds/ingest"
	"wayside/internal/feeds/provider/trial"
	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/safehttp"
	"wayside/internal/ground/signal"
)

func TestPollsInItsPhase(t *testing.T) {
	const interval = 5 * time.Minute
	synctest.Test(t, func(t *testing.T) {
		m, w := newMemory(t), answering("[]")
		m.result = ingest.Result{Rows: 7, Report: ingest.Report{Accepted: 5, Rejected: 2}, BodyHash: []byte{1}}
		var observed []mapdata.Outcome
		stop := run(t, m.poller(w, func(o *Options) {
			o.Observe = func(outcome mapdata.Outcome, _ time.Duration) { observed = append(observed, outcome) }
		}))
		time.Sleep(10 * time.Second)
		registered := time.Now()
		id := m.add("a.example.org", interval)
		time.Sleep(time.Hour + time.Minute)
		stop()
		at := w.times("a.example.org")
		if first := at[0].Sub(registered); first > 5*time.Second {
			t.Errorf("first poll after %v", first)
		}
		// The second poll is the first one in the feed's phase, which its random id determines, that leaves a quarter
		// of the interval after the first poll: 11 or 12 follow the first, each up to a second late.
		slots := func(until time.Time) int {
			return int((time.Duration(until.UnixMilli())*time.Millisecond - phase(id, interval)) / interval)
		}
		end, before := time.Now(), slots(at[0].Add(interval/4-time.Millisecond))
		if n := len(at) - 1; n < slots(end.Add(-time.Second))-before || n > slots(end)-before || n < 11 || n > 12 {
			t.Fatalf("%d polls after the first in 61 minutes, want %d", n, slots(end)-before)
		}
		for i := 1; i < len(at); i++ {
			if late := time.Duration(at[i].UnixMilli())*time.Millisecond%interval - phase(id, interval); late < 0 || late > time.Second {
				t.Errorf("poll %d is %v off its phase", i, late)
			}
		}
		f := m.feed(id)
		want := mapdata.Polling{
			NextFetchAt: f.Polling.NextFetchAt, LastFetchedAt: at[len(at)-1].UTC().Truncate(time.Millisecond), LastOutcome: mapdata.OutcomeOK,
			LastRows: 7, LastRejected: 2, BodyHash: []byte{1},
		}
		if diff := cmp.Diff(want, f.Polling); diff != "" {
			t.Errorf("polling (-want +got):\n%s", diff)
		}
		if a := m.good[0].attempt; !a.OK || a.Outcome != mapdata.OutcomeOK || a.Rows != 7 || a.Rejected != 2 || a.Bytes != 2 {
			t.Errorf("attempt %+v", a)
		}
		if len(observed) != len(at) || observed[0] != mapdata.OutcomeOK {
			t.Errorf("observed %v", observed)
		}
	})
}

// counted counts the values that c delivers until the test ends.
func counted(t *testing.T, c <-chan struct{}) *atomic.Int32 {
	t.Helper()
	var n atomic.Int32
	var ended sync.WaitGroup
	end := make(chan struct{})
	ended.Go(func() {
		for {
			select {
			case <-end:
				return
			case <-c:
				n.Add(1)
			}
		}
	})
	t.Cleanup(func() { close(end); ended.Wait() })
	return &n
}

func TestPollsImmediatelyWhenPoked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, w := newMemory(t), answering("[]")
		due := signal.NewFeedDue()
		stop := run(t, m.poller(w, func(o *Options) { o.FeedDue = due }))
		time.Sleep(300 * time.Millisecond)
		m.add("a.example.org", time.Minute)
		now := time.Now()
		due.Notify()
		due.Notify()
		synctest.Wait()
		if at := w.times("a.example.org"); len(at) != 1 || !at[0].Equal(now) {
			t.Errorf("polled at %v, poked at %v", at, now)
		}
		stop()
	})
}

func TestBacksOffAndDeactivates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, w := newMemory(t), failing(mapdata.OutcomeHTTPStatus, true)
		changed, queued := signal.NewStoreChanged(), signal.NewMailQueued()
		recorded, mailed := counted(t, changed.C()), counted(t, queued.C())
		stop := run(t, m.poller(w, func(o *Options) { o.StoreChanged, o.MailQueued = changed, queued }))
		id := m.add("a.example.org", 30*time.Second)
		time.Sleep(48 * time.Hour)
		stop()
		at := w.times("a.example.org")
		if len(at) != 20 || len(m.failed) != 20 || recorded.Load() != 20 || mailed.Load() != 20 {
			t.Fatalf("%d polls, %d failures, notified %d and %d times; want 20 and then no more", len(at), len(m.failed), recorded.Load(), mailed.Load())
		}
		for n := 1; n < len(at); n++ {
			want := min(30*time.Second<<n, time.Hour)
			// Stored times are cut to milliseconds.
			if waited := at[n].Sub(at[n-1]); waited < want-time.Millisecond || waited > want+time.Second {
				t.Errorf("waited %v after %d failures, want %v", waited, n, want)
			}
			if r := m.failed[n-1]; !r.Active || r.Polling.ConsecutiveFailures != n || len(r.Emails) != 0 {
				t.Errorf("failure %d: %+v", n, r)
			}
		}
		last := m.failed[19]
		if last.Active || last.Polling.ConsecutiveFailures != 20 || !last.Polling.NextFetchAt.IsZero() {
			t.Errorf("failure 20: %+v", last)
		}
		want := []mapdata.Email{{
			Account: mapdata.AccountID(id), Kind: mapdata.EmailDeactivated, At: last.Attempt.At, Due: last.Attempt.At,
			Data: map[string]string{"feed_id": id.String(), "feed_name": "Feed of a.example.org", "outcome": "http_status", "error": "Mend it."},
		}}
		if diff := cmp.Diff(want, last.Emails); diff != "" {
			t.Errorf("e-mails (-want +got):\n%s", diff)
		}
		if p := m.failed[0].Polling; p.LastOutcome != mapdata.OutcomeHTTPStatus || p.LastError != "Mend it." {
			t.Errorf("recorded %+v", p)
		}
	})
}

func TestSuccessResetsTheCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(t)
		polls := 0
		w := &web{answer: func(context.Context, safehttp.Request) (string, error) {
			if polls++; polls%20 != 0 {
				return "", &safehttp.Error{Outcome: mapdata.OutcomeTimeout, Connected: true}
			}
			return "[]", nil
		}}
		stop := run(t, m.poller(w, nil))
		id := m.add("a.example.org", time.Minute)
		time.Sleep(72 * time.Hour)
		stop()
		f := m.feed(id)
		if !f.Active || len(m.good) < 3 || f.Polling.ConsecutiveFailures >= 20 {
			t.Errorf("active %v after %d good polls and %d failures", f.Active, len(m.good), f.Polling.ConsecutiveFailures)
		}
	})
}

// TestFailureKeepsWhatASnapshotLeft checks that the results of the last good snapshot, which is compared with the next
// one, survive failures.
func TestFailureKeepsWhatASnapshotLeft(t *testing.T) {
	f := &mapdata.Feed{PullInterval: time.Minute, Polling: mapdata.Polling{LastRows: 5, LastRejected: 1, Shrank: true, BodyHash: []byte{1}}}
	now := time.Unix(1000, 0)
	got := afterFailure(f, &trial.Failure{Outcome: mapdata.OutcomeTimeout, Advice: "a"}, true, now.Add(-time.Second), now).Polling
	want := mapdata.Polling{
		NextFetchAt: now.Add(2 * time.Minute), LastFetchedAt: now, LastOutcome: mapdata.OutcomeTimeout, LastError: "a",
		LastRows: 5, LastRejected: 1, ConsecutiveFailures: 1, Shrank: true, BodyHash: []byte{1},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestShutdownDoesNotCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(t)
		w := &web{answer: func(ctx context.Context, r safehttp.Request) (string, error) {
			if strings.HasPrefix(r.URL.Host(), "ready") {
				return "[]", nil
			}
			<-ctx.Done()
			return "", context.Cause(ctx)
		}}
		ids := []mapdata.FeedID{m.add("hangs.example.org", time.Minute), m.add("ready.example.org", time.Minute)}
		ingesting := make(chan struct{})
		m.during = func(mapdata.FeedID) { <-ingesting }
		stop := run(t, m.poller(w, nil))
		time.Sleep(2 * time.Second)
		go func() {
			time.Sleep(time.Second)
			close(ingesting)
		}()
		stop()
		for _, id := range ids {
			if f := m.feed(id); f.released != 1 || !f.until.IsZero() || f.Polling.ConsecutiveFailures != 0 || !f.Polling.LastFetchedAt.IsZero() {
				t.Errorf("%s: released %d times, %+v", f.PullURL, f.released, f.Polling)
			}
		}
		if len(m.failed)+len(m.good) != 0 {
			t.Errorf("recorded %v %v", m.failed, m.good)
		}
	})
}

// TestHangingHostDelaysNoOtherHost checks that hundreds of feeds of a host that hangs delay no other feeds, neither by
// holding leases nor by being due first (D6.12).
func TestHangingHostDelaysNoOtherHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(t)
		turn := make(chan struct{}, 2)
		w := &web{answer: func(ctx context.Context, r safehttp.Request) (string, error) {
			if r.URL.Host() != "hangs.example.org" {
				return "[]", nil
			}
			select {
			case turn <- struct{}{}:
				defer func() { <-turn }()
			case <-ctx.Done():
				return "", context.Cause(ctx)
			}
			if err := wait(ctx, 15*time.Second); err != nil {
				return "", err
			}
			return "", &safehttp.Error{Outcome: mapdata.OutcomeTimeout, Connected: true}
		}}
		for range 2000 {
			m.add("hangs.example.org", 30*time.Second)
		}
		stop := run(t, m.poller(w, nil))
		time.Sleep(time.Minute)
		ids := map[string]mapdata.FeedID{}
		for i := range 20 {
			host := fmt.Sprintf("h%d.example.org", i)
			ids[host] = m.add(host, 30*time.Second)
		}
		added := time.Now()
		time.Sleep(10 * time.Minute)
		for host, id := range ids {
			at := w.times(host)
			if len(at) < 20 || at[0].Sub(added) > time.Second {
				t.Fatalf("%s was polled %d times in 10 minutes", host, len(at))
			}
			for _, when := range at[1:] {
				if late := time.Duration(when.UnixMilli())*time.Millisecond%(30*time.Second) - phase(id, 30*time.Second); late > time.Second {
					t.Errorf("%s was polled %v late", host, late)
				}
			}
		}
		stop()
		failed := map[mapdata.FeedID]bool{}
		for _, f := range m.failed {
			if failed[f.Feed] {
				t.Error("a feed of the hanging host came twice before all came once")
			}
			failed[f.Feed] = true
		}
		// Two at a time, 15 s each, for 11 minutes.
		if len(failed) < 80 || len(failed) > 88 {
			t.Errorf("%d polls of the hanging host ended", len(failed))
		}
	})
}

// TestLongWaitIsOnePoll checks that a poll that waits long keeps its lease, because the node claims the feed again and
// finds its job.
func TestLongWaitIsOnePoll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(t)
		w := &web{answer: func(ctx context.Context, _ safehttp.Request) (string, error) {
			return "[]", wait(ctx, 150*time.Second)
		}}
		m.add("a.example.org", time.Hour)
		stop := run(t, m.poller(w, nil))
		time.Sleep(4 * time.Minute)
		stop()
		if len(w.asked) != 1 || len(m.good) != 1 {
			t.Errorf("asked %d times, %d snapshots", len(w.asked), len(m.good))
		}
	})
}

// TestLostLease checks that a lease that another node took ends the poll without a trace.
func TestLostLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(t)
		ended := make(chan error, 1)
		w := &web{answer: func(ctx context.Context, _ safehttp.Request) (string, error) {
			<-ctx.Done()
			ended <- context.Cause(ctx)
			return "", context.Cause(ctx)
		}}
		id := m.add("a.example.org", time.Hour)
		stop := run(t, m.poller(w, nil))
		time.Sleep(lease - time.Second)
		m.mu.Lock()
		m.feeds[id].node, m.feeds[id].until = "elsewhere", time.Now().Add(time.Hour)
		m.mu.Unlock()
		time.Sleep(2 * time.Second)
		synctest.Wait()
		select {
		case err := <-ended:
			if !errors.Is(err, errLeaseLost) {
				t.Errorf("ended by %v", err)
			}
		default:
			t.Error("still polling")
		}
		stop()
		if f := m.feed(id); f.released != 0 || f.node != "elsewhere" || len(m.failed) != 0 {
			t.Errorf("left a trace: %+v, %v", f, m.failed)
		}
	})
}

func TestNodesShareFeeds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(t)
		var atOnce, most atomic.Int32
		w := &web{answer: func(ctx context.Context, _ safehttp.Request) (string, error) {
			most.Store(max(most.Load(), atOnce.Add(1)))
			defer atOnce.Add(-1)
			return "[]", wait(ctx, 10*time.Second)
		}}
		m.add("a.example.org", 30*time.Second)
		stopOne := run(t, m.poller(w, func(o *Options) { o.Node = "one" }))
		stopTwo := run(t, m.poller(w, func(o *Options) { o.Node = "two" }))
		time.Sleep(10 * time.Minute)
		if most.Load() != 1 || len(w.asked) < 19 || len(w.asked) > 22 {
			t.Errorf("%d polls, %d at once", len(w.asked), most.Load())
		}
		stopOne()
		stopTwo()
	})
}

func TestIngestErrorsBecomeOutcomes(t *testing.T) {
	tests := []struct {
		name string
		err  error
		want mapdata.Outcome // empty: nothing is recorded
	}{
		{"malformed", fmt.Errorf("store snapshot: %w (row 3)", ingest.ErrMalformed), mapdata.OutcomeParseError},
		{"no array", fmt.Errorf("store snapshot: %w", ingest.ErrNotArray), mapdata.OutcomeNotAnArray},
		{"too many rows", fmt.Errorf("store snapshot: %w: more than 200000", ingest.ErrTooManyRows), mapdata.OutcomeTooLarge},
		{"deleted meanwhile", mapdata.ErrNotFound, ""},
		{"no room", mapdata.ErrUnavailable, ""},
		{"changed meanwhile", mapdata.ErrConflict, ""},
		{"anything else", errors.New("disk on fire"), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m, w := newMemory(t), answering("{}")
				id := m.add("a.example.org", time.Minute)
				p := m.poller(w, nil)
				p.Ingest = ingestFails{tt.err}
				stop := run(t, p)
				time.Sleep(10 * time.Second)
				stop()
				if tt.want == "" {
					if len(m.failed) != 0 || len(w.asked) != 1 {
						t.Errorf("recorded %v, asked %d times in 10 s", m.failed, len(w.asked))
					}
					return
				}
				if len(m.failed) != 1 || m.failed[0].Polling.LastOutcome != tt.want || m.failed[0].Attempt.Bytes != 2 || m.feed(id).Polling.LastError == "" {
					t.Errorf("recorded %+v", m.failed)
				}
			})
		})
	}
}

type ingestFails struct{ err error }

func (i ingestFails) Snapshot(context.Context, mapdata.FeedID, ingest.Snapshot) (ingest.Report, error) {
	return ingest.Report{}, i.err
}

// TestOwnFailuresDoNotCount checks that a poll that fails because of this node is tried again in a minute, and does not
// count.
func TestOwnFailuresDoNotCount(t *testing.T) {
	breakIt := map[string]func(*memory, *Options){
		"store": func(m *memory, _ *Options) { m.broken = mapdata.ErrUnavailable },
		"spool": func(_ *memory, o *Options) { o.Spool = "/does/not/exist" },
		"sealed with": func(_ *memory, o *Options) {
			o.Unseal = func(*mapdata.Feed) (string, error) { return "", errors.New("key lost") }
		},
	}
	for name, broken := range breakIt {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m, w := newMemory(t), answering("["+strings.Repeat(" ", 64<<10)+"]")
				id := m.add("a.example.org", 10*time.Minute)
				m.feeds[id].PullAuthSealed = []byte{1}
				whole := m.poller(w, nil).Options
				p := m.poller(w, func(o *Options) { broken(m, o) })
				stop := run(t, p)
				time.Sleep(5 * time.Second)
				stop()
				if f := m.feed(id); len(m.failed)+len(m.good) != 0 || f.Polling.ConsecutiveFailures != 0 {
					t.Errorf("recorded %v %v", m.failed, m.good)
				}
				m.broken = nil
				stop = run(t, New(whole))
				time.Sleep(lease)
				stop()
				if len(m.good) != 1 {
					t.Errorf("%d good polls once it was mended", len(m.good))
				}
			})
		})
	}
}

func TestAuthHeaderIsOpened(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, w := newMemory(t), answering("[]")
		m.add("open.example.org", time.Hour)
		m.feeds[m.add("sealed.example.org", time.Hour)].PullAuthSealed = []byte{1}
		stop := run(t, m.poller(w, nil))
		time.Sleep(2 * time.Second)
		stop()
		for _, a := range w.asked {
			if (a.header == "X-Key: k") != strings.Contains(a.url, "sealed") {
				t.Errorf("%s with %q", a.url, a.header)
			}
		}
	})
}

func TestURLThatNoLongerPasses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, w := newMemory(t), answering("[]")
		m.add("printer.local", time.Hour)
		stop := run(t, m.poller(w, nil))
		time.Sleep(2 * time.Second)
		stop()
		if len(w.asked) != 0 || len(m.failed) != 1 || m.failed[0].Polling.LastOutcome != mapdata.OutcomeBlockedAddress {
			t.Errorf("asked %v, recorded %+v", w.asked, m.failed)
		}
	})
}

// TestLargeBodiesQueue checks that large bodies are parsed one at a time, and that small ones do not wait for them
// (D6.6).
func TestLargeBodiesQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(t)
		large := "[" + strings.Repeat(" ", 1<<20) + "]"
		w := &web{answer: func(_ context.Context, r safehttp.Request) (string, error) {
			if strings.HasPrefix(r.URL.Host(), "large") {
				return large, nil
			}
			return "[]", nil
		}}
		sizes := map[mapdata.FeedID]bool{}
		for i := range 6 {
			sizes[m.add(fmt.Sprintf("large%d.example.org", i), time.Hour)] = true
		}
		small := m.add("small.example.org", time.Hour)
		var parsing, most atomic.Int32
		began := time.Now()
		var smallAfter time.Duration
		m.during = func(f mapdata.FeedID) {
			if !sizes[f] {
				smallAfter = time.Since(began)
				return
			}
			most.Store(max(most.Load(), parsing.Add(1)))
			time.Sleep(10 * time.Second)
			parsing.Add(-1)
		}
		stop := run(t, m.poller(w, nil))
		time.Sleep(2 * time.Minute)
		stop()
		if most.Load() != 1 || smallAfter != 0 || len(m.good) != 7 {
			t.Errorf("%d large ones at a time, the small one came after %v, %d good polls", most.Load(), smallAfter, len(m.good))
		}
		for _, g := range m.good {
			if sizes[g.feed] && g.body != large || g.feed == small && g.body != "[]" {
				t.Error("a body was not handed on as it came")
			}
		}
	})
}
