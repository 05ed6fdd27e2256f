package httpapi

import (
	"net/http"

	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/ratelimit"
)

// LimitClient counts one request of a client's address against a limit.
func (a *API) LimitClient(c *Caller, class ratelimit.Class, limit ratelimit.Limit, what string) error {
	if d := a.Buckets.Allow(ratelimit.ClientKey(class, c.Client), limit, 1, a.Now()); !d.OK {
		return &mapdata.LimitError{RetryAfter: d.RetryAfter, What: what}
	}
	return nil
}

// LimitAccount counts one request of a signed-in caller against a limit.
func (a *API) LimitAccount(c *Caller, class ratelimit.Class, perMinute int, what string) error {
	if d := a.Buckets.Allow(ratelimit.AccountKey(class, c.Account.ID), ratelimit.PerMinute(perMinute), 1, a.Now()); !d.OK {
		return &mapdata.LimitError{RetryAfter: d.RetryAfter, What: what}
	}
	return nil
}

// limitReads counts one read and sets the rate limit's headers (D4.12).
func (a *API) limitReads(w http.ResponseWriter, c *Caller) error {
	limit, key := ratelimit.PerMinute(a.Limits.GuestReads), ratelimit.ClientKey(ratelimit.Reads, c.Client)
	if c.Account != nil {
		limit, key = ratelimit.PerMinute(a.Limits.AccountReads), ratelimit.AccountKey(ratelimit.Reads, c.Account.ID)
	}
	return a.limit(w, limit, key, 1, "reads")
}

// limit counts a request against a limit, and sets the rate limit's headers.
func (a *API) limit(w http.ResponseWriter, limit ratelimit.Limit, key ratelimit.Key, cost int, what string) error {
	if limit.Count == 0 {
		return nil
	}
	decision := a.Buckets.Allow(key, limit, cost, a.Now())
	var buffer [128]byte
	policy := ratelimit.AppendPolicy(buffer[:0], limit)
	text := string(ratelimit.AppendState(policy, decision))
	values := [...]string{text[:len(policy)], text[len(policy):]}
	h := w.Header()
	h[ratelimit.PolicyHeader], h[ratelimit.StateHeader] = values[0:1:1], values[1:2:2] // of capacity 1, so that Add copies them
	if !decision.OK {
		return &mapdata.LimitError{RetryAfter: decision.RetryAfter, What: what}
	}
	return nil
}

// RouteLimit returns the caller's limit on routes and its key (D15.23).
func (a *API) RouteLimit(c *Caller) (ratelimit.Limit, ratelimit.Key) {
	if c.Account != nil {
		return ratelimit.PerMinute(a.Limits.AccountRoutes), ratelimit.AccountKey(ratelimit.Routes, c.Account.ID)
	}
	return ratelimit.PerMinute(a.Limits.GuestRoutes), ratelimit.ClientKey(ratelimit.Routes, c.Client)
}

// routesOf returns the name of the limit on routes for errors.
func routesOf(c *Caller) string {
	if c.Account != nil {
		return "routes of this account"
	}
	return "routes of this address"
}

// PeekRoutes refuses a caller who has used up the limit on routes before the request is read.
func (a *API) PeekRoutes(c *Caller) error {
	limit, key := a.RouteLimit(c)
	if limit.Count == 0 {
		return nil
	}
	if d := a.Buckets.Peek(key, limit, 1, a.Now()); !d.OK {
		return &mapdata.LimitError{RetryAfter: d.RetryAfter, What: routesOf(c)}
	}
	return nil
}

// LimitRoutes counts a request for as many routes as it costs, before any work. A request that costs more than the rate of a minute
// counts as that rate, so that a caller who made no other request is answered (D15.23).
func (a *API) LimitRoutes(w http.ResponseWriter, c *Caller, cost int) error {
	limit, key := a.RouteLimit(c)
	return a.limit(w, limit, key, min(cost, max(1, limit.Count)), routesOf(c))
}
