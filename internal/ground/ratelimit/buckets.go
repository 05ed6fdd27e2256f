package ratelimit

import "time"

// Buckets stores buckets: Memory in this process, cluster.Buckets together with other nodes. Its methods may be called from many
// goroutines.
type Buckets interface {
	// Allow takes cost units out of the key's bucket, or refuses (see Decide).
	Allow(key Key, limit Limit, cost int, now time.Time) Decision
	// Peek returns the decision that Allow would return, and takes nothing.
	Peek(key Key, limit Limit, cost int, now time.Time) Decision
	// Return gives back cost units that Allow took for work that then did not happen. It never fills a bucket beyond its size.
	Return(key Key, limit Limit, cost int, now time.Time)
}
