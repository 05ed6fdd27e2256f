package cli

import (
	"path/filepath"

	"wayside/internal/run/datadir"
	"wayside/internal/store/migrate"
	"wayside/internal/store/postgres"
	"wayside/internal/store/sqlite"
)

// migrateCmd is wayside migrate.
type migrateCmd struct {
	configFlags
	Check bool `name:"check" help:"Change nothing; exit with 1 if migrations are pending."`
}

// Run migrates the schema of the database. The service itself migrates only the embedded database.
func (c *migrateCmd) Run(p *program) error {
	cfg, err := c.load(p, nil)
	if err != nil {
		return err
	}
	if cfg.Database.URL != "" {
		pending, err := postgres.Pending(p.ctx, cfg.Database.URL)
		if err != nil {
			return err
		}
		return c.apply(p, pending, func() error { return postgres.Migrate(p.ctx, cfg.Database.URL) })
	}
	path := filepath.Join(cfg.DataDir, datadir.DatabaseFile)
	if err := datadir.Require(cfg.DataDir, datadir.DatabaseFile); err != nil {
		return err
	}
	pending, err := sqlite.Pending(p.ctx, path)
	if err != nil {
		return err
	}
	return c.apply(p, pending, func() error {
		db, err := sqlite.Open(p.ctx, path, sqlite.Options{Now: p.now})
		if err != nil {
			return err
		}
		return db.Close()
	})
}

// apply prints the pending migrations, and runs them unless --check is set.
func (c *migrateCmd) apply(p *program, pending []migrate.Migration, do func() error) error {
	if len(pending) == 0 {
		p.printf("The schema is up to date.\n")
		return nil
	}
	if c.Check {
		for _, step := range pending {
			p.printf("pending: %s\n", step.Name)
		}
		return errQuiet
	}
	if err := do(); err != nil {
		return err
	}
	for _, step := range pending {
		p.printf("applied: %s\n", step.Name)
	}
	return nil
}
