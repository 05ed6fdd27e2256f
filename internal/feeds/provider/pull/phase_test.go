package pull

import (
	"testing"
	"time"

	"wayside/internal/ground/mapdata"
)

// TestPhaseIsTheSameEverywhere compares phases with fixed values: another hash in a new version would move the polls of
// every feed, and nodes of two versions would poll at different times (D6.1). The values are FNV-1a with the finalizer
// of MurmurHash3, computed by another program.
func TestPhaseIsTheSameEverywhere(t *testing.T) {
	for _, tt := range []struct {
		feed     mapdata.FeedID
		interval time.Duration
		want     time.Duration
	}{
		{mapdata.FeedID{}, time.Minute, 46410 * time.Millisecond},
		{mapdata.FeedID{15: 1}, time.Minute, 8168 * time.Millisecond},
		{mapdata.FeedID{15: 2}, time.Minute, 27692 * time.Millisecond},
		{mapdata.FeedID{0: 1, 8: 0x80, 15: 0xff}, 300 * time.Second, 292039 * time.Millisecond},
	} {
		if got := phase(tt.feed, tt.interval); got != tt.want {
			t.Errorf("%v every %v: %d ms, want %d ms", tt.feed, tt.interval, got.Milliseconds(), tt.want.Milliseconds())
		}
	}
}

// TestNextSlotLeavesAQuarter checks that a slot at exactly a quarter of the interval after the poll is taken and a
// nearer one is not, and that an interval below a second counts as one.
func TestNextSlotLeavesAQuarter(t *testing.T) {
	feed := mapdata.FeedID{15: 1}
	for _, interval := range []time.Duration{time.Second, time.Minute} {
		slot := time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC).Truncate(interval).Add(phase(feed, interval))
		if next := nextSlot(feed, interval, slot.Add(-interval/4)); !next.Equal(slot) {
			t.Errorf("every %v, polled a quarter before the slot: %v, want %v", interval, next, slot)
		}
		if next := nextSlot(feed, interval, slot.Add(-interval/4+time.Millisecond)); !next.Equal(slot.Add(interval)) {
			t.Errorf("every %v, polled just within a quarter of the slot: %v, want %v", interval, next, slot.Add(interval))
		}
		if next := nextSlot(feed, interval, slot); !next.Equal(slot.Add(interval)) {
			t.Errorf("every %v, polled at the slot: %v, want %v", interval, next, slot.Add(interval))
		}
	}
	polled := time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
	if short, second := nextSlot(feed, time.Millisecond, polled), nextSlot(feed, time.Second, polled); !short.Equal(second) {
		t.Errorf("every millisecond: %v, want %v", short, second)
	}
}

// TestLimitsOfTheSchedule checks the numbers of D6.
func TestLimitsOfTheSchedule(t *testing.T) {
	if mapdata.MaxFailures != 20 || longestBackoff != time.Hour {
		t.Errorf("deactivated after %d failures, backoff %v", mapdata.MaxFailures, longestBackoff)
	}
}
