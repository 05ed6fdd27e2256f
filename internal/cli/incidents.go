package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"wayside/internal/config"
	"wayside/internal/httpapi"
	"wayside/internal/live"
	"wayside/internal/mapdata"
	"wayside/internal/provider/relay"
	"wayside/internal/safehttp"
	"wayside/internal/wire"
)

// Limits of calls to upstreams, which the operator chose (D8.6).
const (
	upstreamTimeout = 2 * time.Second
	upstreamBody    = 8 << 20 // bytes
	upstreamAtOnce  = 64      // calls to one host
)

// incidentsInDatabase is the rollback mode (D8.9).
const incidentsInDatabase = "database"

// incidents is the built-in source with what it stands on.
type incidents struct {
	relay *relay.Service
	web   *safehttp.Client
	about *httpapi.Incidents
}

// newIncidents makes the built-in source; nil when no upstream is configured.
func (s *server) newIncidents(cfg *config.Config, now func() time.Time) (*incidents, error) {
	if len(cfg.Upstreams) == 0 {
		return nil, nil //nolint:nilnil // there is none, and nothing is wrong
	}
	key, err := secretKey(cfg.DataDir)
	if err != nil {
		return nil, err
	}
	if key, err = derivedKey(key, "upstream tenants"); err != nil {
		return nil, fmt.Errorf("derive key: %w", err)
	}
	web, err := newUpstreamClient(cfg)
	if err != nil {
		return nil, err
	}
	in := &incidents{web: web, about: aboutIncidents(cfg)}
	pins := s.minutes.driver
	if in.about.Stored {
		pins = s.store.livePins()
	}
	c := relay.Config{
		Web: web, Pins: live.New(pins, relay.Prepare(wire.EncodeEntity), now), Key: key, Now: now, Log: s.log,
		Observe: func(upstream string, outcome mapdata.Outcome, _ time.Duration) {
			s.metrics.UpstreamCall(upstream, string(outcome))
		},
		Dropped: s.metrics.UpstreamDropped,
		Moved:   s.signals.Moved,
	}
	for i := range cfg.Upstreams {
		u, err := upstreamOf(&cfg.Upstreams[i])
		if err != nil {
			return nil, fmt.Errorf("upstreams: %w", err)
		}
		c.Upstreams = append(c.Upstreams, u)
	}
	s.minutes.connect(&c, s.signals.MovedLive)
	in.relay = relay.New(c)
	return in, nil
}

// run owns the calls of upstreams. It waits for the end where there is no source.
func (in *incidents) run(ctx context.Context) error {
	if in == nil {
		<-ctx.Done()
		return nil
	}
	defer in.web.Close()
	return in.relay.Run(ctx)
}

// newUpstreamClient makes the way out to upstreams.
func newUpstreamClient(cfg *config.Config) (*safehttp.Client, error) {
	roots, err := safehttp.ReadRoots(cfg.Egress.CAFile)
	if err != nil {
		return nil, fmt.Errorf("egress.ca_file: %w", err)
	}
	return safehttp.New(safehttp.Options{
		UserAgent: userAgent(cfg), Hosts: cfg.Egress.Hosts, RootCAs: roots,
		Timeout: upstreamTimeout, MaxBody: upstreamBody, PerHost: upstreamAtOnce,
	})
}

func upstreamOf(u *config.Upstream) (relay.Upstream, error) {
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

// aboutIncidents is what readers are told of the source: each attribution once.
func aboutIncidents(cfg *config.Config) *httpapi.Incidents {
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
