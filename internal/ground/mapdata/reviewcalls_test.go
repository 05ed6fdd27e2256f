package mapdata

import (
	"testing"
	"time"
)

// TestReviewCalls checks the e-mails to a curator over several days, minute by minute.
func TestReviewCalls(t *testing.T) {
	begin := time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)
	type sent struct {
		After time.Duration
		Kind  EmailKind
	}
	for name, test := range map[string]struct {
		waiting func(d time.Duration) []time.Duration // ages of the waiting feeds, d after the beginning
		want    []sent
	}{
		"nothing waits": {func(time.Duration) []time.Duration { return nil }, nil},
		"one is decided within the day": {
			func(d time.Duration) []time.Duration {
				if d < 3*time.Hour {
					return []time.Duration{0}
				}
				return nil
			},
			[]sent{{0, EmailReviewWaiting}},
		},
		"one waits for three days": {
			func(time.Duration) []time.Duration { return []time.Duration{0} },
			[]sent{{0, EmailReviewWaiting}, {20 * time.Hour, EmailReviewReminder}, {24 * time.Hour, EmailReviewDigest}, {48 * time.Hour, EmailReviewDigest}, {72 * time.Hour, EmailReviewDigest}},
		},
		"others join the first": {
			func(d time.Duration) []time.Duration {
				all := []time.Duration{0}
				for _, since := range []time.Duration{time.Hour, 2 * time.Hour} {
					if d >= since {
						all = append(all, since)
					}
				}
				if d > 25*time.Hour {
					return nil
				}
				return all
			},
			[]sent{{0, EmailReviewWaiting}, {20 * time.Hour, EmailReviewReminder}, {21 * time.Hour, EmailReviewReminder}, {22 * time.Hour, EmailReviewReminder}, {24 * time.Hour, EmailReviewDigest}},
		},
		"the next comes after the queue was emptied": {
			func(d time.Duration) []time.Duration {
				switch {
				case d < time.Hour:
					return []time.Duration{0}
				case d >= 2*time.Hour && d < 3*time.Hour:
					return []time.Duration{2 * time.Hour}
				}
				return nil
			},
			[]sent{{0, EmailReviewWaiting}, {2 * time.Hour, EmailReviewWaiting}},
		},
		"a feed is hidden and put back each minute for an hour": {
			func(d time.Duration) []time.Duration {
				if d < time.Hour && d%(2*time.Minute) == 0 {
					return []time.Duration{d}
				}
				return nil
			},
			[]sent{{0, EmailReviewWaiting}, {16 * time.Minute, EmailReviewWaiting}, {32 * time.Minute, EmailReviewWaiting}, {48 * time.Minute, EmailReviewWaiting}},
		},
		"a feed is put back each minute for an hour": {
			func(d time.Duration) []time.Duration {
				if d < time.Hour {
					return []time.Duration{d}
				}
				return nil
			},
			[]sent{{0, EmailReviewWaiting}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var calls ReviewCalls
			var got []sent
			for d := time.Duration(0); d <= 73*time.Hour; d += time.Minute {
				var queue []WaitingFeed
				for _, since := range test.waiting(d) {
					queue = append(queue, WaitingFeed{Since: begin.Add(since)})
				}
				if kind, due := calls.Next(queue, begin.Add(d)); due {
					got = append(got, sent{d, kind})
				}
			}
			if len(got) != len(test.want) {
				t.Fatalf("got %v, want %v", got, test.want)
			}
			for i := range got {
				if got[i] != test.want[i] {
					t.Errorf("e-mail %d: got %v, want %v", i, got[i], test.want[i])
				}
			}
		})
	}
}
