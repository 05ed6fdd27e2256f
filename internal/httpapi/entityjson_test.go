package httpapi

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestAppendTime holds the own calendar against the standard library's.
func TestAppendTime(t *testing.T) {
	first := time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli()
	last := time.Date(9999, 12, 31, 23, 59, 59, 999e6, time.UTC).UnixMilli()
	rapid.Check(t, func(t *rapid.T) {
		ms := rapid.Int64Range(first, last).Draw(t, "ms")
		if ms == 0 {
			return
		}
		want := `"` + time.UnixMilli(ms).UTC().Format(timeLayout) + `"`
		if got := string(appendTime(nil, ms)); got != want {
			t.Errorf("%d: %s, want %s", ms, got, want)
		}
	})
	if got := string(appendTime(nil, 0)); got != "null" {
		t.Errorf("no time is %s", got)
	}
}
