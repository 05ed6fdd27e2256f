package service

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"wayside/internal/entities/live"
	"wayside/internal/entities/live/memory"
	"wayside/internal/feeds/provider/relay"
	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/ratelimit"
	"wayside/internal/ground/safehttp"
	"wayside/internal/ground/signal"
	"wayside/internal/nodes/cluster"
	ratecluster "wayside/internal/nodes/ratelimit/cluster"
	"wayside/internal/nodes/valkey"
	"wayside/internal/run/datadir"
)

// caches hold state that lasts for minutes: live incidents, the windows of drivers, and the buckets of rate limits. The state is
// kept in this process, or in the cache that nodes share (D12.7).
type caches struct {
	driver  live.Driver
	buckets ratelimit.Buckets
	jobs    []Job // in the order in which they stop

	// The connection to a shared cache; nil: there is none.
	conn  *valkey.Conn
	calls *cluster.Calls
}

// openCaches makes the caches. The server of a shared cache need not be reachable.
func (s *Service) openCaches(context.Context) (err error) {
	local := ratelimit.NewMemory(ratelimit.DefaultBuckets)
	if s.config.Cache.URL != "" {
		if s.caches, err = s.openSharedCache(local); err == nil {
			s.Accounts.ShareDestinations(s.caches.conn)
		}
		return err
	}
	driver := memory.New(s.now)
	s.caches = &caches{driver: driver, buckets: local, jobs: []Job{{"live cache", driver.Run}, {"rate limits", local.Run}}}
	return nil
}

// openSharedCache makes the caches over the server that nodes share. Rates are counted in local while the server is unreachable.
func (s *Service) openSharedCache(local *ratelimit.Memory) (*caches, error) {
	secret, err := datadir.SecretKey(s.config.DataDir)
	if err != nil {
		return nil, err
	}
	key, err := keyFor(s.config, "rate limits")
	if err != nil {
		return nil, err
	}
	roots, err := safehttp.ReadRoots(s.config.Egress.CAFile)
	if err != nil {
		return nil, fmt.Errorf("egress.ca_file: %w", err)
	}
	conn, err := valkey.Open(s.config.Cache.URL, valkey.Options{
		Log: s.log, Roots: roots, Failed: s.metrics.CacheFailed,
		// Live incidents disappear with the cache and return with it, so that streams must read them again.
		Changed: func(bool) { s.signals.Moved.Notify(mapdata.Touched{Everywhere: true}) },
	})
	if err != nil {
		return nil, fmt.Errorf("cache.url: %w", err)
	}
	buckets := ratecluster.New(ratecluster.Config{Cache: conn, Local: local, Key: key, Now: s.now})
	c := &caches{driver: conn, buckets: buckets, conn: conn, calls: cluster.NewCalls(), jobs: []Job{
		{"rate limits", buckets.Run},
		{"other nodes' key", func(ctx context.Context) error { return compareKeys(ctx, conn, secret, s.log) }},
		{"shared cache", conn.Run},
	}}
	return c, errors.Join(
		s.metrics.Gauge("wayside_cache_up", "Whether the shared cache answers: 1 or 0.", func() float64 { return toGauge(conn.Up()) }),
		s.metrics.Gauge("wayside_limits_alone", "Whether this node counts rate limits without the others: 1 or 0.", func() float64 { return toGauge(buckets.Alone()) }),
	)
}

// close closes the connection, also if the service never ran.
func (c *caches) close() {
	if c.conn != nil {
		c.conn.Close()
	}
}

// toGauge returns 1 for true and 0 for false.
func toGauge(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// connect lets a relay use the caches and publish the outcomes of its calls to the other nodes.
func (c *caches) connect(to *relay.Config, movedLive *signal.Moved) {
	to.Windows = c.driver
	if c.conn != nil {
		to.Reachable, to.Called, to.MovedLive = c.conn.Up, c.calls.Add, movedLive
	}
}

// exchange adds the job that exchanges with the other nodes where live incidents moved and which outcomes calls of upstreams had.
func (c *caches) exchange(s *Service) {
	if c.conn == nil {
		return
	}
	config := cluster.Config{
		Cache: c.conn, Log: s.log, Moved: s.signals.Moved, MovedLive: s.signals.MovedLive, Calls: c.calls,
		Heard: func(upstream string, call mapdata.UpstreamCall) {
			if in := s.generation.Load().incidents; in != nil {
				in.relay.Heard(upstream, call)
			}
		},
	}
	c.jobs = append([]Job{{"other nodes", cluster.New(config).Run}}, c.jobs...)
}

const (
	compareEvery = time.Minute
	keyMark      = "key" // holds the MAC of keyMarkText by the nodes' secret key
	keyMarkText  = "the same on all nodes"
)

// compareKeys logs an error if this node's secret key differs from that of the other nodes: it would call upstreams with
// different tenant keys, count rate limits separately, and could not decrypt what the others sealed.
func compareKeys(ctx context.Context, cache *valkey.Conn, secret []byte, log *slog.Logger) error {
	key, err := datadir.DeriveKey(secret, "comparison")
	if err != nil {
		return fmt.Errorf("derive key: %w", err)
	}
	mac := hmac.New(sha256.New, key)
	_, _ = mac.Write([]byte(keyMarkText)) // a hash never fails
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
