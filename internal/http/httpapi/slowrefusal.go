package httpapi

import (
	"net/http"
	"time"

	"wayside/internal/ground/ratelimit"
)

const (
	promptRefusals  = 20          // refusals to one address in a second that are not delayed
	refusalDelay    = time.Second // of the others
	maxSlowRefusals = 2048        // refusals that wait at a time; more are not delayed
)

// slowRefusal delays the refusal of a client that is refused again and again. A client that does not heed Retry-After, and asks again as
// soon as it is refused, would use the processor with refusals alone: 52 000 in 15 s took 3 to 6 s of it.
func (a *API) slowRefusal(w *Recorder, r *http.Request, rt Route) {
	key := ratelimit.ClientKey(ratelimit.Refusals, a.callerAddr(r, rt))
	if a.Buckets.Allow(key, ratelimit.Limit{Count: promptRefusals, Per: time.Second}, 1, a.Now()).OK {
		return
	}
	defer a.slowed.Add(-1)
	if a.slowed.Add(1) > maxSlowRefusals {
		return
	}
	w.EndTurn()
	w.hold.Release()
	delay := time.NewTimer(refusalDelay)
	defer delay.Stop()
	select {
	case <-delay.C:
	case <-r.Context().Done():
	}
}
