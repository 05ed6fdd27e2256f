package navigation

import (
	"context"
	"errors"
	"net/http"

	"wayside/internal/drive/nav/osrm"
	"wayside/internal/drive/nav/session"
	"wayside/internal/ground/ratelimit"
	"wayside/internal/http/httpapi"
)

// heavyCost is the cost from which a search is heavy: if there are several processors, one is always left to lighter searches.
const heavyCost = 5

// countAnswer counts the bytes of an answer that is larger than expected, as far as the caller has routes left: an answered request
// cannot be refused any more.
func (a *api) countAnswer(c *httpapi.Caller, q *osrm.Request, size int) {
	limit, key := a.RouteLimit(c)
	if more := q.CostOfBytes(size); more > 0 && limit.Count > 0 {
		if left := a.Buckets.Peek(key, limit, 1, a.Now()).Remaining; left > 0 {
			a.Buckets.Allow(key, limit, min(more, left), a.Now())
		}
	}
}

// searchTurn waits until the caller's search may run.
func (a *api) searchTurn(ctx context.Context, c *httpapi.Caller, cost int) (leave func(), err error) {
	if a.Searches == nil {
		return func() {}, nil
	}
	_, key := a.RouteLimit(c)
	leave, err = a.Searches.Enter(ctx, key, cost, cost >= heavyCost)
	if errors.Is(err, ratelimit.ErrBusy) {
		return nil, tooBusy()
	}
	return leave, err
}

func tooBusy() error {
	return &httpapi.Problem{
		Type: "unavailable", Status: http.StatusServiceUnavailable, RetryAfter: httpapi.UnavailableRetryAfter,
		Detail: "More routes are asked for than this node can compute now. Ask again later.",
	}
}

// driveCaller returns the caller against whom a session counts.
func (a *api) driveCaller(c *httpapi.Caller) session.Caller {
	_, key := a.RouteLimit(c)
	return session.Caller{Key: key, Address: ratelimit.ClientKey(ratelimit.Routes, c.Client), IsAccount: c.Account != nil}
}

// answerFactor is how many times the text of an answer of navigation is held while the answer is found and written (measured in
// Monaco: 2.4 MB of text for 100 places with everything, and two and a half times as much to make it).
const answerFactor = 3

// holdRoute takes memory for an answer of navigation. The search itself waits for its turn separately (searchTurn).
func (a *api) holdRoute(w http.ResponseWriter, r *http.Request, c *httpapi.Caller, q *osrm.Request) error {
	return a.Hold(w, r, a.Memory.Routes, c, answerFactor*q.AnswerBytes())
}
