package mapdata

import (
	"slices"
	"testing"
	"time"
)

// TestWarnings checks that each trouble is reported once until the feed has been well for a day.
func TestWarnings(t *testing.T) {
	begin := time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)
	type step struct {
		at             time.Duration
		rows, rejected int
		shrank         bool
		failures       int // 0: a good attempt
		want           []EmailKind
	}
	rejections, failing, shrank := []EmailKind{EmailRejections}, []EmailKind{EmailFailing}, []EmailKind{EmailShrank}
	const h = time.Hour
	for name, steps := range map[string][]step{
		"a first attempt with many rejections":      {{at: 0, rows: 50, rejected: 10, want: rejections}},
		"19 % are no jump":                          {{at: 0, rows: 100, rejected: 19}},
		"few rows are no jump":                      {{at: 0, rows: 49, rejected: 49}},
		"20 % more than usual":                      {{at: 0, rows: 100, rejected: 15}, {at: h, rows: 100, rejected: 34}, {at: 2 * h, rows: 100, rejected: 54, want: rejections}},
		"once while it lasts, for days":             {{at: 0, rows: 100, rejected: 90, want: rejections}, {at: 30 * h, rows: 100, rejected: 90}, {at: 60 * h, rows: 100, rejected: 90}},
		"once for a feed that is well by turns":     {{at: 0, rows: 100, rejected: 90, want: rejections}, {at: h, rows: 100}, {at: 2 * h, rows: 100, rejected: 90}, {at: 25 * h, rows: 100}, {at: 25*h + 1, rows: 100, rejected: 90}},
		"again after a day without":                 {{at: 0, rows: 100, rejected: 90, want: rejections}, {at: 24 * h, rows: 100}, {at: 25 * h, rows: 100, rejected: 90, want: rejections}},
		"the tenth failure":                         {{at: 0, failures: 9}, {at: h, failures: 10, want: failing}, {at: 2 * h, failures: 11}, {at: 3 * h, rows: 1}, {at: 20 * h, failures: 10}, {at: 44 * h, rows: 1}, {at: 50 * h, failures: 10, want: failing}},
		"shrinking by turns":                        {{at: 0, shrank: true, want: shrank}, {at: h}, {at: 2 * h, shrank: true}, {at: 25 * h}, {at: 26 * h, shrank: true, want: shrank}},
		"shrinking again a day later, nothing else": {{at: 0, shrank: true, want: shrank}, {at: 24 * h, shrank: true, want: shrank}},
	} {
		t.Run(name, func(t *testing.T) {
			var w Warnings
			for _, s := range steps {
				var got []EmailKind
				if s.failures > 0 {
					if w.Failed(s.failures, begin.Add(s.at)) {
						got = failing
					}
				} else {
					got = w.Attempted(&Attempt{At: begin.Add(s.at), OK: true, Rows: s.rows, Rejected: s.rejected}, s.shrank)
				}
				if !slices.Equal(got, s.want) {
					t.Errorf("at %v: got %v, want %v", s.at, got, s.want)
				}
			}
		})
	}
}
