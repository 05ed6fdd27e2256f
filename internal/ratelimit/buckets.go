package ratelimit

import "time"

// Buckets keeps buckets somewhere: Memory in this process, cluster.Buckets together with other nodes. Its methods may be
// called from many goroutines.
type Buckets interface {
	// Allow takes cost units out of the key's bucket, or refuses (see Decide).
	Allow(key Key, limit Limit, cost int, now time.Time) Decision
	// Peek says what Allow would say, and takes nothing.
	Peek(key Key, limit Limit, cost int, now time.Time) Decision
	// Return gives cost units back that Allow took for something that then did not happen. It never fills a bucket beyond
	// its size.
	Return(key Key, limit Limit, cost int, now time.Time)
}
