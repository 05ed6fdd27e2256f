package httpapi

import (
	"context"
	"errors"
	"net/http"

	"wayside/internal/drive/nav/osrm"
	"wayside/internal/drive/nav/session"
	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/ratelimit"
)

// heavyCost is the cost from which a search is heavy: if there are several processors, one is always left to lighter searches.
const heavyCost = 5

// routeLimit returns the caller's limit on routes and its key (D15.23).
func (a *api) routeLimit(c *caller) (ratelimit.Limit, ratelimit.Key) {
	if c.account != nil {
		return ratelimit.PerMinute(a.Limits.AccountRoutes), ratelimit.AccountKey(ratelimit.Routes, c.account.ID)
	}
	return ratelimit.PerMinute(a.Limits.GuestRoutes), ratelimit.ClientKey(ratelimit.Routes, c.client)
}

// routesOf returns the name of the limit on routes for errors.
func routesOf(c *caller) string {
	if c.account != nil {
		return "routes of this account"
	}
	return "routes of this address"
}

// peekRoutes refuses a caller who has used up the limit on routes before the request is read.
func (a *api) peekRoutes(c *caller) error {
	limit, key := a.routeLimit(c)
	if limit.Count == 0 {
		return nil
	}
	if d := a.Buckets.Peek(key, limit, 1, a.Now()); !d.OK {
		return &mapdata.LimitError{RetryAfter: d.RetryAfter, What: routesOf(c)}
	}
	return nil
}

// limitRoutes counts a request for as many routes as it costs, before any work. A request that costs more than the rate of a minute
// counts as that rate, so that a caller who made no other request is answered (D15.23).
func (a *api) limitRoutes(w http.ResponseWriter, c *caller, cost int) error {
	limit, key := a.routeLimit(c)
	return a.limit(w, limit, key, min(cost, max(1, limit.Count)), routesOf(c))
}

// countAnswer counts the bytes of an answer that is larger than expected, as far as the caller has routes left: an answered request
// cannot be refused any more.
func (a *api) countAnswer(c *caller, q *osrm.Request, size int) {
	limit, key := a.routeLimit(c)
	if more := q.CostOfBytes(size); more > 0 && limit.Count > 0 {
		if left := a.Buckets.Peek(key, limit, 1, a.Now()).Remaining; left > 0 {
			a.Buckets.Allow(key, limit, min(more, left), a.Now())
		}
	}
}

// searchTurn waits until the caller's search may run.
func (a *api) searchTurn(ctx context.Context, c *caller, cost int) (leave func(), err error) {
	if a.Searches == nil {
		return func() {}, nil
	}
	_, key := a.routeLimit(c)
	leave, err = a.Searches.Enter(ctx, key, cost, cost >= heavyCost)
	if errors.Is(err, ratelimit.ErrBusy) {
		return nil, tooBusy()
	}
	return leave, err
}

func tooBusy() error {
	return &problem{
		Type: "unavailable", Status: http.StatusServiceUnavailable, retryAfter: unavailableRetryAfter,
		Detail: "More routes are asked for than this node can compute now. Ask again later.",
	}
}

// driveCaller returns the caller against whom a session counts.
func (a *api) driveCaller(c *caller) session.Caller {
	_, key := a.routeLimit(c)
	return session.Caller{Key: key, Address: ratelimit.ClientKey(ratelimit.Routes, c.client), IsAccount: c.account != nil}
}
