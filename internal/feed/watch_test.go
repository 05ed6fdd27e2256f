package feed_test

import (
	"errors"
	"testing"
	"time"

	"wayside/internal/feed"
	"wayside/internal/mapdata"
)

// polled records a failed poll at the office's time, after which the feed is due in an hour.
func (o *office) polled(id mapdata.FeedID) {
	o.t.Helper()
	err := o.db.PollFailed(o.t.Context(), &mapdata.PollFailed{
		Feed: id, Active: true,
		Polling: mapdata.Polling{NextFetchAt: o.now.Add(time.Hour), LastFetchedAt: o.now, LastOutcome: mapdata.OutcomeTimeout, ConsecutiveFailures: 3},
		Attempt: mapdata.Attempt{At: o.now, Outcome: mapdata.OutcomeTimeout, Reason: "unreachable"},
	})
	if err != nil {
		o.t.Fatal(err)
	}
}

func TestFetchNow(t *testing.T) {
	o := newOffice(t)
	_, by := o.someone("owner@example.com", mapdata.Driver)
	_, other := o.someone("other@example.com", mapdata.Driver)
	_, curator := o.someone("curator@example.com", mapdata.Curator)
	v, _ := o.register(by, pullOf("https://a.example/"))
	due := func() time.Time {
		t.Helper()
		f, err := o.db.Feed(t.Context(), v.ID)
		if err != nil {
			t.Fatal(err)
		}
		return f.Polling.NextFetchAt
	}
	o.polled(v.ID)
	var limit *mapdata.LimitError
	if err := o.FetchNow(t.Context(), by, v.ID); !errors.As(err, &limit) || limit.RetryAfter != time.Minute {
		t.Errorf("at once after a poll: %v", err)
	}
	o.now = o.now.Add(time.Minute)
	for _, stranger := range []feed.Actor{other, curator, {}} {
		if err := o.FetchNow(t.Context(), stranger, v.ID); !errors.Is(err, mapdata.ErrNotFound) {
			t.Errorf("somebody else: %v", err)
		}
	}
	o.changed()
	if err := o.FetchNow(t.Context(), by, v.ID); err != nil || !due().Equal(o.now) || !o.changed() {
		t.Errorf("a minute after a poll: %v, due %v", err, due())
	}
	asked := o.now
	o.now = o.now.Add(time.Second)
	if err := o.FetchNow(t.Context(), by, v.ID); err != nil || !due().Equal(asked) || o.changed() {
		t.Errorf("while it is due: %v, due %v", err, due())
	}
	if f, err := o.db.Feed(t.Context(), v.ID); err != nil || f.Polling.ConsecutiveFailures != 3 {
		t.Errorf("the failures are forgotten: %v", err)
	}
	o.patch(by, v, feed.Patch{Active: ptr(false)})
	if err := o.FetchNow(t.Context(), by, v.ID); !errors.Is(err, mapdata.ErrConflict) {
		t.Errorf("paused: %v", err)
	}
	push, _ := o.register(by, pushOf("Chargers"))
	if err := o.FetchNow(t.Context(), by, push.ID); !errors.Is(err, mapdata.ErrConflict) {
		t.Errorf("a push feed: %v", err)
	}
}

func TestHistoryAndContentsAreForOwnerAndCurators(t *testing.T) {
	o := newOffice(t)
	_, by := o.someone("owner@example.com", mapdata.Driver)
	_, other := o.someone("other@example.com", mapdata.Driver)
	_, curator := o.someone("curator@example.com", mapdata.Curator)
	v, _ := o.register(by, pullOf("https://a.example/"))
	o.polled(v.ID)
	for _, who := range []feed.Actor{by, curator} {
		h, err := o.History(t.Context(), who, v.ID)
		if err != nil || len(h.Attempts) != 1 || h.Attempts[0].Reason != "unreachable" {
			t.Errorf("History = %+v, %v", h, err)
		}
		if c, err := o.Contents(t.Context(), who, v.ID, 10); err != nil || c.Truncated || len(c.Entities) != 0 {
			t.Errorf("Contents = %+v, %v", c, err)
		}
	}
	o.approve(v) // and listed: its name is public then, not how it does
	for _, who := range []feed.Actor{other, {}} {
		if _, err := o.History(t.Context(), who, v.ID); !errors.Is(err, mapdata.ErrNotFound) {
			t.Errorf("History of somebody else's feed: %v", err)
		}
		if _, err := o.Contents(t.Context(), who, v.ID, 10); !errors.Is(err, mapdata.ErrNotFound) {
			t.Errorf("Contents of somebody else's feed: %v", err)
		}
	}
}
