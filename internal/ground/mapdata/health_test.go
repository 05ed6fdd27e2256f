package mapdata_test

import (
	"testing"
	"time"

	"wayside/internal/ground/mapdata"
)

var now = time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)

// attempts returns a feed's attempts, oldest first, one a minute up to now: "." succeeded, "x" failed.
func attempts(pattern string) *mapdata.Recent {
	r := new(mapdata.Recent)
	for i, c := range pattern {
		r.AddAttempt(int64(i+1), &mapdata.Attempt{At: now.Add(-time.Duration(len(pattern)-1-i) * time.Minute), OK: c == '.'})
	}
	return r
}

// TestFeedHealth checks D4.15.
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
			got, _ := mapdata.FeedHealth(&tt.feed, tt.recent, tt.decaying, tt.at)
			if got.Status != tt.want || got.OK != tt.ok || got.Fail != tt.fail {
				t.Errorf("%s, %d ok, %d failed; want %s, %d, %d", got.Status, got.OK, got.Fail, tt.want, tt.ok, tt.fail)
			}
		})
	}
}

func TestRecentIgnoresRepeatedAttempts(t *testing.T) {
	r := attempts("..")
	r.AddAttempt(2, &mapdata.Attempt{At: now.Add(time.Minute), OK: false})
	f := mapdata.Feed{Direction: mapdata.Pull, Active: true}
	if h, _ := mapdata.FeedHealth(&f, r, true, now); h.OK != 2 || h.Fail != 0 || !h.LastSuccessAt.Equal(now) {
		t.Errorf("%+v", h)
	}
}

// TestRecentFollowsRevisions checks that of two attempts in one millisecond, or from a node whose clock is behind, none
// is lost, and that the attempt that was recorded last is the newest.
func TestRecentFollowsRevisions(t *testing.T) {
	pull, push := mapdata.Feed{Direction: mapdata.Pull, Active: true}, mapdata.Feed{Direction: mapdata.Push, Active: true, LastPushAt: now}
	r := attempts(".")
	r.AddAttempt(2, &mapdata.Attempt{At: now, OK: true})                        // in the same millisecond
	r.AddAttempt(3, &mapdata.Attempt{At: now.Add(-10 * time.Second)})           // of a node whose clock is behind
	r.AddAttempt(4, &mapdata.Attempt{At: now.Add(-61 * time.Minute), OK: true}) // more than an hour behind the newest
	for _, f := range []*mapdata.Feed{&pull, &push} {
		h, _ := mapdata.FeedHealth(f, r, true, now)
		want := mapdata.Health{Status: mapdata.Online, OK: 3, Fail: 1, LastSuccessAt: now}
		if f == &push {
			want.OK = 2
		}
		if h != want {
			t.Errorf("%s: %+v, want %+v", f.Direction, h, want)
		}
	}
	if r.Revision() != 4 {
		t.Errorf("revision %d, want 4", r.Revision())
	}
}

// TestHealthHoldsUntil checks that a health is the same before the time that FeedHealth returns, and different from
// then on.
func TestHealthHoldsUntil(t *testing.T) {
	push := mapdata.Feed{Direction: mapdata.Push, Active: true, LastPushAt: now}
	r := attempts("x..") // two minutes ago, one minute ago, now
	seen := 0
	for at := now; at.Before(now.Add(25 * time.Hour)); seen++ {
		h, until := mapdata.FeedHealth(&push, r, true, at)
		if !until.After(at) {
			t.Fatalf("at %v: holds until %v", at, until)
		}
		last, _ := mapdata.FeedHealth(&push, r, true, until.Add(-1))
		next, _ := mapdata.FeedHealth(&push, r, true, until)
		if last != h || seen < 4 && next == h {
			t.Fatalf("at %v: %+v; just before %v: %+v; then: %+v", at, h, until, last, next)
		}
		at = until
	}
	if want := 5; seen != want { // three attempts leave the hour, then a day of silence, then nothing
		t.Errorf("%d different healths, want %d", seen, want)
	}
	pull := mapdata.Feed{Direction: mapdata.Pull, Active: true}
	if _, until := mapdata.FeedHealth(&pull, r, true, now); until.Before(now.Add(100 * 365 * 24 * time.Hour)) {
		t.Errorf("a pull feed's health holds until %v", until)
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
