package mapdata_test

import (
	"testing"
	"time"

	"wayside/internal/ground/mapdata"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func kind(t *testing.T, id string) mapdata.Kind {
	t.Helper()
	k, ok := mapdata.ParseKind(id)
	if !ok {
		t.Fatalf("no kind %s", id)
	}
	return k
}

// TestStandingAndConfidence checks D9.3 and D9.4.
func TestStandingAndConfidence(t *testing.T) {
	for _, tt := range []struct {
		confirms, disputes int
		prior              float64
		standing           mapdata.Standing
		confidence         float64
	}{
		{0, 0, 0.5, mapdata.Reported, 0.5},
		{0, 0, 0.9, mapdata.Reported, 0.9},
		{1, 0, 0.5, mapdata.Reported, 0.67},
		{2, 0, 0.5, mapdata.Confirmed, 0.75},
		{2, 1, 0.5, mapdata.Confirmed, 0.6},
		{2, 2, 0.5, mapdata.Disputed, 0.5},
		{0, 1, 0.5, mapdata.Disputed, 0.33},
		{1, 1, 0.5, mapdata.Disputed, 0.5},
		{1, 3, 0.5, mapdata.Disputed, 0.33},
		{0, 100, 0, mapdata.Disputed, 0},
		{100, 0, 1, mapdata.Confirmed, 1},
	} {
		if got := mapdata.StandingOf(tt.confirms, tt.disputes); got != tt.standing {
			t.Errorf("%d confirms, %d disputes: %s, want %s", tt.confirms, tt.disputes, got, tt.standing)
		}
		if got := mapdata.ConfidenceOf(tt.confirms, tt.disputes, tt.prior); got != tt.confidence {
			t.Errorf("%d confirms, %d disputes, prior %v: %v, want %v", tt.confirms, tt.disputes, tt.prior, got, tt.confidence)
		}
	}
}

// TestSuppression checks D9.5: the thresholds, the durations, and the confirm that ends a suppression.
func TestSuppression(t *testing.T) {
	for _, tt := range []struct {
		kind     string
		disputes int
		span     time.Duration
	}{{"alert.police", 3, 30 * time.Minute}, {"camera.speed", 5, 7 * 24 * time.Hour}} {
		k := kind(t, tt.kind)
		e := &mapdata.Entity{Kind: k, FirstSeenAt: noon.Add(-time.Hour)}
		var tally mapdata.Tally
		for i := range tt.disputes {
			if tally.Suppressed(k, noon) {
				t.Fatalf("%s: hidden after %d disputes", tt.kind, i)
			}
			tally = tally.Cast(e, counted(mapdata.NoVote), counted(mapdata.Dispute), noon)
		}
		if until := tally.DisputedUntil(k); !until.Equal(noon.Add(tt.span)) {
			t.Errorf("%s: hidden until %v", tt.kind, until)
		}
		if !tally.Suppressed(k, noon.Add(tt.span-time.Millisecond)) || tally.Suppressed(k, noon.Add(tt.span)) {
			t.Errorf("%s: not hidden exactly until its time", tt.kind)
		}
		confirmed := tally.Cast(e, counted(mapdata.NoVote), counted(mapdata.Confirm), noon)
		if confirmed.Suppressed(k, noon) {
			t.Errorf("%s: a confirm that brings the difference below does not end it", tt.kind)
		}
		tally = tally.Cast(e, counted(mapdata.NoVote), counted(mapdata.Dispute), noon.Add(time.Minute))
		if until := tally.DisputedUntil(k); !until.Equal(noon.Add(time.Minute + tt.span)) {
			t.Errorf("%s: the last dispute does not count: %v", tt.kind, until)
		}
	}
}

// TestOneStandingVote checks that a vote replaces the one before it, and that withdrawing it leaves none (D9.1).
func TestOneStandingVote(t *testing.T) {
	e := &mapdata.Entity{FirstSeenAt: noon.Add(-time.Hour)}
	var tally mapdata.Tally
	before := mapdata.NoVote
	for _, tt := range []struct {
		vote               mapdata.Vote
		confirms, disputes int
	}{
		{mapdata.Confirm, 1, 0},
		{mapdata.Confirm, 1, 0},
		{mapdata.Dispute, 0, 1},
		{mapdata.Confirm, 1, 0},
		{mapdata.NoVote, 0, 0},
		{mapdata.NoVote, 0, 0},
	} {
		tally = tally.Cast(e, counted(before), counted(tt.vote), noon)
		before = tt.vote
		if tally.Confirms != tt.confirms || tally.Disputes != tt.disputes || !tally.ChangedAt.Equal(noon) {
			t.Fatalf("after %d: %+v", tt.vote, tally)
		}
	}
}

// TestConfirmExtendsLifetime checks that a confirm keeps an entity for half the default lifetime from now, never beyond
// the maximum, and never for live or persistent entities (D9.6).
func TestConfirmExtendsLifetime(t *testing.T) {
	feed := mapdata.FeedID{1}
	for _, tt := range []struct {
		name  string
		e     mapdata.Entity
		kept  time.Duration // from noon; 0: not at all
		which string
	}{
		{"half the default", mapdata.Entity{Feed: feed, FirstSeenAt: noon, Lifetime: time.Minute}, 30 * time.Minute, "alert.police"},
		{"never beyond the longest", mapdata.Entity{Feed: feed, FirstSeenAt: noon.Add(-4*time.Hour + time.Minute), Lifetime: time.Minute}, time.Minute, "alert.police"},
		{"a live incident's upstream decides", mapdata.Entity{FirstSeenAt: noon, Lifetime: time.Minute}, 0, "alert.police"},
		{"a camera stays anyway", mapdata.Entity{Feed: feed, FirstSeenAt: noon}, 0, "camera.speed"},
		{"a camera with a ttl keeps its own time", mapdata.Entity{Feed: feed, FirstSeenAt: noon, Lifetime: time.Hour}, 0, "camera.speed"},
	} {
		tt.e.Kind = kind(t, tt.which)
		tally := (&mapdata.Tally{}).Cast(&tt.e, counted(mapdata.NoVote), counted(mapdata.Confirm), noon)
		want := time.Time{}
		if tt.kept > 0 {
			want = noon.Add(tt.kept)
		}
		if !tally.KeptUntil.Equal(want) {
			t.Errorf("%s: kept until %v, want %v", tt.name, tally.KeptUntil, want)
		}
		if disputed := tally.Cast(&tt.e, counted(mapdata.NoVote), counted(mapdata.Dispute), noon); !disputed.KeptUntil.Equal(want) {
			t.Errorf("%s: a dispute moves the expiry", tt.name)
		}
		voted := mapdata.Voted{Entity: tt.e, Tally: tally}
		voted.Entity.SeenAt = noon
		at, decays := voted.ExpiresAt(noon)
		if decays != (tt.e.Lifetime > 0) || decays && at.Before(want) {
			t.Errorf("%s: expires at %v", tt.name, at)
		}
	}
}

// TestVotesOfReappearedEntity checks D3.6 for votes: an entity that reappears is new, but a suppression stays in force.
func TestVotesOfReappearedEntity(t *testing.T) {
	k := kind(t, "alert.police")
	first := &mapdata.Entity{Kind: k, Feed: mapdata.FeedID{1}, FirstSeenAt: noon}
	var tally mapdata.Tally
	tally = tally.Cast(first, counted(mapdata.NoVote), counted(mapdata.Confirm), noon)
	again := &mapdata.Entity{Kind: k, Feed: mapdata.FeedID{1}, FirstSeenAt: noon.Add(time.Hour)}
	now := noon.Add(2 * time.Hour)
	if !tally.Counts(k, first.FirstSeenAt, now) || tally.Counts(k, again.FirstSeenAt, now) {
		t.Error("votes count for another life than their own")
	}
	next := tally.Cast(again, counted(mapdata.Confirm), counted(mapdata.Dispute), now)
	if next.Confirms != 0 || next.Disputes != 1 || !next.LifeAt.Equal(again.FirstSeenAt) {
		t.Errorf("a new life begins with the votes of the old: %+v", next)
	}
	for range 3 {
		tally = tally.Cast(first, counted(mapdata.NoVote), counted(mapdata.Dispute), noon)
	}
	tally = tally.Cast(first, counted(mapdata.NoVote), counted(mapdata.Dispute), noon)
	back := noon.Add(time.Minute)
	if !tally.Counts(k, back, back) || !tally.Suppressed(k, back) {
		t.Error("a suppression is shaken off by coming back")
	}
	returned := &mapdata.Entity{Kind: k, Feed: mapdata.FeedID{1}, FirstSeenAt: back}
	freed := tally.Cast(returned, counted(mapdata.NoVote), counted(mapdata.Confirm), back)
	freed = freed.Cast(returned, counted(mapdata.NoVote), counted(mapdata.Confirm), back)
	if freed.Suppressed(k, back) || freed.Confirms == 0 || !freed.Counts(k, back, back) {
		t.Errorf("a confirm that ends an earlier life's suppression does not count: %+v", freed)
	}
	if tally.Counts(k, back, noon.Add(time.Hour)) {
		t.Error("the votes of an earlier life count after their suppression")
	}
	live := mapdata.Tally{}
	if !live.Counts(k, again.FirstSeenAt, now) {
		t.Error("votes on live incidents do not last (Live incidents, 2)")
	}
}

// TestEntityIDs checks both directions of D4.10.
func TestEntityIDs(t *testing.T) {
	feed, err := mapdata.NewFeedID()
	if err != nil {
		t.Fatal(err)
	}
	for _, source := range []mapdata.SourceID{mapdata.Incidents, feed.SourceID()} {
		for _, external := range []string{"x", "a:v1:b", "ü/?#\"", "\xff"} {
			id := mapdata.EntityID(source, external)
			s, e, ok := mapdata.ParseEntityID(id)
			if !ok || s != source || e != external {
				t.Errorf("%q is read as %q, %q, %v", id, s, e, ok)
			}
		}
	}
	if id := mapdata.EntityID(mapdata.Incidents, "waze.1"); id != "incident:v1:d2F6ZS4x" {
		t.Errorf("a live incident's id is %s", id)
	}
	for _, id := range []string{
		"", "x", "incident:v1:", "incident:v1:d2F6ZS4x=", "incident:v1:d2F6ZS4_!", "incidents:v1:d2F6ZS4x", "incident:v2:d2F6ZS4x",
		"feed:moose:v1:eA", string(feed.SourceID()) + ":v1:", string(feed.SourceID()), "incident:v1:eB", "incident:v1:d2F6\nZS4x", "incident:v1:d2F6ZS4x\r",
	} {
		if s, e, ok := mapdata.ParseEntityID(id); ok {
			t.Errorf("%q is read as %q, %q", id, s, e)
		}
	}
}

// counted returns a vote that counts towards suppression.
func counted(v mapdata.Vote) mapdata.CountedVote { return mapdata.CountedVote{Vote: v} }
