package service

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"wayside/internal/entities/live"
	"wayside/internal/entities/wire"
	"wayside/internal/feeds/provider/relay"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/safehttp"
	"wayside/internal/http/httpapi"
	"wayside/internal/run/config"
)

// Limits of calls to upstreams, which the operator chose (D8.6).
const (
	upstreamTimeout  = 2 * time.Second
	maxUpstreamBody  = 8 << 20 // bytes
	maxUpstreamCalls = 64      // to one host at the same time
)

// incidentsInDatabase is the value of incidents.mode that keeps live incidents in the database (D8.9).
const incidentsInDatabase = "database"

// incidents is the built-in source with its HTTP client.
type incidents struct {
	relay *relay.Service
	web   *safehttp.Client
	about *httpapi.Incidents
}

// openIncidents makes the built-in source; nil when no upstream is configured.
func (s *Service) openIncidents(cfg *config.Config) (*incidents, error) {
	if len(cfg.Upstreams) == 0 {
		return nil, nil //nolint:nilnil // no source is configured, which is no error
	}
	key, err := keyFor(cfg, "upstream tenants")
	if err != nil {
		return nil, err
	}
	web, err := newUpstreamClient(cfg, s.options.Version)
	if err != nil {
		return nil, err
	}
	in := &incidents{web: web, about: describeIncidents(cfg)}
	pins := s.caches.driver
	if in.about.Stored {
		pins = s.Store.livePins()
	}
	c := relay.Config{
		Web: web, Pins: live.New(pins, relay.Prepare(wire.EncodeEntity), s.now), Key: key, Now: s.now, Log: s.log,
		Observe: func(upstream string, outcome mapdata.Outcome, _ time.Duration) {
			s.metrics.UpstreamCall(upstream, string(outcome))
		},
		Dropped: s.metrics.UpstreamDropped,
		Moved:   s.signals.Moved,
	}
	for i := range cfg.Upstreams {
		u, err := parseUpstream(&cfg.Upstreams[i])
		if err != nil {
			return nil, fmt.Errorf("upstreams: %w", err)
		}
		c.Upstreams = append(c.Upstreams, u)
	}
	s.caches.connect(&c, s.signals.MovedLive)
	in.relay = relay.New(c)
	return in, nil
}

// newUpstreamClient makes the HTTP client for upstreams.
func newUpstreamClient(cfg *config.Config, version string) (*safehttp.Client, error) {
	roots, err := safehttp.ReadRoots(cfg.Egress.CAFile)
	if err != nil {
		return nil, fmt.Errorf("egress.ca_file: %w", err)
	}
	return safehttp.New(safehttp.Options{
		UserAgent: userAgent(cfg, version), Hosts: cfg.Egress.Hosts, RootCAs: roots,
		Timeout: upstreamTimeout, MaxBody: maxUpstreamBody, PerHost: maxUpstreamCalls,
	})
}

// parseUpstream checks the configuration of an upstream.
func parseUpstream(u *config.Upstream) (relay.Upstream, error) {
	target, err := safehttp.OperatorURL(u.URL)
	if err != nil {
		return relay.Upstream{}, fmt.Errorf("%s: url %w", u.Name, err)
	}
	if strings.ContainsAny(u.Secret, "\r\n") {
		return relay.Upstream{}, errors.New(u.Name + ": secret must be one line")
	}
	up := relay.Upstream{Name: u.Name, URL: target, Secret: u.Secret, Raw: u.Form == "incidents-raw", Priority: u.Priority}
	if u.Area != nil {
		up.Area = &relay.Area{West: u.Area[0], South: u.Area[1], East: u.Area[2], North: u.Area[3]}
	}
	return up, nil
}

// TryUpstream's parameters and result, for commands, which import neither geo nor relay.
type (
	// Circle is the area for which an upstream is called.
	Circle = geo.Circle
	// Point is the centre of a Circle.
	Point = geo.Point
	// Tried is the result of a call.
	Tried = relay.Tried
)

// TryUpstream calls a configured upstream once, as it would be called for a driver in the circle.
func TryUpstream(ctx context.Context, cfg *config.Config, version string, u *config.Upstream, c Circle) (*Tried, error) {
	upstream, err := parseUpstream(u)
	if err != nil {
		return nil, fmt.Errorf("upstreams: %w", err)
	}
	web, err := newUpstreamClient(cfg, version)
	if err != nil {
		return nil, err
	}
	defer web.Close()
	key := []byte(rand.Text()) // a random key, because the call is for no driver
	return relay.Try(ctx, relay.Config{Web: web, Key: key, Now: time.Now}, upstream, c.Center, c.Radius)
}

// describeIncidents describes the source to readers: each attribution once.
func describeIncidents(cfg *config.Config) *httpapi.Incidents {
	about := &httpapi.Incidents{Stored: cfg.Incidents.Mode == incidentsInDatabase}
	var given []string
	for i := range cfg.Upstreams {
		if a := cfg.Upstreams[i].Attribution; a != "" && !slices.Contains(given, a) {
			given = append(given, a)
		}
	}
	about.Attribution = strings.Join(given, "; ")
	return about
}
