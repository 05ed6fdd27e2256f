package index_test

import (
	"slices"
	"testing"
	"time"

	"wayside/internal/entities/index"
	"wayside/internal/ground/mapdata"
)

// TestPersistentEntitiesOfAFailedFeed checks D4.16: the persistent entities of a feed that failures deactivated are
// shown until seven days after its last success, its decaying ones until they expire, and all that are alive once it is
// active again.
func TestPersistentEntitiesOfAFailedFeed(t *testing.T) {
	camera, alert := entity(1, "camera", 52, 4), entity(1, "alert", 52, 4)
	alert.Kind, _ = mapdata.ParseKind("alert.road_closed")
	alert.Lifetime = 100 * 24 * time.Hour
	other := entity(2, "other", 52, 4)
	failed := feed(1, mapdata.Approved)
	failed.Owner, failed.Active, failed.Direction, failed.Polling.ConsecutiveFailures = mapdata.AccountID{1}, false, mapdata.Pull, mapdata.MaxFailures
	active := *failed
	active.Active = true
	loaded := index.New(encode)
	loader := loaded.Load([]*mapdata.Feed{failed, feed(2, mapdata.Approved)}, 1)
	for _, e := range []mapdata.Entity{camera, alert, other} {
		loader.Part(0).Add(&e)
	}
	loader.Finish(nil)
	changed := index.New(encode)
	changed.Apply(change(&active, camera, alert))
	changed.Apply(change(feed(2, mapdata.Approved), other))
	changed.Apply(change(failed))
	const limit = 7 * 24 * time.Hour
	for name, ix := range map[string]*index.Index{"loaded": loaded, "changed": changed} {
		found := func(after time.Duration, own ...mapdata.FeedID) []string {
			s := around(52, 4, 100)
			s.Now, s.Own = start.Add(after), own
			all := ids(ix, s)
			slices.Sort(all)
			return all
		}
		for _, tt := range []struct {
			after time.Duration
			own   []mapdata.FeedID
			want  []string
		}{
			{0, nil, []string{"alert", "camera", "other"}},
			{limit - time.Millisecond, nil, []string{"alert", "camera", "other"}},
			{limit, nil, []string{"alert", "other"}},
			{limit, []mapdata.FeedID{feedID(1)}, []string{"alert", "camera", "other"}},
			{200 * 24 * time.Hour, nil, []string{"other"}},
		} {
			if got := found(tt.after, tt.own...); !slices.Equal(got, tt.want) {
				t.Errorf("%s, after %v, own %v: %v, want %v", name, tt.after, tt.own, got, tt.want)
			}
		}
		ix.Apply(change(&active))
		if got := found(limit); !slices.Equal(got, []string{"alert", "camera", "other"}) {
			t.Errorf("%s, active again: %v", name, got)
		}
		paused := active
		paused.Deactivate()
		ix.Apply(change(&paused))
		if got := found(0); !slices.Equal(got, []string{"other"}) {
			t.Errorf("%s, deactivated by a person: %v", name, got)
		}
	}
}
