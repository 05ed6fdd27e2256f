package feed_test

import (
	"errors"
	"testing"
	"time"

	"wayside/internal/feeds/feed"
	"wayside/internal/ground/mapdata"
)

// recordFailedPoll records a failed poll at the current test time, after which the feed is due in an hour.
func (ts *testService) recordFailedPoll(id mapdata.FeedID) {
	ts.t.Helper()
	err := ts.db.PollFailed(ts.t.Context(), &mapdata.PollFailed{
		Feed: id, Active: true,
		Polling: mapdata.Polling{NextFetchAt: ts.now.Add(time.Hour), LastFetchedAt: ts.now, LastOutcome: mapdata.OutcomeTimeout, ConsecutiveFailures: 3},
		Attempt: mapdata.Attempt{At: ts.now, Outcome: mapdata.OutcomeTimeout, Reason: "unreachable"},
	})
	if err != nil {
		ts.t.Fatal(err)
	}
}

func TestFetchNow(t *testing.T) {
	ts := newTestService(t)
	_, by := ts.newAccount("owner@example.com", mapdata.Driver)
	_, other := ts.newAccount("other@example.com", mapdata.Driver)
	_, curator := ts.newAccount("curator@example.com", mapdata.Curator)
	v, _ := ts.register(by, pullOf("https://a.example/"))
	due := func() time.Time {
		t.Helper()
		f, err := ts.db.Feed(t.Context(), v.ID)
		if err != nil {
			t.Fatal(err)
		}
		return f.Polling.NextFetchAt
	}
	ts.recordFailedPoll(v.ID)
	var limit *mapdata.LimitError
	if err := ts.FetchNow(t.Context(), by, v.ID); !errors.As(err, &limit) || limit.RetryAfter != time.Minute {
		t.Errorf("at once after a poll: %v", err)
	}
	ts.now = ts.now.Add(time.Minute)
	for _, stranger := range []mapdata.Actor{other, curator, {}} {
		if err := ts.FetchNow(t.Context(), stranger, v.ID); !errors.Is(err, mapdata.ErrNotFound) {
			t.Errorf("another account: %v", err)
		}
	}
	ts.changed()
	if err := ts.FetchNow(t.Context(), by, v.ID); err != nil || !due().Equal(ts.now) || !ts.changed() {
		t.Errorf("a minute after a poll: %v, due %v", err, due())
	}
	asked := ts.now
	ts.now = ts.now.Add(time.Second)
	if err := ts.FetchNow(t.Context(), by, v.ID); err != nil || !due().Equal(asked) || ts.changed() {
		t.Errorf("while it is due: %v, due %v", err, due())
	}
	if f, err := ts.db.Feed(t.Context(), v.ID); err != nil || f.Polling.ConsecutiveFailures != 3 {
		t.Errorf("the failures are forgotten: %v", err)
	}
	ts.patch(by, v, feed.Patch{Active: ptr(false)})
	if err := ts.FetchNow(t.Context(), by, v.ID); !errors.Is(err, mapdata.ErrConflict) {
		t.Errorf("paused: %v", err)
	}
	push, _ := ts.register(by, pushOf("Chargers"))
	if err := ts.FetchNow(t.Context(), by, push.ID); !errors.Is(err, mapdata.ErrConflict) {
		t.Errorf("a push feed: %v", err)
	}
}

func TestHistoryAndContentsNeedOwnerOrCurator(t *testing.T) {
	ts := newTestService(t)
	_, by := ts.newAccount("owner@example.com", mapdata.Driver)
	_, other := ts.newAccount("other@example.com", mapdata.Driver)
	_, curator := ts.newAccount("curator@example.com", mapdata.Curator)
	v, _ := ts.register(by, pullOf("https://a.example/"))
	ts.recordFailedPoll(v.ID)
	for _, who := range []mapdata.Actor{by, curator} {
		h, err := ts.History(t.Context(), who, v.ID)
		if err != nil || len(h.Attempts) != 1 || h.Attempts[0].Reason != "unreachable" {
			t.Errorf("History = %+v, %v", h, err)
		}
		if c, err := ts.Contents(t.Context(), who, v.ID, 10); err != nil || c.Truncated || len(c.Entities) != 0 {
			t.Errorf("Contents = %+v, %v", c, err)
		}
	}
	ts.approve(v) // it is listed then, but its history stays private
	for _, who := range []mapdata.Actor{other, {}} {
		if _, err := ts.History(t.Context(), who, v.ID); !errors.Is(err, mapdata.ErrNotFound) {
			t.Errorf("History of another account's feed: %v", err)
		}
		if _, err := ts.Contents(t.Context(), who, v.ID, 10); !errors.Is(err, mapdata.ErrNotFound) {
			t.Errorf("Contents of another account's feed: %v", err)
		}
	}
}
