package cli

import (
	"log/slog"

	"wayside/internal/ground/mapdata"
	"wayside/internal/run/service"
)

// keyCmds are wayside key ….
type keyCmds struct {
	Rotate keyRotateCmd `cmd:"" help:"Replace the secret key, while the service is stopped, and encrypt all secrets with the new one."`
}

type keyRotateCmd struct {
	adminFlags
	Lost bool `name:"lost" help:"Remove auth headers and settings of apps that cannot be decrypted because their key is lost."`
}

// Run replaces the secret key.
func (c *keyRotateCmd) Run(p *program) error {
	cfg, err := c.load(p, nil)
	if err != nil {
		return err
	}
	options := service.AdminOptions{Config: cfg, Log: slog.New(slog.DiscardHandler), Now: p.now}
	done, err := service.RotateKey(mapdata.WithVia(p.ctx, mapdata.ViaCommandLine), options, c.Lost)
	if err != nil {
		return err
	}
	if c.JSON {
		return p.writeJSON(map[string]int{"resealed": done.Resealed, "removed": done.Removed})
	}
	p.printf("replaced the secret key: %d auth headers and settings of apps sealed anew, %d removed\n", done.Resealed, done.Removed)
	p.printf("Keep a copy of the new key; backups made before need the old one.\n")
	return nil
}
