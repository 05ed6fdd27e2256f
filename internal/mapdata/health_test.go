package mapdata_test

import (
	"testing"
	"time"

	"wayside/internal/mapdata"
)

var now = time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)

// attempts makes a feed's attempts, oldest first, one a minute up to now: "." succeeded, "x" failed.
func attempts(pattern string) *mapdata.Recent {
	r := new(mapdata.Recent)
	for i, c := range pattern {
		r.Add(mapdata.Attempt{At: now.Add(-time.Duration(len(pattern)-1-i) * time.Minute), OK: c == '.'})
	}
	return r
}

// TestFeedHealth holds D4.15.
func TestFeedHealth(t *testing.T) {
	pull := mapdata.Feed{Direction: mapdata.Pull, Active: true}
	off := pull
	off.Active = false
	push := mapdata.Feed{Direction: mapdata.Push, Active: true, LastPushAt: now}
	silent := push
	silent.LastPushAt = now.Add(-24*time.Hour - time.Second)
	tests := []struct {
		name     string
		feed     mapdata.Feed
		recent   *mapdata.Recent
		decaying bool
		at       time.Time
		want     mapdata.Status
		ok, fail int
	}{
		{"never polled", pull, attempts(""), true, now, mapdata.Offline, 0, 0},
		{"last succeeded", pull, attempts("xxxx."), true, now, mapdata.Online, 1, 4},
		{"last failed, the one before not", pull, attempts(".x"), true, now, mapdata.Degraded, 1, 1},
		{"fifth last succeeded", pull, attempts(".xxxx"), true, now, mapdata.Degraded, 1, 4},
		{"sixth last succeeded", pull, attempts(".xxxxx"), true, now, mapdata.Offline, 1, 5},
		{"deactivated", off, attempts("..."), true, now, mapdata.Offline, 3, 0},
		{"twenty polls count", pull, attempts("xxxxx...................."), true, now, mapdata.Online, 20, 0},
		{"push", push, attempts("..x."), true, now, mapdata.Online, 3, 1},
		{"pushes of the last hour count", push, attempts("..x."), true, now.Add(59*time.Minute + 30*time.Second), mapdata.Online, 1, 0},
		{"more pushes than polls count", push, attempts("........................."), true, now, mapdata.Online, 25, 0},
		{"silent for a day, decaying", silent, attempts("."), true, now, mapdata.Offline, 1, 0},
		{"silent for a day, persistent", silent, attempts("."), false, now, mapdata.Online, 1, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := mapdata.FeedHealth(&tt.feed, tt.recent, tt.decaying, tt.at)
			if got.Status != tt.want || got.OK != tt.ok || got.Fail != tt.fail {
				t.Errorf("%s, %d ok, %d failed; want %s, %d, %d", got.Status, got.OK, got.Fail, tt.want, tt.ok, tt.fail)
			}
		})
	}
}

func TestRecentKnowsAnAttemptOnce(t *testing.T) {
	r := attempts("..")
	r.Add(mapdata.Attempt{At: now, OK: false})
	f := mapdata.Feed{Direction: mapdata.Pull, Active: true}
	if h := mapdata.FeedHealth(&f, r, true, now); h.OK != 2 || h.Fail != 0 || !h.LastSuccessAt.Equal(now) {
		t.Errorf("%+v", h)
	}
}

func TestStoredAlive(t *testing.T) {
	snapshot := now
	own := mapdata.Stored{SeenAt: now.Add(-time.Minute), Lifetime: time.Hour}
	shared := mapdata.Stored{Lifetime: time.Hour}
	tests := []struct {
		name   string
		stored mapdata.Stored
		at     time.Time
		want   bool
	}{
		{"persistent", mapdata.Stored{}, now.Add(1e6 * time.Hour), true},
		{"own time, before", own, now.Add(59*time.Minute - time.Millisecond), true},
		{"own time, at its end", own, now.Add(59 * time.Minute), false},
		{"shared time, before", shared, now.Add(time.Hour - time.Millisecond), true},
		{"shared time, at its end", shared, now.Add(time.Hour), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.stored.Alive(snapshot, tt.at); got != tt.want {
				t.Errorf("alive: %v", got)
			}
		})
	}
}
