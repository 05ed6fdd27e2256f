package mapdata_test

import (
	"strings"
	"testing"
	"time"

	"wayside/internal/ground/mapdata"
)

// TestOldestVotes checks how far back votes are read: those that may still hide a shown entity or count for it.
func TestOldestVotes(t *testing.T) {
	const day = 24 * time.Hour
	if got := noon.Sub(mapdata.OldestSuppression(noon)); got != 8*day {
		t.Errorf("suppressions of the last %v, want 8 days", got)
	}
	for id, want := range map[string]time.Duration{
		"alert.police":          7 * day, // its longest life, 4 hours, is less
		"alert.hazard.flooding": 14 * day,
		"alert.construction":    180 * day,
		"camera.speed":          180 * day,
	} {
		if got := noon.Sub(mapdata.OldestLiveVote(kind(t, id), noon)); got != want {
			t.Errorf("%s: votes of the last %v, want %v", id, got, want)
		}
	}
}

// TestReturned checks when an entity that votes hid is shown again (D4.3, D9.5).
func TestReturned(t *testing.T) {
	police := kind(t, "alert.police")
	hidden := mapdata.Tally{Disputes: 3, LastDisputeAt: noon}
	until := noon.Add(30 * time.Minute)
	if at := hidden.Returned(police, until.Add(-time.Millisecond)); !at.IsZero() {
		t.Errorf("returned at %v while it is hidden", at)
	}
	if at := hidden.Returned(police, until); !at.Equal(until) {
		t.Errorf("returned at %v, want %v", at, until)
	}
	few := mapdata.Tally{Disputes: 2, LastDisputeAt: noon}
	if at := few.Returned(police, until); !at.IsZero() {
		t.Errorf("returned at %v without having been hidden", at)
	}
}

// TestLongestExternalID checks the limit of D3.1 for ids that clients send.
func TestLongestExternalID(t *testing.T) {
	for length, want := range map[int]bool{1: true, 256: true, 257: false} {
		id := mapdata.EntityID(mapdata.Incidents, strings.Repeat("x", length))
		if _, external, ok := mapdata.ParseEntityID(id); ok != want || ok && len(external) != length {
			t.Errorf("an id of %d bytes: %v", length, ok)
		}
	}
}

// TestCompareEntityIDs checks that ids are ordered by the texts that readers see.
func TestCompareEntityIDs(t *testing.T) {
	feed, other := mapdata.FeedID{15: 1}.SourceID(), mapdata.FeedID{15: 2}.SourceID()
	type entity struct {
		source mapdata.SourceID
		id     string
	}
	long := strings.Repeat("x", 255)
	ordered := []entity{{feed, "b"}, {feed, long + "a"}, {feed, long + "b"}, {feed, "б"}, {feed, "π"}, {other, "a"}, {mapdata.Incidents, "a"}}
	for i, a := range ordered {
		for j, b := range ordered {
			text := strings.Compare(mapdata.EntityID(a.source, a.id), mapdata.EntityID(b.source, b.id))
			if got := mapdata.CompareEntityIDs(a.source, []byte(a.id), b.source, []byte(b.id)); got != text {
				t.Errorf("entities %d and %d compare as %d, their ids as %d", i, j, got, text)
			}
		}
	}
}

// TestHealthUntil checks until when a health stays the same without another attempt.
func TestHealthUntil(t *testing.T) {
	push := mapdata.Feed{Direction: mapdata.Push, Active: true, LastPushAt: now}
	for _, tt := range []struct {
		name     string
		recent   string // one attempt a minute, the last now
		decaying bool
		at       time.Time
		want     time.Time
	}{
		{"the oldest push leaves the hour first", "..", true, now, now.Add(59 * time.Minute)},
		{"only the last is left", "..", true, now.Add(59*time.Minute + time.Second), now.Add(time.Hour)},
		{"then silence", "..", true, now.Add(2 * time.Hour), now.Add(24*time.Hour + 1)},
		{"silence has no end", "..", true, now.Add(25 * time.Hour), time.Unix(1<<40, 0)},
		{"silence does no harm", "..", false, now.Add(2 * time.Hour), time.Unix(1<<40, 0)},
	} {
		_, until := mapdata.FeedHealth(&push, attempts(tt.recent), tt.decaying, tt.at)
		if !until.Equal(tt.want) {
			t.Errorf("%s: until %v, want %v", tt.name, until, tt.want)
		}
	}
	pull := mapdata.Feed{Direction: mapdata.Pull, Active: true}
	if _, until := mapdata.FeedHealth(&pull, attempts(".x"), true, now); !until.Equal(time.Unix(1<<40, 0)) {
		t.Errorf("of a feed that is pulled: until %v", until)
	}
}

// TestIncidentKinds checks that live incidents are alerts and jams, and not cameras or chargers (D10.1).
func TestIncidentKinds(t *testing.T) {
	set := mapdata.IncidentKinds()
	for id, want := range map[string]bool{
		"alert.police": true, "alert.hazard.ice": true, "traffic.jam": true, "camera.speed": false, "charger.supercharger": false,
	} {
		if set.Has(kind(t, id)) != want {
			t.Errorf("%s: %v", id, !want)
		}
	}
}

// TestLastSuccess checks that the last success of a feed without recent attempts is that of its state.
func TestLastSuccess(t *testing.T) {
	snapshot, push := now.Add(-48*time.Hour), now.Add(-72*time.Hour)
	for direction, want := range map[mapdata.Direction]time.Time{mapdata.Pull: snapshot, mapdata.Push: push} {
		f := mapdata.Feed{Direction: direction, Active: true, SnapshotAt: snapshot, LastPushAt: push}
		if h, _ := mapdata.FeedHealth(&f, new(mapdata.Recent), true, now); !h.LastSuccessAt.Equal(want) {
			t.Errorf("%s: %v, want %v", direction, h.LastSuccessAt, want)
		}
	}
}

// TestKindOfLiveTally checks that the tally of a live incident has the kind that it had at its first vote, and that of
// a feed's entity has none.
func TestKindOfLiveTally(t *testing.T) {
	police, jam := kind(t, "alert.police"), kind(t, "traffic.jam")
	live := (&mapdata.Tally{}).Cast(&mapdata.Entity{Kind: jam}, counted(mapdata.NoVote), counted(mapdata.Confirm), noon)
	live = live.Cast(&mapdata.Entity{Kind: police}, counted(mapdata.NoVote), counted(mapdata.Confirm), noon)
	if live.Kind != jam || !live.LifeAt.IsZero() {
		t.Errorf("%+v, want the kind %d", live, jam)
	}
	e := &mapdata.Entity{Feed: mapdata.FeedID{1}, Kind: jam, FirstSeenAt: noon}
	if of := (&mapdata.Tally{}).Cast(e, counted(mapdata.NoVote), counted(mapdata.Confirm), noon); of.Kind != 0 || !of.LifeAt.Equal(noon) {
		t.Errorf("of a feed: %+v", of)
	}
}

// TestVotesOfAnEarlierLife checks that a vote during a suppression of an earlier life does not move the earlier votes
// to the new life, and that an earlier life's confirm does not keep the new one.
func TestVotesOfAnEarlierLife(t *testing.T) {
	police := kind(t, "alert.police")
	hidden := mapdata.Tally{Disputes: 3, LastDisputeAt: noon, ChangedAt: noon, LifeAt: noon}
	again := &mapdata.Entity{Feed: mapdata.FeedID{1}, Kind: police, FirstSeenAt: noon.Add(time.Minute), Lifetime: time.Hour}
	next := hidden.Cast(again, counted(mapdata.NoVote), counted(mapdata.Dispute), noon.Add(2*time.Minute))
	if next.Disputes != 4 || !next.LifeAt.Equal(noon) || next.Counts(police, again.FirstSeenAt, noon.Add(time.Hour)) {
		t.Errorf("%+v", next)
	}
	for lifeAt, want := range map[time.Time]time.Duration{noon: time.Hour, again.FirstSeenAt: 3 * time.Hour} {
		v := mapdata.Voted{Entity: *again, SnapshotAt: noon, Tally: mapdata.Tally{Confirms: 1, KeptUntil: noon.Add(3 * time.Hour), LifeAt: lifeAt}}
		if at, ok := v.ExpiresAt(noon.Add(2 * time.Minute)); !ok || !at.Equal(noon.Add(want)) {
			t.Errorf("votes of the life at %v: expires at %v, want %v after noon", lifeAt, at, want)
		}
	}
}
