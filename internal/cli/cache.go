package cli

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"wayside/internal/cluster"
	"wayside/internal/config"
	"wayside/internal/live"
	"wayside/internal/live/memory"
	"wayside/internal/mapdata"
	"wayside/internal/provider/relay"
	"wayside/internal/ratelimit"
	ratecluster "wayside/internal/ratelimit/cluster"
	"wayside/internal/safehttp"
	"wayside/internal/signal"
	"wayside/internal/valkey"
)

// minutes is where the service keeps what lasts for minutes: live incidents and their windows, and the buckets of rate
// limits. It is this process, or the cache that nodes share (D12.7).
type minutes struct {
	driver  live.Driver
	buckets ratelimit.Buckets
	jobs    []job // in the order in which they stop

	// Of a shared cache; nil: there is none.
	conn  *valkey.Conn
	calls *cluster.Calls
}

// newMinutes makes it. The server of a shared cache need not be up.
func (s *server) newMinutes(cfg *config.Config, now func() time.Time) (*minutes, error) {
	buckets := ratelimit.NewMemory(ratelimit.DefaultBuckets)
	if cfg.Cache.URL == "" {
		driver := memory.New(now)
		return &minutes{driver: driver, buckets: buckets, jobs: []job{
			{"live cache", driver.Run}, {"rate limits", buckets.Run},
		}}, nil
	}
	secret, err := secretKey(cfg.DataDir)
	if err != nil {
		return nil, err
	}
	key, err := derivedKey(secret, "rate limits")
	if err != nil {
		return nil, fmt.Errorf("derive key: %w", err)
	}
	roots, err := safehttp.ReadRoots(cfg.Egress.CAFile)
	if err != nil {
		return nil, fmt.Errorf("egress.ca_file: %w", err)
	}
	m := &minutes{}
	m.conn, err = valkey.Open(cfg.Cache.URL, valkey.Options{
		Log: s.log, Roots: roots, Failed: s.metrics.CacheFailed,
		// Streams tell that live incidents are gone, and that they are back.
		Changed: func(bool) { s.signals.Moved.Notify(mapdata.Touched{Everywhere: true}) },
	})
	if err != nil {
		return nil, fmt.Errorf("cache.url: %w", err)
	}
	together := ratecluster.New(ratecluster.Config{Cache: m.conn, Local: buckets, Key: key, Now: now})
	m.driver, m.buckets = m.conn, together
	m.calls = cluster.NewCalls()
	m.jobs = []job{
		{"rate limits", together.Run},
		{"other nodes' key", func(ctx context.Context) error { return compareKeys(ctx, m.conn, secret, s.log) }},
		{"shared cache", m.conn.Run},
	}
	return m, errors.Join(
		s.metrics.Gauge("wayside_cache_up", "Whether the shared cache answers: 1 or 0.", func() float64 { return oneIf(m.conn.Up()) }),
		s.metrics.Gauge("wayside_limits_alone", "Whether this node counts rate limits without the others: 1 or 0.", func() float64 { return oneIf(together.Alone()) }),
	)
}

// close ends the connection, also of a service that never ran.
func (m *minutes) close() {
	if m.conn != nil {
		m.conn.Close()
	}
}

func oneIf(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// connect ties a relay to the other nodes.
func (m *minutes) connect(c *relay.Config, movedLive *signal.Moved) {
	c.Windows = m.driver
	if m.conn == nil {
		return
	}
	c.Reachable, c.Called, c.MovedLive = m.conn.Up, m.calls.Add, movedLive
}

// share exchanges with the other nodes where live incidents moved and how calls of upstreams ended.
func (m *minutes) share(s *server) {
	if m.conn == nil {
		return
	}
	c := cluster.Config{
		Cache: m.conn, Log: s.log, Moved: s.signals.Moved, MovedLive: s.signals.MovedLive, Calls: m.calls,
		Heard: func(string, relay.Call) {}, // without upstreams
	}
	if s.live != nil {
		c.Heard = s.live.relay.Heard
	}
	m.jobs = append([]job{{"other nodes", cluster.New(c).Run}}, m.jobs...)
}

const (
	compareEvery = time.Minute
	keyMark      = "key" // holds what the nodes' secret key makes of keyMarkOf
	keyMarkOf    = "the same on all nodes"
)

// compareKeys tells the operator of a node whose secret key is another than the others': it would call upstreams by other
// tenants' names, count limits apart, and not be able to read what they sealed.
func compareKeys(ctx context.Context, cache *valkey.Conn, secret []byte, log *slog.Logger) error {
	key, err := derivedKey(secret, "comparison")
	if err != nil {
		return fmt.Errorf("derive key: %w", err)
	}
	mac := hmac.New(sha256.New, key)
	_, _ = mac.Write([]byte(keyMarkOf)) // a hash never fails
	mine := mac.Sum(nil)
	tick := time.NewTicker(compareEvery)
	defer tick.Stop()
	for {
		if held, err := cache.Get(ctx, []string{keyMark}); err == nil {
			if held[0] != nil && !bytes.Equal(held[0], mine) {
				log.Error("secret.key is not that of the other nodes: copy theirs into data_dir, or use a cache or a database number of its own")
			} else if _, err = cache.Swap(ctx, keyMark, held[0], mine, 2*compareEvery); err != nil && ctx.Err() == nil {
				log.Debug("cannot leave a mark for other nodes", "error", err)
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}
