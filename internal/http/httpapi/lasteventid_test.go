package httpapi

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestEventIDRoundTrip checks that an id is parsed as it was written, and contains only characters that are allowed in a header.
func TestEventIDRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := eventID{at: time.UnixMilli(rapid.Int64Range(1, 1<<45).Draw(t, "at")), fingerprint: rapid.Uint64().Draw(t, "print")}
		if rapid.Bool().Draw(t, "expires") {
			id.earliestExpiry = time.UnixMilli(rapid.Int64Range(1, 1<<45).Draw(t, "floor"))
		}
		text := string(id.append(nil))
		got, ok := parseEventID(text)
		if !ok || !got.at.Equal(id.at) || !got.earliestExpiry.Equal(id.earliestExpiry) || got.fingerprint != id.fingerprint {
			t.Errorf("%s became %v, want %v", text, got, id)
		}
		if strings.Trim(text, "0123456789abcdefghijklmnopqrstuvwxyz-") != "" || len(text) > 64 {
			t.Errorf("%q", text)
		}
	})
}

func FuzzEventID(f *testing.F) {
	for _, text := range []string{"", "--", "1-0-1", "mwq4ary7-0-29ra1tpntxxon", "-1-0-1", "1--1-1", "zzzzzzzzzzzzzzzzzzzz-0-1", "1-0-1-1", "+1-+0-1"} {
		f.Add(text)
	}
	now := time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text string) {
		id, ok := parseEventID(text)
		if !ok {
			return
		}
		if id.at.UnixMilli() <= 0 || !id.earliestExpiry.IsZero() && id.earliestExpiry.UnixMilli() <= 0 {
			t.Errorf("%q is taken for %v", text, id)
		}
		if id.resumableAt(now) && (id.at.After(now) || id.at.Before(now.Add(-maxResumeAge))) {
			t.Errorf("%q is used", text)
		}
	})
}
