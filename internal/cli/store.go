package cli

import (
	"context"
	"log/slog"
	"path/filepath"
	"time"

	"wayside/internal/account"
	"wayside/internal/config"
	"wayside/internal/feed"
	"wayside/internal/ingest"
	"wayside/internal/live"
	"wayside/internal/mail"
	"wayside/internal/nearby"
	"wayside/internal/provider/pull"
	"wayside/internal/provider/push"
	"wayside/internal/replica"
	"wayside/internal/store/postgres"
	"wayside/internal/store/sqlite"
	"wayside/internal/votes"
)

// databaseFile is the embedded database in a data directory.
const databaseFile = "wayside.db"

// store is everything durable: the embedded database, or PostgreSQL.
type store interface {
	account.Store
	account.PasskeyStore
	feed.Store
	replica.Store
	ingest.Store
	mail.Outbox
	nearby.Records
	pull.Store
	push.Store
	votes.Store

	// Prune does what time asks for, in small transactions.
	Prune(ctx context.Context, now time.Time) error
	// Ping says whether the store works, and mapdata.ErrUnavailable if not.
	Ping(ctx context.Context) error
	Close() error

	// livePins gives the live cache that lies in the database (D8.9).
	livePins() live.Driver
	// jobs are what the store itself has to do while somebody serves it; poke is called, and must not wait, when another
	// process may have changed something that followers see.
	jobs(poke func()) []job
}

// openStore opens the database that the configuration names.
func openStore(p *program, cfg *config.Config, log *slog.Logger) (store, error) {
	if cfg.Database.URL != "" {
		db, err := postgres.Open(p.ctx, postgres.Config{URL: cfg.Database.URL, Now: p.now, Log: log})
		if err != nil {
			return nil, err
		}
		return shared{db}, nil
	}
	db, err := sqlite.Open(p.ctx, filepath.Join(cfg.DataDir, databaseFile), sqlite.Options{Now: p.now, Log: log})
	if err != nil {
		return nil, err
	}
	return embedded{db}, nil
}

// embedded is the store in the data directory.
type embedded struct{ *sqlite.DB }

func (s embedded) livePins() live.Driver { return s.Live() }

// jobs looks for nothing: the follower's own look once a second finds what commands beside the service change.
func (s embedded) jobs(func()) []job { return []job{{"checkpoints", s.RunCheckpoints}} }

// shared is the store of several nodes.
type shared struct{ *postgres.DB }

func (s shared) livePins() live.Driver { return s.Live() }

func (s shared) jobs(poke func()) []job {
	return []job{{"changes of other nodes", func(ctx context.Context) error { return s.Listen(ctx, poke) }}}
}
