package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"wayside/internal/proof/testenv"
)

// cluster is three equal nodes on one PostgreSQL and one cache, beside the service on SQLite.
type cluster struct {
	*bench   // on SQLite, the baseline of the nodes' reads
	database *testenv.PG
	cache    *testenv.CacheServer
	nodes    []*bench
}

// nodes is the number of nodes of a cluster.
const nodes = 3

// runCluster measures several nodes.
func (b *bench) runCluster(ctx context.Context) (err error) {
	c := &cluster{bench: b}
	defer func() { err = errors.Join(err, c.close()) }()
	return b.all(ctx, []measurement{
		{"an index of ten million entities", b.indexes},
		{"starting PostgreSQL, the cache and a node", c.open},
		{"filling PostgreSQL", c.fillNode},
		{"pushing into PostgreSQL", c.pushNode},
		{"restarting the node", c.restartNode},
		{"filling the store of the service on SQLite", c.fillEmbedded},
		{"reading from both", c.compareReads},
		{"loading all again under reads", c.reload},
		{"starting two more nodes", c.startOthers},
		{"a change becomes visible on every node", c.visibleEverywhere},
	})
}

// open starts the servers that nodes share, and the first node.
func (c *cluster) open(ctx context.Context) (err error) {
	if c.database, err = testenv.StartPostgres(); err != nil {
		return err
	}
	if c.cache, err = testenv.StartCache(); err != nil {
		return err
	}
	if err := c.addNode(ctx); err != nil {
		return err
	}
	return c.nodes[0].prepare(ctx)
}

// addNode starts another node with its own data directory.
func (c *cluster) addNode(ctx context.Context) error {
	n := &bench{options: c.options, table: c.table, binary: c.binary}
	n.dir = filepath.Join(c.dir, fmt.Sprintf("node%d", len(c.nodes)+1))
	if err := os.MkdirAll(n.dir, 0o700); err != nil {
		return err
	}
	var err error
	if n.addr, err = freeAddress(); err != nil {
		return err
	}
	if n.ops, err = freeAddress(); err != nil {
		return err
	}
	if err := copyFile(filepath.Join(c.dir, "ca.pem"), filepath.Join(n.dir, "ca.pem")); err != nil {
		return err
	}
	if err := n.configure(fmt.Sprintf("[database]\nurl = %q\n[cache]\nurl = %q\n", c.database.URL(), c.cache.URL())); err != nil {
		return err
	}
	if len(c.nodes) == 0 {
		if _, err := n.command(ctx, "migrate"); err != nil {
			return err
		}
	} else {
		n.cookie, n.feeds = c.nodes[0].cookie, c.nodes[0].feeds
	}
	c.nodes = append(c.nodes, n)
	return n.start(ctx)
}

func copyFile(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o600)
}

// close stops the nodes and the servers.
func (c *cluster) close() error {
	var all error
	for _, n := range c.nodes {
		all = errors.Join(all, n.stop())
	}
	if c.cache != nil {
		all = errors.Join(all, c.cache.Close())
	}
	if c.database != nil {
		all = errors.Join(all, c.database.Close())
	}
	return all
}

func (c *cluster) fillNode(ctx context.Context) error { return c.nodes[0].fill(ctx) }

func (c *cluster) fillEmbedded(ctx context.Context) error {
	if err := c.prepare(ctx); err != nil {
		return err
	}
	return c.fill(ctx)
}

// pushNode measures pushing changed rows; each batch is one transaction, committed to the disk.
func (c *cluster) pushNode(ctx context.Context) error {
	const batches, goal = 20, 20_000
	var rates []float64
	for round := range c.rounds {
		rate, err := c.nodes[0].pushAll(ctx, c.nodes[0].bodies(batches, round+1))
		if err != nil {
			return err
		}
		rates = append(rates, rate)
	}
	rate := median(rates)
	c.table.add("push into PostgreSQL, 5 000 rows a batch, durable", "≥ 20 000 rows/s", fmt.Sprintf("%.0f rows/s", rate), rate >= goal)
	return nil
}

func (c *cluster) restartNode(ctx context.Context) error {
	n := c.nodes[0]
	if err := n.stop(); err != nil {
		return err
	}
	if err := n.start(ctx); err != nil {
		return err
	}
	const goal = 15 * time.Second
	c.table.add(fmt.Sprintf("start to ready with %d entities from PostgreSQL", c.entities), "≤ 15 s", fmt.Sprintf("%.1f s", n.ready.Seconds()), n.ready <= goal)
	return nil
}

// compareReads sends the same reads to both, in alternating rounds.
func (c *cluster) compareReads(ctx context.Context) error {
	const goal = 0.95
	for _, wanted := range []int{20, 100} {
		paths, err := c.paths(ctx, wanted)
		if err != nil {
			return err
		}
		var ratios []float64
		for range c.rounds {
			embedded, err := load(ctx, c.addr, paths, c.round)
			if err != nil {
				return err
			}
			node, err := load(ctx, c.nodes[0].addr, paths, c.round)
			if err != nil {
				return err
			}
			ratios = append(ratios, node.perSecond()/embedded.perSecond())
		}
		ratio := median(ratios)
		c.table.add(fmt.Sprintf("nearby, ≈ %d entities, from a node on PostgreSQL / on SQLite", wanted), "≥ 95 %", fmt.Sprintf("%.0f %%", ratio*100), ratio >= goal)
	}
	return c.stop()
}

func (c *cluster) startOthers(ctx context.Context) error {
	for len(c.nodes) < nodes {
		if err := c.addNode(ctx); err != nil {
			return err
		}
	}
	return nil
}

// changePace is the rate of changed rows per second under which a change must be visible on all nodes in time.
const changePace = 20_000

// visibleEverywhere measures the time from the 200 of a push until the other nodes show the entity, under other pushes.
func (c *cluster) visibleEverywhere(ctx context.Context) error {
	const batches = 40
	pushing, stop := context.WithCancel(ctx)
	defer stop()
	var group sync.WaitGroup
	var failed error
	rows := 0
	began := time.Now()
	group.Go(func() {
		all := c.nodes[0].bodies(batches, 100)
		for i := 0; pushing.Err() == nil; i++ {
			n := c.nodes[i%nodes]
			if failed = n.push(ctx, n.feeds[i%batches%len(n.feeds)], all[i%batches], batchRows); failed != nil {
				return
			}
			rows += batchRows
			if rows%(batches*batchRows) == 0 {
				all = c.nodes[0].bodies(batches, 100+rows/batchRows)
			}
			select {
			case <-pushing.Done():
			case <-time.After(time.Until(began.Add(time.Duration(rows) * time.Second / changePace))):
			}
		}
	})
	waits, err := c.probe(ctx)
	elapsed := time.Since(began)
	stop()
	group.Wait()
	if err = errors.Join(err, failed); err != nil {
		return err
	}
	slices.Sort(waits)
	p99 := waits[len(waits)*99/100]
	c.table.add(fmt.Sprintf("a change is visible on every node after its 200, p99, beside %.0f changed rows/s", float64(rows)/elapsed.Seconds()), "≤ 1 s",
		fmt.Sprintf("%.0f ms (median %.0f)", ms(p99), ms(waits[len(waits)/2])), p99 <= time.Second)
	return nil
}

// probe pushes single rows through one node after the other and waits until the others show them.
func (c *cluster) probe(ctx context.Context) ([]time.Duration, error) {
	const probes = 300
	rng := rand.New(rand.NewPCG(5, 6))
	var waits []time.Duration
	for i := range probes {
		lat, lng := -40+rng.Float64(), 20+rng.Float64() // far from everything else
		path, err := c.nodes[i%nodes].pushProbe(ctx, fmt.Sprintf("probe:%d", i), lat, lng)
		if err != nil {
			return nil, err
		}
		began := time.Now()
		for _, n := range c.nodes {
			if err := n.await(ctx, path); err != nil {
				return nil, err
			}
		}
		waits = append(waits, time.Since(began))
	}
	return waits, nil
}

// pushProbe pushes one row, and returns the path of a read that finds it alone.
func (b *bench) pushProbe(ctx context.Context, id string, lat, lng float64) (path string, err error) {
	row := fmt.Appendf(nil, `[{"external_id":%q,"kind":"alert.police","lat":%.6f,"lng":%.6f,"properties":{}}]`, id, lat, lng)
	return fmt.Sprintf("/v2/entities/nearby?lat=%.6f&lng=%.6f&radius=1", lat, lng), b.push(ctx, b.feeds[0], row, 1)
}

// await reads until an entity is shown.
func (b *bench) await(ctx context.Context, path string) error {
	const visibleTimeout = 30 * time.Second
	for began := time.Now(); time.Since(began) < visibleTimeout; time.Sleep(time.Millisecond) {
		var answer struct{ Entities []json.RawMessage }
		if err := b.call(ctx, http.MethodGet, path, nil, &answer); err != nil {
			return err
		}
		if len(answer.Entities) > 0 {
			return nil
		}
	}
	return errors.New("a pushed row was not seen for half a minute")
}
