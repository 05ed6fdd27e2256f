package relay

import (
	"context"
	"errors"
	"time"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/safehttp"
)

// Tried is the result of one trial call of an upstream.
type Tried struct {
	Outcome mapdata.Outcome
	Reason  mapdata.Reason // detail of the outcome; may be empty
	Status  int            // of the answer, when Outcome is http_status
	Took    time.Duration
	Pins    int            // number of pins that would be shown
	Dropped map[string]int // number of dropped rows by reason
}

// tryTenant stands in for a driver's key.
const tryTenant = "operator"

// Try calls one upstream once about a circle, as for a driver, and stores nothing. Of the configuration it needs Web,
// Key and Now.
func Try(ctx context.Context, c Config, upstream Upstream, center geo.Point, radius float64) (*Tried, error) {
	tried := &Tried{Dropped: make(map[string]int)}
	c.Upstreams = []Upstream{upstream}
	c.Dropped = func(_, what string) { tried.Dropped[what]++ }
	s := New(c)
	area, began := areaOf(center, radius), s.Now()
	calling, cancel := context.WithTimeout(ctx, relayTimeout)
	defer cancel()
	pins, _, err := s.get(calling, s.upstreams[0], &area, s.tenant(upstream.Name, tryTenant, began))
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	tried.Outcome, tried.Took, tried.Pins = outcomeOf(calling, err), s.Now().Sub(began), len(pins)
	var failed *safehttp.Error
	if errors.As(err, &failed) {
		tried.Reason, tried.Status = failed.Reason, failed.Status
	}
	return tried, nil
}
