package cli

import (
	"log/slog"
	"slices"
	"strings"

	"wayside/internal/config"
	"wayside/internal/service"
	"wayside/internal/telemetry"
)

// serveCmd is wayside serve.
type serveCmd struct{ listenFlags }

// Run runs the service until the process is asked to stop.
func (c *serveCmd) Run(p *program) error {
	cfg, err := c.load(p)
	if err != nil {
		return err
	}
	log := telemetry.NewLog(p.stderr, cfg.Log.Level, isTerminal(p.stderr))
	s, err := openService(p, cfg, log, nil)
	if err != nil {
		return err
	}
	return s.Run(p.ctx)
}

// openService opens the service in this process. drive is what a demo plays; nil: this is none.
func openService(p *program, cfg *config.Config, log *slog.Logger, drive []byte) (*service.Service, error) {
	return service.Open(p.ctx, service.Options{
		Config: cfg, Log: log, Now: p.now, Version: version, DemoDrive: drive,
		TuneHeap: !slices.ContainsFunc(p.env, func(v string) bool { return strings.HasPrefix(v, "GOGC=") }),
		Progress: func() (add func(int), ended func()) {
			loading := newProgress(p.stderr, func(line string) { log.Info(line) }, "loading the index", "entities")
			return loading.Add, loading.Close
		},
	})
}
