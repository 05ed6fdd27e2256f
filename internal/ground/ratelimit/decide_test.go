package ratelimit_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"wayside/internal/ground/ratelimit"
)

var start = time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)

func TestDecide(t *testing.T) {
	type ask struct {
		after time.Duration // since the request before
		cost  int
		times int // 0 means once
		want  ratelimit.Decision
	}
	yes := func(remaining int, reset time.Duration) ratelimit.Decision {
		return ratelimit.Decision{OK: true, Remaining: remaining, Reset: reset}
	}
	no := func(remaining int, reset, retry time.Duration) ratelimit.Decision {
		return ratelimit.Decision{Remaining: remaining, Reset: reset, RetryAfter: retry}
	}
	tests := []struct {
		name  string
		limit ratelimit.Limit
		asks  []ask
	}{
		{"sixty at once, then one a second", ratelimit.PerMinute(60), []ask{
			{0, 1, 1, yes(59, time.Second)},
			{0, 1, 59, yes(0, time.Minute)},
			{0, 1, 1, no(0, time.Minute, time.Second)},
			{999 * time.Millisecond, 1, 1, no(0, time.Minute-999*time.Millisecond, time.Millisecond)},
			{time.Millisecond, 1, 1, yes(0, time.Minute)},
			{2 * time.Second, 1, 2, yes(0, time.Minute)},
			{0, 1, 1, no(0, time.Minute, time.Second)},
		}},
		{"never more than full", ratelimit.PerMinute(60), []ask{
			{0, 60, 1, yes(0, time.Minute)},
			{24 * time.Hour, 1, 60, yes(0, time.Minute)},
			{0, 1, 1, no(0, time.Minute, time.Second)},
		}},
		{"a refusal takes nothing", ratelimit.PerMinute(60), []ask{
			{0, 50, 1, yes(10, 50*time.Second)},
			{0, 11, 100, no(10, 50*time.Second, time.Second)},
			{0, 10, 1, yes(0, time.Minute)},
		}},
		{"two batches of 5 000 of 10 000 rows a minute (D7.3)", ratelimit.PerMinute(10_000), []ask{
			{0, 5000, 1, yes(5000, 30*time.Second)},
			{0, 5000, 1, yes(0, time.Minute)},
			{0, 5000, 1, no(0, time.Minute, 30*time.Second)},
			{30 * time.Second, 5000, 1, yes(0, time.Minute)},
		}},
		{"a batch beyond the bucket waits until it is full, and is paid back", ratelimit.PerMinute(3000), []ask{
			{0, 5000, 1, yes(0, 100*time.Second)},
			{0, 5000, 1, no(0, 100*time.Second, 100*time.Second)},
			{0, 1, 1, no(0, 100*time.Second, 40*time.Second+20*time.Millisecond)},
			{100*time.Second - time.Microsecond, 5000, 1, no(2999, time.Microsecond, time.Microsecond)},
			{time.Microsecond, 5000, 1, yes(0, 100*time.Second)},
		}},
		{"a debt ends after an hour", ratelimit.PerMinute(1), []ask{
			{0, 5000, 1, yes(0, time.Hour)},
			{time.Hour, 1, 1, yes(0, time.Minute)},
		}},
		{"a cost that overflows", ratelimit.PerMinute(60), []ask{
			{0, int(^uint(0) >> 1), 1, yes(0, time.Hour)},
		}},
		{"no cost passes even in debt, and takes nothing", ratelimit.PerMinute(60), []ask{
			{0, 120, 1, yes(0, 2*time.Minute)},
			{0, 0, 5, yes(0, 2*time.Minute)},
			{0, -7, 1, yes(0, 2*time.Minute)},
		}},
		{"no limit", ratelimit.Limit{}, []ask{
			{0, 1 << 40, 1000, yes(ratelimit.Unlimited, 0)},
		}},
		{"the clock is set back ten hours", ratelimit.PerMinute(60), []ask{
			{0, 60, 1, yes(0, time.Minute)},
			{-10 * time.Hour, 1, 1, no(0, time.Hour, 59*time.Minute+time.Second)},
			{59*time.Minute + time.Second, 1, 1, no(0, time.Hour, 59*time.Minute+time.Second)},
		}},
		{"three an hour", ratelimit.Limit{Count: 3, Per: time.Hour}, []ask{
			{0, 1, 3, yes(0, time.Hour)},
			{0, 1, 1, no(0, time.Hour, 20*time.Minute)},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var state ratelimit.State
			now := start
			for i, a := range tt.asks {
				now = now.Add(a.after)
				var got ratelimit.Decision
				for range max(1, a.times) {
					state, got = ratelimit.Decide(state, now, tt.limit, a.cost)
				}
				if diff := cmp.Diff(a.want, got); diff != "" {
					t.Errorf("ask %d (-want +got):\n%s", i, diff)
				}
			}
		})
	}
}

// bucket implements the same rule in its textbook form: a bucket that drips.
type bucket struct {
	level, size, unit, debt time.Duration
	at                      time.Time
}

func newBucket(limit ratelimit.Limit) *bucket {
	unit := (limit.Per / time.Duration(limit.Count)).Truncate(time.Microsecond)
	size := unit * time.Duration(limit.Count)
	return &bucket{level: size, size: size, unit: unit, debt: time.Hour - size, at: start}
}

func (b *bucket) ask(now time.Time, cost int) bool {
	b.level = min(b.size, b.level+now.Sub(b.at))
	b.at = now
	needs := time.Duration(cost) * b.unit
	if needs > b.level && (cost <= int(b.size/b.unit) || b.level < b.size) {
		return false
	}
	b.level = max(b.level-needs, -b.debt)
	return true
}

func TestDecideIsALeakyBucket(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := ratelimit.Limit{
			Count: rapid.IntRange(1, 20_000).Draw(t, "count"),
			Per:   time.Duration(rapid.IntRange(1, 3600).Draw(t, "seconds")) * time.Second,
		}
		model := newBucket(limit)
		var state ratelimit.State
		now := start
		for range rapid.IntRange(1, 60).Draw(t, "asks") {
			now = now.Add(time.Duration(rapid.Int64Range(0, 90_000_000).Draw(t, "µs")) * time.Microsecond)
			cost := rapid.IntRange(1, limit.Count*2).Draw(t, "cost")
			before := state
			var got ratelimit.Decision
			state, got = ratelimit.Decide(state, now, limit, cost)
			if want := model.ask(now, cost); got.OK != want {
				t.Fatalf("cost %d: OK = %v, want %v", cost, got.OK, want)
			}
			if want := int(max(0, model.level) / model.unit); got.Remaining != want {
				t.Fatalf("Remaining = %d, want %d", got.Remaining, want)
			}
			if want := model.size - model.level; got.Reset != want {
				t.Fatalf("Reset = %v, want %v", got.Reset, want)
			}
			if got.OK {
				continue
			}
			if state != before {
				t.Fatal("a refusal changed the bucket")
			}
			if _, at := ratelimit.Decide(state, now.Add(got.RetryAfter), limit, cost); !at.OK {
				t.Fatalf("refused again after the %v it was told to wait", got.RetryAfter)
			}
			if _, early := ratelimit.Decide(state, now.Add(got.RetryAfter-time.Microsecond), limit, cost); early.OK {
				t.Fatalf("would have passed sooner than after %v", got.RetryAfter)
			}
		}
	})
}

// TestDecideKeepsTheRate checks that over any time, no more units pass than one bucket and what was refilled, in whole units, for
// costs within the bucket.
func TestDecideKeepsTheRate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := ratelimit.PerMinute(rapid.SampledFrom([]int{1, 7, 60, 120, 10_000}).Draw(t, "count"))
		unit := (limit.Per / time.Duration(limit.Count)).Truncate(time.Microsecond)
		type passed struct {
			at   time.Time
			cost int
		}
		var (
			state ratelimit.State
			all   []passed
			now   = start
		)
		for range 80 {
			now = now.Add(time.Duration(rapid.Int64Range(0, 5_000_000).Draw(t, "µs")) * time.Microsecond)
			cost := rapid.IntRange(1, limit.Count).Draw(t, "cost")
			var d ratelimit.Decision
			if state, d = ratelimit.Decide(state, now, limit, cost); !d.OK {
				continue
			}
			all = append(all, passed{now, cost})
			sum := 0
			for i := len(all) - 1; i >= 0; i-- {
				sum += all[i].cost
				if most := limit.Count + int(now.Sub(all[i].at)/unit); sum > most {
					t.Fatalf("%d units passed within %v, %d may", sum, now.Sub(all[i].at), most)
				}
			}
		}
	})
}

func TestRetryAfterSecondsRoundsUp(t *testing.T) {
	for wait, want := range map[time.Duration]int64{
		0: 0, time.Microsecond: 1, time.Second: 1, time.Second + time.Microsecond: 2, 59 * time.Second: 59,
	} {
		if got := (ratelimit.Decision{RetryAfter: wait}).RetryAfterSeconds(); got != want {
			t.Errorf("%v: %d, want %d", wait, got, want)
		}
	}
}

func TestHeaderValues(t *testing.T) {
	limit := ratelimit.PerMinute(60)
	_, d := ratelimit.Decide(0, start, limit, 1)
	if got, want := string(ratelimit.AppendPolicy(nil, limit)), `"default";q=60;w=60`; got != want {
		t.Errorf("policy %s, want %s", got, want)
	}
	if got, want := string(ratelimit.AppendState(nil, d)), `"default";r=59;t=1`; got != want {
		t.Errorf("state %s, want %s", got, want)
	}
	_, d = ratelimit.Decide(0, start, ratelimit.Limit{}, 1)
	if got := ratelimit.AppendPolicy(nil, ratelimit.Limit{}); len(got) > 0 {
		t.Errorf("policy %s where there is no limit", got)
	}
	if got := ratelimit.AppendState(nil, d); len(got) > 0 {
		t.Errorf("state %s where there is no limit", got)
	}
	room := make([]byte, 0, 64)
	if n := testing.AllocsPerRun(100, func() {
		room = ratelimit.AppendState(ratelimit.AppendPolicy(room[:0], limit), d)
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
