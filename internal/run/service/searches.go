package service

import (
	"context"
	"runtime"

	"wayside/internal/drive/nav/engine"
	"wayside/internal/drive/nav/session"
	"wayside/internal/ground/ratelimit"
	"wayside/internal/run/config"
)

// newWork makes the gate of large reads and of decoding rows. It leaves one processor to short reads if there are several. It is
// separate from the gate of searches, because its work takes milliseconds and must not wait for a search of seconds.
func newWork() *ratelimit.Gate {
	most := runtime.GOMAXPROCS(0) - 1
	return ratelimit.NewGate(most, most)
}

// newSearches makes the gate of all searches for routes: as many at the same time as there are processors, of which one is left to
// light requests if there are several. A remote engine computes elsewhere: as many calls may wait for it as the engine's client
// allows.
func (s *Service) newSearches() *ratelimit.Gate {
	if s.config.Navigation.Engine != config.EngineEmbedded {
		return ratelimit.NewGate(engine.MaxCalls, engine.MaxCalls)
	}
	processors := runtime.GOMAXPROCS(0)
	return ratelimit.NewGate(processors, processors-1)
}

// chargeDrive charges the search that a position of a drive caused to the caller who began the drive, as routes.
func (s *Service) chargeDrive(c session.Caller, cost int) bool {
	limits := &s.generation.Load().config.Limits
	limit := ratelimit.PerMinute(limits.GuestRoutesPerMinute)
	if c.IsAccount {
		limit = ratelimit.PerMinute(limits.AccountRoutesPerMinute)
	}
	return limit.Count == 0 || s.caches.buckets.Allow(c.Key, limit, min(cost, limit.Count), s.now()).OK
}

// admitDrive waits until a drive's search may run. Such searches leave one processor to other requests.
func (s *Service) admitDrive(ctx context.Context, c session.Caller, cost int) (leave func(), err error) {
	return s.searches.Enter(ctx, c.Key, cost, true)
}
