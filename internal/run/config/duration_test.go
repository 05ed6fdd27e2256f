package config

import (
	"strings"
	"testing"
	"time"
)

func TestDurations(t *testing.T) {
	for text, want := range map[string]struct {
		d     time.Duration
		shown string
	}{
		"24h": {24 * time.Hour, "24h"}, "1h30m": {90 * time.Minute, "1h30m"}, "90m": {90 * time.Minute, "1h30m"}, "0": {0, "0s"},
		"10m": {10 * time.Minute, "10m"}, "36h0m5s": {36*time.Hour + 5*time.Second, "36h0m5s"}, "720h": {720 * time.Hour, "720h"},
	} {
		c, err := Load(Input{Env: []string{"WAYSIDE_VOTES_TRUST_AFTER=" + text}})
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if c.Votes.TrustAfter != want.d || formatDuration(want.d) != want.shown {
			t.Errorf("%s: %v, shown as %s", text, c.Votes.TrustAfter, formatDuration(want.d))
		}
	}
	for text, want := range map[string]string{"a day": "such as 24h", "24": "such as 24h", "-1s": "0s to 720h", "721h": "0s to 720h"} {
		_, err := Load(Input{Env: []string{"WAYSIDE_VOTES_TRUST_AFTER=" + text}})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "WAYSIDE_VOTES_TRUST_AFTER") {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
