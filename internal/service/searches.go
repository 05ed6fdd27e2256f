package service

import (
	"context"
	"runtime"

	"wayside/internal/config"
	"wayside/internal/nav/engine"
	"wayside/internal/nav/session"
	"wayside/internal/ratelimit"
)

// newWork makes the gate of large reads and of rows that are decoded: one processor is left to short reads where there are several. It is not the
// gate of searches, because each of these takes milliseconds and must not wait for a search of seconds.
func newWork() *ratelimit.Gate {
	most := runtime.GOMAXPROCS(0) - 1
	return ratelimit.NewGate(most, most)
}

// newSearches makes the gate of all searches for routes: as many at once as there are processors, of which one is left to requests for light ones
// where there are several. An engine of others computes elsewhere: as many calls wait for it as may.
func (s *Service) newSearches() *ratelimit.Gate {
	if s.config.Navigation.Engine != config.EngineEmbedded {
		return ratelimit.NewGate(engine.MaxCalls, engine.MaxCalls)
	}
	processors := runtime.GOMAXPROCS(0)
	return ratelimit.NewGate(processors, processors-1)
}

// chargeDrive counts a search that the position of a led drive caused as routes of the caller who began it.
func (s *Service) chargeDrive(c session.Caller, cost int) bool {
	limits := &s.edition.Load().config.Limits
	limit := ratelimit.PerMinute(limits.GuestRoutesPerMinute)
	if c.IsAccount {
		limit = ratelimit.PerMinute(limits.AccountRoutesPerMinute)
	}
	return limit.Count == 0 || s.caches.buckets.Allow(c.Key, limit, min(cost, limit.Count), s.now()).OK
}

// admitDrive waits for the turn of a led drive's search, which is never the last processor's.
func (s *Service) admitDrive(ctx context.Context, c session.Caller, cost int) (leave func(), err error) {
	return s.searches.Enter(ctx, c.Key, cost, true)
}
