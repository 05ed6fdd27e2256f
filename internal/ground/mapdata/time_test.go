package mapdata_test

import (
	"testing"
	"time"

	"wayside/internal/ground/mapdata"
)

// TestParseTime checks both cases of T and Z, and what RFC 3339 does not write.
func TestParseTime(t *testing.T) {
	want := time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
	for _, text := range []string{"2026-11-21T08:00:00Z", "2026-11-21t08:00:00Z", "2026-11-21T08:00:00z", "2026-11-21t08:00:00z", "2026-11-21t09:00:00+01:00"} {
		if got, err := mapdata.ParseTime(text); err != nil || !got.Equal(want) {
			t.Errorf("%s: %v, %v", text, got, err)
		}
		if got, err := mapdata.ParseTime([]byte(text)); err != nil || !got.Equal(want) {
			t.Errorf("%s as bytes: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{
		"", "t", "z", "2026-11-21", "2026-11-21 08:00:00z", "2026-11-21t08:00:00", "2026-11-21x08:00:00z", "2026-11-21t08:00:00zz", "sat-11-21t08:00:00z",
		"2026-11-21T8:00:00Z", "2026-11-21T08:00:00,5Z", "2026-11-21T08:00:00+24:00", "2026-11-21T08:00:00+01:60",
	} {
		if got, err := mapdata.ParseTime(text); err == nil {
			t.Errorf("%q is taken as %v", text, got)
		}
	}
}
