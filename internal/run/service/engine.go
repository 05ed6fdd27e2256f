package service

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"wayside/internal/drive/nav"
	"wayside/internal/drive/nav/engine"
	"wayside/internal/ground/safehttp"
	"wayside/internal/http/console"
	"wayside/internal/run/config"
)

// openEngine opens the engine that finds routes: the embedded one, or a remote one.
func (s *Service) openEngine() error {
	if !s.config.Navigation.Remote() {
		s.engine = engine.NewEmbedded(s.routes)
		return nil
	}
	web, err := newEngineClient(s.config, s.options.Version)
	if err != nil {
		return err
	}
	s.engineWeb = web
	s.remote, err = newEngine(s.config, web, s.log, s.now, s.roads.network, s.metrics.EngineCall)
	if err != nil {
		return err
	}
	s.engine = s.remote
	return s.metrics.Gauge("wayside_engine_up", "Whether the last call of the engine that finds routes was answered: 1 or 0.", func() float64 { return toGauge(!s.remote.State().Down()) })
}

// newEngineClient makes the HTTP client for an engine, whose host the operator chose.
func newEngineClient(cfg *config.Config, version string) (*safehttp.Client, error) {
	roots, err := safehttp.ReadRoots(cfg.Egress.CAFile)
	if err != nil {
		return nil, fmt.Errorf("egress.ca_file: %w", err)
	}
	return safehttp.New(safehttp.Options{
		UserAgent: userAgent(cfg, version), Hosts: cfg.Egress.Hosts, RootCAs: roots,
		Timeout: engine.CallTimeout, MaxBody: engine.MaxBody, PerHost: engine.MaxCalls,
	})
}

// newEngine makes the remote engine of a configuration.
func newEngine(cfg *config.Config, web *safehttp.Client, log *slog.Logger, now func() time.Time, network func() *nav.Network, count func(outcome string)) (*engine.Remote, error) {
	target, err := safehttp.OperatorURL(cfg.Navigation.EngineURL)
	if err != nil {
		return nil, fmt.Errorf("navigation.engine_url %w", err)
	}
	return engine.New(engine.Options{Name: cfg.Navigation.Engine, URL: target, Web: web, Network: network, Now: now, Log: log, Count: count})
}

// reportEngine adds the public state of a remote engine to the state of this node.
func (s *Service) reportEngine(state *console.State) {
	if s.remote != nil {
		engine := s.remote.State()
		state.Engine, state.EngineDown = engine.Name, engine.Down()
	}
}

// CheckEngine calls the remote engine of a configuration once, and returns its version if the engine reports one. Its error tells
// the operator what to correct.
func CheckEngine(ctx context.Context, cfg *config.Config, version string) (string, error) {
	web, err := newEngineClient(cfg, version)
	if err != nil {
		return "", err
	}
	defer web.Close()
	none := func() *nav.Network { return nil }
	e, err := newEngine(cfg, web, slog.New(slog.DiscardHandler), time.Now, none, func(string) {})
	if err != nil {
		return "", err
	}
	said, err := e.Probe(ctx)
	if err == nil {
		return said, nil
	}
	if reason := e.State().Reason; reason != "" {
		return "", fmt.Errorf("it does not answer (%s)", reason)
	}
	return "", fmt.Errorf("what answers there is not %s", cfg.Navigation.Engine)
}
