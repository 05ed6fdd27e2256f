package relay

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"wayside/internal/entities/live"
	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/safehttp"
)

// authHeader authenticates this service to an upstream (Authentication: relay mode).
const authHeader = "X-Service-Auth: "

// Paths of the two forms.
const (
	pathRows = "relay/incidents"
	pathRaw  = "relay/incidents-raw"
)

// fetch calls an upstream and returns its answer. For a call that fails it returns nil; the failure is recorded in the
// upstream's health and changes nothing else (D8.6).
func (s *Service) fetch(ctx context.Context, t *target, p *requestArea) *live.Answer {
	began := s.Now()
	pins, stamp, err := s.get(ctx, t.upstream, p, t.tenant)
	outcome := outcomeOf(ctx, err)
	if errors.Is(ctx.Err(), context.Canceled) {
		return nil // the service stops, which is not the upstream's fault
	}
	now := s.Now()
	if s.Observe != nil {
		s.Observe(t.Name, outcome, now.Sub(began))
	}
	call := mapdata.UpstreamCall{OK: outcome == mapdata.OutcomeOK, TimedOut: outcome == mapdata.OutcomeTimeout, Refused: refused(err)}
	t.calls.note(now, call)
	if s.Called != nil {
		s.Called(t.Name, call)
	}
	s.report(ctx, t.upstream, now, outcome, err)
	if outcome != mapdata.OutcomeOK {
		return nil
	}
	return &live.Answer{Upstream: t.Name, Center: p.center, Radius: p.radius, At: now, Stamp: stamp, Pins: pins}
}

// keep stores an answer and opens the key's window.
func (s *Service) keep(ctx context.Context, key string, a *live.Answer) error {
	if err := s.take(ctx, a); err != nil {
		return err
	}
	return s.windows.answered(ctx, key, a.At)
}

// refused reports whether the upstream did not accept the secret.
func refused(err error) bool {
	var failed *safehttp.Error
	return errors.As(err, &failed) && failed.Status == http.StatusUnauthorized
}

// outcomeOf returns the outcome of a call.
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
func (s *Service) get(ctx context.Context, u *upstream, p *requestArea, tenant string) (pins []live.Pin, stamp time.Time, err error) {
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
