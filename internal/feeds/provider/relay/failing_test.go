package relay

import (
	"testing"
	"time"
)

// TestConditionChangesOnce checks the log of an upstream's calls: one line when it begins to fail, one when it is well
// again, and two a minute at most where it alternates.
func TestConditionChangesOnce(t *testing.T) {
	start := time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)
	type call struct {
		after time.Duration
		ok    bool
		want  string
	}
	tests := []struct {
		name  string
		calls []call
	}{
		{"well", []call{{0, true, ""}, {4 * time.Second, true, ""}}},
		{"fails at the first call", []call{{0, false, "fails"}, {4 * time.Second, false, ""}, {time.Hour, false, ""}}},
		{"recovers", []call{{0, true, ""}, {4 * time.Second, false, "fails"}, {8 * time.Second, false, ""}, {12 * time.Second, true, "well"}, {16 * time.Second, true, ""}}},
		{"goes up and down", []call{
			{0, false, "fails"},
			{4 * time.Second, true, "well"},
			{8 * time.Second, false, ""},
			{12 * time.Second, true, ""},
			{30 * time.Second, false, ""},
			{59 * time.Second, false, ""},
			{65 * time.Second, false, "fails"},
			{70 * time.Second, true, "well"},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var c condition
			for i, call := range tt.calls {
				began, over := c.note(start.Add(call.after), call.ok)
				got := ""
				switch {
				case began:
					got = "fails"
				case over != nil:
					got = "well"
				}
				if got != call.want {
					t.Errorf("call %d: %q, want %q", i, got, call.want)
				}
			}
		})
	}
}
