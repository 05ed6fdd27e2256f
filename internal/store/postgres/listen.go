package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// Bounds of listening. A notification may be lost, with a connection or in a restart; followers read the log on the
// next poke anyway.
const (
	pokeEvery    = 400 * time.Millisecond
	probeEvery   = 10 * time.Second // of the connection, which may have been lost silently
	probeTimeout = 2 * time.Second
)

const listen = `LISTEN ` + Channel

// Listen calls poke, which must not block, whenever any node has made a change that concerns followers, and every 400
// ms in any case, until ctx ends. It keeps its own connection, beside the pool, and reconnects when that breaks.
func (db *DB) Listen(ctx context.Context, poke func()) error {
	for {
		began := time.Now()
		err := db.listen(ctx, poke)
		if ctx.Err() != nil {
			return nil //nolint:nilerr // it ended because ctx ended
		}
		db.logger.Warn("listening for changes failed; the log is polled instead", "error", err)
		poke()
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pokeEvery - min(time.Since(began), pokeEvery)):
		}
	}
}

// listen listens until its connection breaks.
func (db *DB) listen(ctx context.Context, poke func()) error {
	config := db.pool.Config().ConnConfig
	config.ConnectTimeout = min(config.ConnectTimeout, probeTimeout) // for each host in the URL
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return failure("listen for changes", err)
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // nothing is lost
	beginning, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	if _, err := conn.Exec(beginning, listen); err != nil {
		return failure("listen for changes", err)
	}
	for probed := time.Now(); ; {
		poke() // also at first, because earlier notifications were missed
		waiting, cancel := context.WithTimeout(ctx, pokeEvery)
		_, err := conn.WaitForNotification(waiting)
		cancel()
		if ctx.Err() != nil {
			return nil
		}
		if err != nil && (waiting.Err() == nil || conn.IsClosed()) {
			return failure("listen for changes", err)
		}
		if time.Since(probed) < probeEvery {
			continue
		}
		probed = time.Now()
		probing, cancel := context.WithTimeout(ctx, probeTimeout)
		err = conn.Ping(probing)
		cancel()
		if err != nil {
			return failure("listen for changes", err)
		}
	}
}
