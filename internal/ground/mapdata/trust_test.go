package mapdata_test

import (
	"testing"
	"time"

	"wayside/internal/ground/mapdata"
)

func TestTrusted(t *testing.T) {
	const day = 24 * time.Hour
	for name, tt := range map[string]struct {
		first time.Time
		after time.Duration
		want  bool
	}{
		"never signed in":         {time.Time{}, day, false},
		"just now":                {noon, day, false},
		"a moment before a day":   {noon.Add(-day + time.Millisecond), day, false},
		"a day ago":               {noon.Add(-day), day, true},
		"every vote counts":       {time.Time{}, 0, true},
		"clocks of nodes differ":  {noon.Add(time.Second), day, false},
		"every vote counts early": {noon, 0, true},
	} {
		if got := mapdata.Trusted(tt.first, noon, tt.after); got != tt.want {
			t.Errorf("%s: trusted is %v", name, got)
		}
	}
}

// TestUntrustedVotesDoNotHide checks that votes of new accounts count for the standing and neither begin, prolong nor
// end a suppression (D9.8).
func TestUntrustedVotesDoNotHide(t *testing.T) {
	e := &mapdata.Entity{Kind: kind(t, "alert.police"), Feed: mapdata.FeedID{1}, FirstSeenAt: noon, Lifetime: time.Hour}
	untrusted := func(v mapdata.Vote) mapdata.CountedVote { return mapdata.CountedVote{Vote: v, Untrusted: true} }
	none := mapdata.CountedVote{}
	tally := mapdata.Tally{}
	for range 9 {
		tally = tally.Cast(e, none, untrusted(mapdata.Dispute), noon)
	}
	if until := tally.DisputedUntil(e.Kind); !until.IsZero() || tally.Disputes != 9 || mapdata.StandingOf(0, tally.Disputes) != mapdata.Disputed {
		t.Errorf("nine disputes of new accounts: hidden until %v, %+v", until, tally)
	}
	for range 3 {
		tally = tally.Cast(e, none, counted(mapdata.Dispute), noon.Add(time.Minute))
	}
	want := noon.Add(31 * time.Minute)
	if until := tally.DisputedUntil(e.Kind); !until.Equal(want) {
		t.Errorf("three trusted disputes: hidden until %v, want %v", until, want)
	}
	tally = tally.Cast(e, none, untrusted(mapdata.Dispute), noon.Add(10*time.Minute))
	for range 5 {
		tally = tally.Cast(e, none, untrusted(mapdata.Confirm), noon.Add(10*time.Minute))
	}
	if until := tally.DisputedUntil(e.Kind); !until.Equal(want) {
		t.Errorf("new accounts moved the end of the suppression to %v, want %v", until, want)
	}
	again := tally.Cast(e, untrusted(mapdata.Dispute), none, noon.Add(11*time.Minute))
	if again.Disputes != 12 || again.UntrustedDisputes != 9 || !again.DisputedUntil(e.Kind).Equal(want) {
		t.Errorf("after one took its vote back: %+v", again)
	}
	changed := tally.Cast(e, untrusted(mapdata.Confirm), counted(mapdata.Confirm), noon.Add(12*time.Minute))
	if until := changed.DisputedUntil(e.Kind); !until.IsZero() || changed.UntrustedConfirms != 4 || changed.Confirms != 5 {
		t.Errorf("a confirm repeated by an account that is trusted now: hidden until %v, %+v", until, changed)
	}
}
