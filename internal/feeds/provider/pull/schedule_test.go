package pull

import (
	"testing"
	"time"

	"wayside/internal/ground/mapdata"
)

func newID(t *testing.T) mapdata.FeedID {
	t.Helper()
	id, err := mapdata.NewFeedID()
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func TestNextSlot(t *testing.T) {
	id := newID(t)
	for _, interval := range []time.Duration{30 * time.Second, time.Minute, 300 * time.Second, 3599 * time.Second, time.Hour} {
		polled := time.Date(2026, 11, 21, 4, 26, 13, 123e6, time.UTC)
		slot := nextSlot(id, interval, polled)
		for i := range 100 {
			if wait := slot.Sub(polled); wait < interval/4 || wait >= interval+interval/4 {
				t.Fatalf("%v: %v after the poll", interval, wait)
			}
			if offset := time.Duration(slot.UnixMilli()) * time.Millisecond % interval; offset != phase(id, interval) {
				t.Fatalf("%v: slot at %v of its interval, the phase is %v", interval, offset, phase(id, interval))
			}
			// A poll takes up to 15 s, and the next slot keeps its phase nevertheless.
			polled = slot.Add(time.Duration(i) * 150 * time.Millisecond)
			next := nextSlot(id, interval, polled)
			if next.Sub(slot) != interval && (interval > 30*time.Second || i < 50) {
				t.Fatalf("%v: %v between slots", interval, next.Sub(slot))
			}
			slot = next
		}
	}
	if slot := nextSlot(id, time.Minute, time.Unix(-1000, 0)); slot.Before(time.Unix(-1000, 0)) {
		t.Errorf("before 1970: %v", slot)
	}
	if first, again := phase(id, time.Minute), phase(id, time.Minute); first != again {
		t.Error("the phase moves")
	}
}

// TestFeedsSpreadEvenly checks that 10 000 feeds with one interval are polled evenly over it, however their ids were
// made (D6.1).
func TestFeedsSpreadEvenly(t *testing.T) {
	const feeds = 10000
	made := map[string]func(i int) mapdata.FeedID{
		"made in one go": func(int) mapdata.FeedID { return newID(t) },
		"counted":        func(i int) mapdata.FeedID { return mapdata.FeedID{14: byte(i >> 8), 15: byte(i)} },
	}
	for name, id := range made {
		for _, interval := range []time.Duration{30 * time.Second, 100 * time.Second, 300 * time.Second} {
			seconds := make([]int, interval/time.Second)
			now := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
			for i := range feeds {
				slot := nextSlot(id(i), interval, now).Sub(now)
				seconds[int(slot/time.Second)%len(seconds)]++
			}
			mean := float64(feeds) / float64(len(seconds))
			for s, n := range seconds {
				// Five standard deviations of a uniform distribution.
				if d := float64(n) - mean; d*d > 25*mean {
					t.Errorf("%s, %v: %d feeds in second %d, the mean is %.0f", name, interval, n, s, mean)
				}
			}
		}
	}
}

func TestBackoff(t *testing.T) {
	tests := []struct {
		interval time.Duration
		n        int
		want     time.Duration
	}{
		{30 * time.Second, 0, 30 * time.Second},
		{30 * time.Second, 1, time.Minute},
		{30 * time.Second, 2, 2 * time.Minute},
		{30 * time.Second, 6, 32 * time.Minute},
		{30 * time.Second, 7, time.Hour},
		{300 * time.Second, 1, 10 * time.Minute},
		{300 * time.Second, 3, 40 * time.Minute},
		{300 * time.Second, 4, time.Hour},
		{300 * time.Second, 1000, time.Hour},
		{time.Hour, 0, time.Hour},
		{time.Hour, 19, time.Hour},
	}
	for _, tt := range tests {
		if got := backoff(tt.interval, tt.n); got != tt.want {
			t.Errorf("%v after %d failures: %v, want %v", tt.interval, tt.n, got, tt.want)
		}
	}
}

func TestNetworkAtFault(t *testing.T) {
	start := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	type event struct {
		at   time.Duration
		feed byte
		host string // empty: connected
		want bool
	}
	missed := func(seconds int, feed byte, host string, want bool) event {
		return event{time.Duration(seconds) * time.Second, feed, host, want}
	}
	met := func(seconds int) event { return event{at: time.Duration(seconds) * time.Second} }
	tests := []struct {
		name   string
		events []event
	}{
		{"five feeds on three hosts", []event{missed(0, 1, "a", false), missed(1, 2, "a", false), missed(2, 3, "a", false), missed(3, 4, "b", false), missed(4, 5, "c", true), missed(5, 6, "c", true)}},
		{"four feeds, again and again", []event{missed(0, 1, "a", false), missed(1, 2, "b", false), missed(2, 3, "c", false), missed(3, 4, "d", false), missed(30, 1, "a", false), missed(31, 2, "b", false)}},
		{"five feeds on two hosts", []event{missed(0, 1, "a", false), missed(1, 2, "a", false), missed(2, 3, "a", false), missed(3, 4, "b", false), missed(4, 5, "b", false)}},
		{"one connected between", []event{missed(0, 1, "a", false), missed(1, 2, "b", false), met(2), missed(3, 3, "c", false), missed(4, 4, "d", false), missed(5, 5, "e", false), missed(6, 6, "f", false), missed(7, 7, "g", false)}},
		{"one connected long ago", []event{met(0), missed(301, 1, "a", false), missed(302, 2, "b", false), missed(303, 3, "c", false), missed(304, 4, "d", false), missed(305, 5, "e", true), met(306), missed(307, 6, "f", false)}},
		{"spread over more than five minutes", []event{missed(0, 1, "a", false), missed(100, 2, "b", false), missed(200, 3, "c", false), missed(300, 4, "d", false), missed(301, 5, "e", false)}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var n network
			for i, e := range tt.events {
				if e.host == "" {
					n.noteConnected(start.Add(e.at))
				} else if got := n.noteUnreachable(mapdata.FeedID{e.feed}, e.host, start.Add(e.at)); got != e.want {
					t.Errorf("event %d: %v", i, got)
				}
			}
		})
	}
}
