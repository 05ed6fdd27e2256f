package feed_test

import (
	"errors"
	"testing"

	"wayside/internal/feeds/feed"
	"wayside/internal/ground/mapdata"
)

// TestPause checks who may pause whose feed, that its owner cannot end the pause, and that polls resume when it ends.
func TestPause(t *testing.T) {
	ts := newTestService(t)
	_, owner := ts.newAccount("owner@example.com", mapdata.Driver)
	_, other := ts.newAccount("other@example.com", mapdata.Driver)
	_, curator := ts.newAccount("curator@example.com", mapdata.Curator)
	r := pullOf("https://a.example/")
	r.Visibility = ptr("public")
	v, _ := ts.register(owner, r)
	ts.approve(v)
	for name, err := range map[string]error{
		"owner": viewError(ts.Pause(t.Context(), owner, v.ID, "x")), "other": viewError(ts.Resume(t.Context(), other, v.ID)),
		"removed": ts.Remove(t.Context(), other, v.ID, "x"),
	} {
		if !errors.Is(err, mapdata.ErrForbidden) {
			t.Errorf("%s: %v", name, err)
		}
	}
	var invalid *mapdata.InvalidError
	if _, err := ts.Pause(t.Context(), curator, v.ID, " "); !errors.As(err, &invalid) || invalid.Fields[0].Field != "reason" {
		t.Errorf("without a reason: %v", err)
	}
	paused, err := ts.Pause(t.Context(), curator, v.ID, "Wrong.")
	if err != nil || paused.Pause.By != mapdata.PausedByCurator || paused.Served() || !paused.Active || !paused.Polling.NextFetchAt.IsZero() {
		t.Fatalf("paused: %+v, %v", paused, err)
	}
	for _, active := range []bool{false, true} {
		if v = ts.patch(owner, v, feed.Patch{Active: ptr(active)}); !v.Pause.InForce() || !v.Polling.NextFetchAt.IsZero() {
			t.Errorf("its owner sets active to %v: %+v", active, v.Feed)
		}
	}
	if err := ts.FetchNow(t.Context(), owner, v.ID); !errors.Is(err, mapdata.ErrConflict) {
		t.Errorf("fetched while it is paused: %v", err)
	}
	moved := ts.patch(owner, v, feed.Patch{Settings: feed.Settings{PullURL: ptr("https://b.example/")}})
	if moved.ReviewState != mapdata.Pending {
		t.Errorf("another origin while it is paused needs no review: %+v", moved.Feed)
	}
	if v, err = ts.Resume(t.Context(), curator, v.ID); err != nil || v.Pause.InForce() || !v.Polling.NextFetchAt.Equal(ts.now) {
		t.Errorf("resumed: %+v, %v", v, err)
	}
	if err = ts.Remove(t.Context(), curator, v.ID, "Wrong."); err != nil {
		t.Error(err)
	}
	if _, err := ts.Get(t.Context(), owner, v.ID); !errors.Is(err, mapdata.ErrNotFound) {
		t.Errorf("removed: %v", err)
	}
}

func viewError(_ *feed.View, err error) error { return err }

// TestCuratorsDecideNotOnTheirOwn checks that a curator's own feed is for another curator, and that a private one that
// does not wait for a review is unknown to curators.
func TestCuratorsDecideNotOnTheirOwn(t *testing.T) {
	ts := newTestService(t)
	_, owner := ts.newAccount("owner@example.com", mapdata.Driver)
	_, curator := ts.newAccount("curator@example.com", mapdata.Curator)
	own, _ := ts.register(curator, pullOf("https://a.example/"))
	r := pullOf("https://b.example/")
	r.Visibility = ptr("private")
	private, _ := ts.register(owner, r)
	ts.approve(private)
	for want, id := range map[error]mapdata.FeedID{mapdata.ErrForbidden: own.ID, mapdata.ErrNotFound: private.ID} {
		for name, err := range map[string]error{
			"pause": viewError(ts.Pause(t.Context(), curator, id, "x")), "resume": viewError(ts.Resume(t.Context(), curator, id)),
			"remove": ts.Remove(t.Context(), curator, id, "x"),
		} {
			if !errors.Is(err, want) {
				t.Errorf("%s: %v, want %v", name, err, want)
			}
		}
		if _, err := ts.Pause(t.Context(), mapdata.Operator(), id, "x"); err != nil {
			t.Errorf("the operator: %v", err)
		}
	}
}
