package ratelimit

import (
	"math"
	"time"
)

// Limit allows Count units in each Per: a bucket that holds Count units and is refilled evenly. 60 a minute lets a burst of 60
// pass, and one more every second from then on. A Count of 0 or less means that there is no limit (D14: 0 turns it off).
//
// The time for one unit is Per/Count cut to whole microseconds, at least one: exact for every count that divides Per, and otherwise
// in the caller's favour by less than 1 µs a unit.
type Limit struct {
	Count int           // units in the bucket
	Per   time.Duration // time in which an empty bucket is refilled; at most an hour
}

// PerMinute allows count units a minute.
func PerMinute(count int) Limit { return Limit{Count: count, Per: time.Minute} }

// State is a bucket: the instant at which it will be full again, in microseconds of Unix time. Anything in the past, and
// so the zero State, is a full bucket. (Microseconds, because a Lua number is exact up to 2^53 only.)
type State int64

// Horizon is the furthest that a State lies ahead: after an hour, every bucket is full (D13.2).
const Horizon = time.Hour

// Unlimited is Decision.Remaining where there is no limit.
const Unlimited = int(^uint(0) >> 1)

// Decision is a bucket's decision on one request.
type Decision struct {
	OK         bool
	Remaining  int           // whole units left
	RetryAfter time.Duration // until the same request would pass without other requests; 0 when OK
	Reset      time.Duration // until the bucket is full again
}

// RetryAfterSeconds returns RetryAfter in whole seconds, rounded up, for the header of that name: a client that waits so long is
// not refused again.
func (d Decision) RetryAfterSeconds() int64 { return ceilSeconds(d.RetryAfter) }

func ceilSeconds(d time.Duration) int64 { return int64((d + time.Second - 1) / time.Second) }

// Decide takes cost units out of a bucket at now, or refuses and takes nothing.
//
// A cost above limit.Count, a batch larger than the whole bucket, passes only when the bucket is full, and leaves a debt that must
// be refilled before anything else passes. So every request passes in the end, RetryAfter is always true (D7.3), and the rate over
// time is kept. A debt ends after Horizon at the latest. A cost of 0 or less always passes and takes nothing.
func Decide(state State, now time.Time, limit Limit, cost int) (State, Decision) {
	if limit.Count <= 0 {
		return state, Decision{OK: true, Remaining: Unlimited}
	}
	at := now.UnixMicro()
	// How far ahead the bucket is full again. A time beyond the horizon means that the clock was set back.
	ahead := time.Duration(min(max(0, int64(state)-at), horizon)) * time.Microsecond
	if cost <= 0 {
		return state, limit.Decision(ahead, cost, true)
	}
	price := limit.Price(cost)
	if ahead+min(price.Take, price.Burst) > price.Burst {
		return state, limit.Decision(ahead, cost, false)
	}
	ahead = min(ahead+price.Take, Horizon)
	return State(at + int64(ahead/time.Microsecond)), limit.Decision(ahead, cost, true)
}

// Price holds what a request takes out of a bucket and what the bucket holds, both as the time in which they are refilled.
type Price struct{ Take, Burst time.Duration }

// Price returns the price of cost units, 1 or more. The limit must have a Count above 0.
func (l Limit) Price(cost int) Price {
	unit := l.unit()
	return Price{
		// No unit is longer than the horizon, so that nothing overflows.
		Take:  time.Duration(min(int64(min(cost, math.MaxInt32))*unit, horizon)) * time.Microsecond,
		Burst: time.Duration(l.burst()) * time.Microsecond,
	}
}

// Decision returns the decision on a request for cost units that was made elsewhere: ahead is how far ahead the bucket is full
// again now, in whole microseconds, up to Horizon, and ok is whether the request passes.
func (l Limit) Decision(ahead time.Duration, cost int, ok bool) Decision {
	if l.Count <= 0 {
		return Decision{OK: true, Remaining: Unlimited}
	}
	micros := int64(ahead / time.Microsecond)
	d := Decision{OK: ok, Remaining: int(max(0, l.burst()-micros) / l.unit()), Reset: ahead}
	if !ok {
		price := l.Price(cost)
		d.RetryAfter = ahead + min(price.Take, price.Burst) - price.Burst
	}
	return d
}

const horizon = int64(Horizon / time.Microsecond)

// unit returns the time for one unit, in microseconds.
func (l Limit) unit() int64 {
	return max(1, min(int64(l.Per/time.Microsecond), horizon)/int64(l.Count))
}

// burst returns the time in which an empty bucket is refilled, in microseconds.
func (l Limit) burst() int64 { return min(l.unit()*int64(l.Count), horizon) }
