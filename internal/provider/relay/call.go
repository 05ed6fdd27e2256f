package relay

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"wayside/internal/live"
	"wayside/internal/mapdata"
	"wayside/internal/safehttp"
)

// authHeader is how an upstream knows us (Authentication: relay mode).
const authHeader = "X-Service-Auth: "

// Paths of the two forms.
const (
	pathRows = "relay/incidents"
	pathRaw  = "relay/incidents-raw"
)

// fetch calls an upstream and keeps what it says. A call that fails is remembered in the upstream's health and changes
// nothing (D8.6); an error is the cache's alone.
func (s *Service) fetch(ctx context.Context, u *upstream, p *place, tenant, key string) error {
	began := s.Now()
	pins, stamp, err := s.get(ctx, u, p, tenant)
	outcome := outcomeOf(ctx, err)
	if s.ctx.Err() != nil {
		return nil // we stop: that is not the upstream's fault
	}
	now := s.Now()
	if s.Observe != nil {
		s.Observe(u.Name, outcome, now.Sub(began))
	}
	call := Call{OK: outcome == mapdata.OutcomeOK, Hung: outcome == mapdata.OutcomeTimeout, Refused: refused(err)}
	barred := u.calls.note(now, call)
	if s.Called != nil {
		s.Called(u.Name, call)
	}
	if barred {
		s.Log.Warn("the upstream refuses the secret; it is left alone for five minutes", "upstream", u.Name)
	}
	if outcome != mapdata.OutcomeOK {
		return nil
	}
	ctx, cancel := context.WithTimeout(s.ctx, patience)
	defer cancel()
	answer := live.Answer{Upstream: u.Name, Center: p.center, Radius: p.radius, At: now, Stamp: stamp, Pins: pins}
	if err := s.take(ctx, &answer); err != nil {
		return err
	}
	return s.windows.answered(ctx, key, now)
}

// refused says whether the upstream did not take our secret.
func refused(err error) bool {
	var failed *safehttp.Error
	return errors.As(err, &failed) && failed.Status == http.StatusUnauthorized
}

// outcomeOf names how a call ended.
func outcomeOf(ctx context.Context, err error) mapdata.Outcome {
	var failed *safehttp.Error
	switch {
	case err == nil:
		return mapdata.OutcomeOK
	case ctx.Err() != nil:
		return mapdata.OutcomeTimeout
	case errors.As(err, &failed):
		return failed.Outcome
	}
	return mapdata.OutcomeParseError
}

// get calls the upstream and reads its answer.
func (s *Service) get(ctx context.Context, u *upstream, p *place, tenant string) (pins []live.Pin, stamp time.Time, err error) {
	path := pathRows
	if u.Raw {
		path = pathRaw
	}
	target := u.URL.With(path, url.Values{
		"lat": {coordinate(p.center.Lat)}, "lng": {coordinate(p.center.Lng)},
		"radius": {strconv.FormatFloat(p.radius, 'f', -1, 64)}, "tenant": {tenant},
	})
	answer, err := s.Web.Fetch(ctx, safehttp.Request{URL: target, AuthHeader: authHeader + u.Secret, NoRedirects: true})
	if err != nil {
		return nil, time.Time{}, err
	}
	body, err := io.ReadAll(answer.Body)
	err = errors.Join(err, answer.Body.Close())
	if err != nil {
		return nil, time.Time{}, err
	}
	return s.decode(u, body)
}

func coordinate(degrees float64) string { return strconv.FormatFloat(degrees, 'f', decimals, 64) }
