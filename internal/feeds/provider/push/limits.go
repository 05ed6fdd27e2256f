package push

import (
	"time"

	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/ratelimit"
)

// bucket is one rate of one caller.
type bucket struct {
	key   ratelimit.Key
	limit ratelimit.Limit
	what  string // for people
}

func (b bucket) refusal(d ratelimit.Decision) error {
	return &mapdata.LimitError{RetryAfter: d.RetryAfter, What: b.what}
}

// rates are the buckets of one token.
type rates struct {
	requests bucket
	entities bucket
	// refused bounds the cost of a provider that ignores Retry-After, because a batch with too many rows has been read
	// and decoded by the time that it is refused and gets its request back. A provider that waits never reaches it.
	refused bucket
}

func (s *Service) rates(hash []byte) rates {
	perMinute, rowsPerMinute := s.limits()
	requests := ratelimit.PerMinute(perMinute)
	return rates{
		requests: bucket{ratelimit.HashKey(ratelimit.Pushes, hash), requests, "pushes with this token"},
		entities: bucket{ratelimit.HashKey(ratelimit.PushEntities, hash), ratelimit.PerMinute(rowsPerMinute), "rows pushed with this token"},
		refused:  bucket{ratelimit.HashKey(ratelimit.RefusedPushes, hash), requests, "pushes with this token"},
	}
}

// take counts a cost in a bucket, or returns the refusal.
func (s *Service) take(b bucket, cost int, now time.Time) error {
	if d := s.Buckets.Allow(b.key, b.limit, cost, now); !d.OK {
		return b.refusal(d)
	}
	return nil
}

func (s *Service) giveBack(b bucket, cost int, now time.Time) {
	s.Buckets.Return(b.key, b.limit, cost, now)
}

// takeRequest counts a push before its body is read (D7.1).
func (s *Service) takeRequest(r *rates, now time.Time) error {
	if d := s.Buckets.Peek(r.refused.key, r.refused.limit, 1, now); !d.OK {
		return r.refused.refusal(d)
	}
	return s.take(r.requests, 1, now)
}

// takeRows counts the rows of a batch whose request was counted, or gives the request back and returns an error with
// the time when both would pass (D7.3).
func (s *Service) takeRows(r *rates, rows int, now time.Time) error {
	err := s.take(r.entities, rows, now)
	if err != nil {
		s.giveBack(r.requests, 1, now)
		s.Buckets.Allow(r.refused.key, r.refused.limit, 1, now)
	}
	return err
}
