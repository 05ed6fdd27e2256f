package cli

import (
	"testing"
	"time"
)

// TestFeedState checks the description of a feed's state for operators, and of the number of its entities.
func TestFeedState(t *testing.T) {
	at := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		want string
		feed feedJSON
	}{
		{"paused by owner, 0 entities", feedJSON{PausedBy: "owner", Active: true, Direction: "pull"}},
		{"inactive, 1 entity", feedJSON{EntityCount: 1, Direction: "pull"}},
		{"last poll ok, 2 entities", feedJSON{EntityCount: 2, Active: true, Direction: "pull", LastFetchOutcome: "ok"}},
		{"not polled yet, 0 entities", feedJSON{Active: true, Direction: "pull"}},
		{"nothing pushed yet", feedJSON{Active: true, Direction: "push"}},
		{"last push 2026-11-23T12:00:00Z, 3 entities", feedJSON{EntityCount: 3, Active: true, Direction: "push", LastPushAt: apiTime{at}}},
		{"4 entities", feedJSON{EntityCount: 4, Active: true, Direction: "builtin"}},
	} {
		if got := feedState(&tt.feed); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}
