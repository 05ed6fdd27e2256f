package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Goals of a reload under reads.
const (
	reloadShare  = 0.5 // of the reads at rest
	reloadMemory = 2.1 // times the memory at rest, at its peak
)

// reload measures how a node reads everything again while it serves reads, as it does after a failover or a restore.
func (c *cluster) reload(ctx context.Context) error {
	const wanted = 20
	n := c.nodes[0]
	paths, err := n.paths(ctx, wanted)
	if err != nil {
		return err
	}
	var shares, heights, waits []float64
	var size, sizeAtRest int
	for round := range c.rounds {
		rest, err := load(ctx, n.addr, paths, c.round)
		if err != nil {
			return err
		}
		before, _, err := n.memory()
		if err != nil {
			return err
		}
		if err := n.resetPeak(); err != nil {
			return err
		}
		beside, wait, err := c.readReloading(ctx, paths, round)
		if err != nil {
			return err
		}
		_, peak, err := n.memory()
		if err != nil {
			return err
		}
		size, sizeAtRest = beside.size(), rest.size()
		shares = append(shares, beside.perSecond()/rest.perSecond())
		heights = append(heights, peak/before)
		waits = append(waits, wait.Seconds())
	}
	share, height := median(shares), median(heights)
	c.table.add(fmt.Sprintf("reads while a node with %d entities loads all again, of those at rest", c.entities), fmt.Sprintf("≥ %.0f %%", reloadShare*100),
		fmt.Sprintf("%.0f %% (%d bytes an answer, at rest %d)", share*100, size, sizeAtRest), share >= reloadShare && size >= sizeAtRest*99/100)
	c.table.add("memory of the node at its height then, of that at rest", fmt.Sprintf("≤ %.1f ×", reloadMemory), fmt.Sprintf("%.2f ×", height), height <= reloadMemory)
	c.table.note("from another epoch until the node shows a row that was pushed after it, under reads", fmt.Sprintf("%.1f s", median(waits)))
	return nil
}

// readReloading reads from the node while it reloads everything, and returns how long that took.
func (c *cluster) readReloading(ctx context.Context, paths []string, round int) (beside *loadResult, wait time.Duration, err error) {
	n := c.nodes[0]
	reading, stop := context.WithCancel(ctx)
	defer stop()
	loaded := make(chan error, 1)
	go func() {
		defer stop()
		began := time.Now()
		loaded <- func() error {
			if err := c.changeEpoch(ctx); err != nil {
				return err
			}
			path, err := n.pushProbe(ctx, fmt.Sprintf("reload:%d", round), -41+float64(round)/100, 20) // far from everything else
			if err != nil {
				return err
			}
			err = n.await(ctx, path)
			wait = time.Since(began)
			return err
		}()
	}()
	const most = 2 * time.Minute
	beside, err = load(reading, n.addr, paths, most)
	return beside, wait, errors.Join(err, <-loaded)
}

// changeEpoch changes the database as a failover or a restore does.
func (c *cluster) changeEpoch(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, c.database.URL())
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, `UPDATE state SET epoch = replace(gen_random_uuid()::text, '-', '')`)
	return errors.Join(err, conn.Close(ctx))
}
