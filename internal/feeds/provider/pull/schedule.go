package pull

import (
	"hash/fnv"
	"time"

	"wayside/internal/ground/mapdata"
)

// Rules of the schedule.
const (
	longestBackoff   = time.Hour // between two polls of a failing feed
	shortestInterval = time.Second
)

// phase returns the place of a feed's polls within its interval, from 0 to just below the interval: the hash of its id,
// so that it is the same on every node and after every restart, and feeds of one interval spread evenly (D6.1).
func phase(feed mapdata.FeedID, interval time.Duration) time.Duration {
	hash := fnv.New64a()
	_, _ = hash.Write(feed[:]) // never fails
	// FNV leaves the last bytes' bits too close together for a remainder; this is the finalizer of MurmurHash3.
	h := hash.Sum64()
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	h ^= h >> 33
	return time.Duration(h%uint64(interval/time.Millisecond)) * time.Millisecond
}

// nextSlot returns when a feed is due after a good poll at the given time: the first instant of its phase that leaves
// at least a quarter of the interval between, so that a late poll is not followed by another one immediately.
func nextSlot(feed mapdata.FeedID, interval time.Duration, polled time.Time) time.Time {
	interval = max(interval.Truncate(time.Millisecond), shortestInterval)
	earliest := polled.Add(interval / 4).UnixMilli()
	ms, offset := interval.Milliseconds(), phase(feed, interval).Milliseconds()
	// Slots are at offset + n×ms since the epoch.
	since := (earliest - offset) % ms
	if since < 0 {
		since += ms
	}
	if since > 0 {
		earliest += ms - since
	}
	return time.UnixMilli(earliest).UTC()
}

// backoff returns how long a feed waits after n consecutive failures: interval × 2^n, at most an hour.
func backoff(interval time.Duration, n int) time.Duration {
	wait := interval
	for range n {
		if wait >= longestBackoff {
			break
		}
		wait *= 2
	}
	return min(wait, longestBackoff)
}
