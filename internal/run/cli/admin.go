package cli

import (
	"context"
	"errors"
	"log/slog"

	"wayside/internal/ground/mapdata"
	"wayside/internal/run/config"
	"wayside/internal/run/service"
)

// adminFlags are the flags of every command that works beside a running service.
type adminFlags struct {
	configFlags
	JSON bool `name:"json" help:"Print JSON."`
}

// adminDeps holds the dependencies of such a command.
type adminDeps struct {
	*service.Admin
	config *config.Config
}

// with reads the configuration, opens the store, calls do, and closes the store.
func (f *adminFlags) with(p *program, do func(ctx context.Context, deps *adminDeps) error) (err error) {
	cfg, err := f.load(p, nil)
	if err != nil {
		return err
	}
	admin, err := service.OpenAdmin(p.ctx, service.AdminOptions{Config: cfg, Log: slog.New(slog.DiscardHandler), Now: p.now})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, admin.Close()) }()
	return do(mapdata.WithVia(p.ctx, mapdata.ViaCommandLine), &adminDeps{admin, cfg})
}
