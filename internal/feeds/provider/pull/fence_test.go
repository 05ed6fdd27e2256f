package pull

import (
	"context"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/safehttp"
	"wayside/internal/ground/signal"
)

// TestEditDuringPoll checks that the owner can replace a URL that hangs during the failing poll that would deactivate
// the feed: the new URL is polled immediately and the failure of the old one is not recorded.
func TestEditDuringPoll(t *testing.T) {
	w := newTestService(t)
	hanging := make(chan struct{})
	old := w.provider("old", func(_ http.ResponseWriter, r *http.Request) {
		hanging <- struct{}{}
		<-r.Context().Done()
	})
	id := w.register(old)
	fixed := w.provider("new", respond("["+goodRow+"]"))
	edit := func(change func(*mapdata.Feed)) {
		t.Helper()
		if _, err := w.db.UpdateFeed(t.Context(), id, func(f *mapdata.Feed) (mapdata.Side, error) {
			change(f)
			return mapdata.Side{}, nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	edit(func(f *mapdata.Feed) { f.Polling.ConsecutiveFailures = mapdata.MaxFailures - 1 })
	p := w.poller(nil)
	p.FeedDue = signal.NewFeedDue()
	stop := run(t, p)
	<-hanging
	edit(func(f *mapdata.Feed) { // as feed.Service.Patch does with a new pull_url
		f.PullURL = fixed
		f.Polling.NextFetchAt, f.Polling.ConsecutiveFailures = time.Now(), 0
	})
	p.FeedDue.Notify()
	if got := <-w.polls; got != mapdata.OutcomeOK {
		t.Errorf("the first outcome that is recorded is %s, want that of the new URL", got)
	}
	stop()
	f := w.feed(id)
	if !f.Active || f.Polling.ConsecutiveFailures != 0 || f.Polling.LastOutcome != mapdata.OutcomeOK {
		t.Errorf("active %v after %d failures, last outcome %s", f.Active, f.Polling.ConsecutiveFailures, f.Polling.LastOutcome)
	}
	emails, err := w.db.DueEmails(t.Context(), time.Now().Add(time.Hour), time.Now().Add(2*time.Hour), 10)
	if err != nil || len(emails) != 0 {
		t.Errorf("%d e-mails, %v; want none", len(emails), err)
	}
}

// TestFencedFailure checks that a failure that the store refuses to record leads to no e-mail, no deactivation and no
// metric, and that the lease that another node holds by then is left alone.
func TestFencedFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(t)
		id := m.add("a.example.com", time.Minute)
		m.feeds[id].Polling.ConsecutiveFailures = mapdata.MaxFailures - 1
		var observed atomic.Int64
		web := &web{answer: func(context.Context, safehttp.Request) (string, error) {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.feeds[id].node, m.feeds[id].until = "another", time.Now().Add(time.Hour)
			return "", &safehttp.Error{Outcome: mapdata.OutcomeTimeout, Connected: true}
		}}
		changed, queued := signal.NewStoreChanged(), signal.NewMailQueued()
		recorded, mailed := counted(t, changed.C()), counted(t, queued.C())
		stop := run(t, m.poller(web, func(o *Options) {
			o.StoreChanged, o.MailQueued = changed, queued
			o.Observe = func(mapdata.Outcome, time.Duration) { observed.Add(1) }
		}))
		time.Sleep(10 * time.Minute)
		stop()
		f := m.feed(id)
		if len(m.failed) != 0 || observed.Load() != 0 || recorded.Load() != 0 || mailed.Load() != 0 || !f.Active || f.node != "another" || f.released != 0 || len(web.asked) != 1 {
			t.Errorf("%d failures recorded, %d observed, notified %d and %d times, active %v, held by %q, released %d times, polled %d times",
				len(m.failed), observed.Load(), recorded.Load(), mailed.Load(), f.Active, f.node, f.released, len(web.asked))
		}
	})
}

// TestEditedFeedIsPolledAfterTheOldPollEnded checks that a poll of an edited feed's old settings is cancelled once its
// node claims the feed again, and that the next poll begins only when the old one has ended, because polls of one feed
// never overlap.
func TestEditedFeedIsPolledAfterTheOldPollEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const slowEnd = 3 * time.Second
		m := newMemory(t)
		id := m.add("old.example.com", time.Hour)
		var ended, began time.Time
		web := &web{answer: func(ctx context.Context, r safehttp.Request) (string, error) {
			if r.URL.Host() == "new.example.com" {
				began = time.Now()
				return "[]", nil
			}
			<-ctx.Done()
			time.Sleep(slowEnd)
			ended = time.Now()
			return "", ctx.Err()
		}}
		due := signal.NewFeedDue()
		stop := run(t, m.poller(web, func(o *Options) { o.FeedDue = due }))
		synctest.Wait()
		m.mu.Lock()
		edited := m.feeds[id]
		edited.PullURL, edited.Generation, edited.node, edited.until = "https://new.example.com/feed.json", 1, "", time.Time{}
		m.mu.Unlock()
		changed := time.Now()
		due.Notify()
		time.Sleep(10 * time.Second)
		stop()
		if len(m.good) != 1 || len(m.failed) != 0 {
			t.Fatalf("%d good polls, %d failed", len(m.good), len(m.failed))
		}
		if began.Before(ended) || began.Sub(changed) > slowEnd+time.Second {
			t.Errorf("edited, the old poll ended after %v, the new one began after %v", ended.Sub(changed), began.Sub(changed))
		}
		if f := m.feed(id); f.released != 0 {
			t.Errorf("the cancelled poll released the lease %d times", f.released)
		}
	})
}
