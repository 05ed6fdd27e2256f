package format_test

import (
	"testing"
	"time"

	"wayside/internal/feeds/format"
)

// TestBoundsOfTimes checks that an item with more periods or hours than the bounds allow is unreadable.
func TestBoundsOfTimes(t *testing.T) {
	o := format.Options{Now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), Zone: time.UTC, Budget: format.NewBudget(t.Context(), format.MaxWork)}
	for _, tt := range []struct {
		name string
		add  func(w *format.When)
		most int
	}{
		{"periods", func(w *format.When) { w.AddPeriod(format.Period{}) }, 10_000},
		{"hours", func(w *format.When) { w.AddHours(format.Hours{Days: format.EveryDay, Until: 24 * time.Hour}) }, 1000},
	} {
		var w format.When
		for range tt.most {
			tt.add(&w)
		}
		if v := o.Judge(&w); v.Skip != "" {
			t.Errorf("%d %s: %s", tt.most, tt.name, v.Skip)
		}
		tt.add(&w)
		if v := o.Judge(&w); v.Skip != format.Schedule || len(w.Periods)+len(w.Hours) != tt.most {
			t.Errorf("%d %s and one: %q", tt.most, tt.name, v.Skip)
		}
	}
}
