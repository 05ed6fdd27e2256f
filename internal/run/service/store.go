package service

import (
	"context"
	"path/filepath"
	"time"

	"wayside/internal/entities/live"
	"wayside/internal/entities/nearby"
	"wayside/internal/entities/votes"
	"wayside/internal/feeds/feed"
	"wayside/internal/feeds/ingest"
	"wayside/internal/feeds/provider/drivers"
	"wayside/internal/feeds/provider/pull"
	"wayside/internal/feeds/provider/push"
	"wayside/internal/ground/signal"
	"wayside/internal/people/account"
	"wayside/internal/people/apps"
	"wayside/internal/people/mail"
	"wayside/internal/people/takedown"
	"wayside/internal/roads/region/imports"
	"wayside/internal/run/datadir"
	"wayside/internal/store/postgres"
	"wayside/internal/store/replica"
	"wayside/internal/store/sqlite"
)

// Store is everything durable: the embedded database, or PostgreSQL.
type Store interface {
	account.Store
	account.PasskeyStore
	apps.Store
	feed.Store
	replica.Store
	takedown.Store
	ingest.Store
	mail.Outbox
	nearby.Records
	pull.Store
	push.Store
	votes.Store
	drivers.Store
	sealing

	imports.Audit

	// CountCurators counts the accounts that may review.
	CountCurators(ctx context.Context) (int, error)
	// Prune deletes what has passed its retention, in small transactions.
	Prune(ctx context.Context, now time.Time) error
	// Ping returns mapdata.ErrUnavailable if the store does not work.
	Ping(ctx context.Context) error
	// ReleaseNode releases the leases of polls whose nodes' names begin with the prefix.
	ReleaseNode(ctx context.Context, prefix string) (int64, error)
	Close() error

	// livePins returns the driver that keeps live incidents in the database (D8.9).
	livePins() live.Driver
	// jobs returns the store's own jobs while it is served. They notify changed when another process may have changed something
	// that followers see.
	jobs(changed signal.StoreChanged) []Job
}

// openStore opens the database that the configuration names.
func openStore(ctx context.Context, o AdminOptions) (Store, error) {
	if o.Config.Database.URL != "" {
		db, err := postgres.Open(ctx, postgres.Config{URL: o.Config.Database.URL, Now: o.Now, Log: o.Log})
		if err != nil {
			return nil, err
		}
		return postgresStore{db}, nil
	}
	db, err := sqlite.Open(ctx, filepath.Join(o.Config.DataDir, datadir.DatabaseFile), sqlite.Options{Now: o.Now, Log: o.Log})
	if err != nil {
		return nil, err
	}
	return sqliteStore{db}, nil
}

// sqliteStore is the embedded database in the data directory.
type sqliteStore struct{ *sqlite.DB }

func (s sqliteStore) livePins() live.Driver { return s.Live() }

// jobs returns no job that listens for changes, because the replica polls once a second and so finds the changes of commands.
func (s sqliteStore) jobs(signal.StoreChanged) []Job {
	return []Job{{"checkpoints", s.RunCheckpoints}}
}

// postgresStore is the database of several nodes.
type postgresStore struct{ *postgres.DB }

func (s postgresStore) livePins() live.Driver { return s.Live() }

func (s postgresStore) jobs(changed signal.StoreChanged) []Job {
	return []Job{{"changes of other nodes", func(ctx context.Context) error { return s.Listen(ctx, changed.Notify) }}}
}
