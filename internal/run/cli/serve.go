package cli

import (
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"wayside/internal/ground/telemetry"
	"wayside/internal/run/config"
	"wayside/internal/run/service"
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
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	reload := func(o *service.Options) {
		o.Reload, o.ReadConfig = hangup, func() (*config.Config, error) { return c.load(p) }
	}
	s, err := openService(p, cfg, log, reload)
	if err != nil {
		return err
	}
	return s.Run(p.ctx)
}

// openService opens the service in this process, with options that the command adds.
func openService(p *program, cfg *config.Config, log *slog.Logger, add func(*service.Options)) (*service.Service, error) {
	options := service.Options{
		Config: cfg, Log: log, Now: p.now, Version: version,
		TuneHeap: !slices.ContainsFunc(p.env, func(v string) bool { return strings.HasPrefix(v, "GOGC=") }),
		Progress: func() (add func(int), ended func()) {
			loading := newProgress(p.stderr, func(line string) { log.Info(line) }, "loading the index", "entities")
			return loading.Add, loading.Close
		},
	}
	add(&options)
	return service.Open(p.ctx, options)
}
