package push

import (
	"time"

	"wayside/internal/mapdata"
	"wayside/internal/ratelimit"
)

// bucket is one rate, and whose.
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
	// refused bounds the cost of a provider that ignores Retry-After: a batch with too many rows has been read and decoded by
	// then, and takes no request. A provider that waits never reaches it.
	refused bucket
}

func (s *Service) rates(hash []byte) *rates {
	perMinute, rowsPerMinute := s.limits()
	requests := ratelimit.PerMinute(perMinute)
	return &rates{
		requests: bucket{ratelimit.HashKey(ratelimit.Pushes, hash), requests, "pushes with this token"},
		entities: bucket{ratelimit.HashKey(ratelimit.PushEntities, hash), ratelimit.PerMinute(rowsPerMinute), "rows pushed with this token"},
		refused:  bucket{ratelimit.HashKey(ratelimit.RefusedPushes, hash), requests, "pushes with this token"},
	}
}

func (s *Service) take(b bucket, cost int, now time.Time) ratelimit.Decision {
	return s.Buckets.Allow(b.key, b.limit, cost, now)
}

func (s *Service) peek(b bucket, cost int, now time.Time) ratelimit.Decision {
	return s.Buckets.Peek(b.key, b.limit, cost, now)
}

// admit says before the body is read whether any push may pass now, and takes nothing.
func (s *Service) admit(r *rates, now time.Time) error {
	for _, b := range []bucket{r.requests, r.refused} {
		if d := s.peek(b, 1, now); !d.OK {
			return b.refusal(d)
		}
	}
	return nil
}

// takeBoth takes one request and so many rows, or nothing of either; then it says when both would pass (D7.3).
func (s *Service) takeBoth(r *rates, rows int, now time.Time) error {
	s.taking.Lock()
	defer s.taking.Unlock()
	requests, entities := s.peek(r.requests, 1, now), s.peek(r.entities, rows, now)
	switch {
	case requests.OK && entities.OK:
		s.take(r.requests, 1, now)
		if d := s.take(r.entities, rows, now); !d.OK { // other nodes have taken from it meanwhile; a request is lost
			s.take(r.refused, 1, now)
			return r.entities.refusal(d)
		}
		return nil
	case entities.RetryAfter > requests.RetryAfter:
		s.take(r.refused, 1, now)
		return r.entities.refusal(entities)
	default:
		return r.requests.refusal(requests)
	}
}
