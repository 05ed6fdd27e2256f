package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// pacing is open-loop load at a rate below saturation, so that a late answer was delayed by the service and not by a queue.
type pacing struct {
	connections, perSecond int
	// catchUp sends overdue requests later and measures them from their due time, so that a pause of the service shows in all
	// requests that it delayed (no coordinated omission). Without it, overdue requests are dropped.
	catchUp bool
}

// Rates of the measured reads of durable layers, and of the concurrent reads that call an upstream.
var (
	durableReads  = pacing{connections: 8, perSecond: 500, catchUp: true}
	incidentReads = pacing{connections: 8, perSecond: 200}
)

// minRounds is the minimum number of rounds of each side: one slow moment of the machine changes the p99 of a round, and the
// median needs enough rounds without one.
const minRounds = 5

// answerTimeout is the timeout of a client.
const answerTimeout = 20 * time.Second

// load sends the requests of next until ctx ends. The latencies are those of all requests.
func (p pacing) load(ctx context.Context, addr string, next func() []byte) (*loadResult, error) {
	var (
		result loadResult
		mu     sync.Mutex
		failed error
		group  sync.WaitGroup
	)
	began := time.Now()
	interval := time.Second * time.Duration(p.connections) / time.Duration(p.perSecond)
	for worker := range p.connections {
		group.Go(func() {
			due := began.Add(interval * time.Duration(worker) / time.Duration(p.connections))
			latencies, err := p.client(ctx, addr, next, due, interval)
			mu.Lock()
			defer mu.Unlock()
			result.latencies = append(result.latencies, latencies...)
			failed = errors.Join(failed, err)
		})
	}
	group.Wait()
	result.requests, result.elapsed = int64(len(result.latencies)), time.Since(began)
	return &result, failed
}

// client runs the loop of one connection.
func (p pacing) client(ctx context.Context, addr string, next func() []byte, due time.Time, interval time.Duration) ([]time.Duration, error) {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	defer conn.Close() //nolint:errcheck // the client is done
	reader := bufio.NewReaderSize(conn, 128<<10)
	var latencies []time.Duration
	for {
		began := due
		if wait := time.Until(due); wait > 0 {
			select {
			case <-ctx.Done():
				return latencies, nil
			case <-time.After(wait):
			}
			began = time.Now() // the delay of this program does not count
		}
		if ctx.Err() != nil {
			return latencies, nil
		}
		if err := conn.SetDeadline(time.Now().Add(answerTimeout)); err != nil {
			return nil, err
		}
		if _, err := conn.Write(next()); err != nil {
			return nil, err
		}
		if _, err := readAnswer(reader); err != nil {
			return nil, err
		}
		latencies = append(latencies, time.Since(began))
		due = due.Add(interval)
		for !p.catchUp && time.Until(due) < 0 {
			due = due.Add(interval)
		}
	}
}

// hanging measures reads of durable layers while an upstream accepts calls and never answers, against the same reads while it
// answers immediately, in alternating rounds. In both, a few clients read live incidents at changing places, so that each read
// calls the upstream.
func (b *bench) hanging(ctx context.Context) error {
	paths, err := b.paths(ctx, 20)
	if err != nil {
		return err
	}
	var turn, place atomic.Int64
	durable := func() []byte {
		return b.get(paths[int(turn.Add(1))%len(paths)] + "&sources=feed:" + b.feeds[0].ID)
	}
	incidents := func() []byte {
		n := place.Add(1)
		lat, lng := 15+0.02*float64(n%500), -55+0.02*float64(n/500)
		return b.get(fmt.Sprintf("/v2/entities/nearby?lat=%.5f&lng=%.5f&radius=500&sources=incidents", lat, lng))
	}
	round := func() (reads, live *loadResult, err error) {
		ctx, stop := context.WithTimeout(ctx, b.round)
		defer stop()
		var group sync.WaitGroup
		var failed error
		group.Go(func() { live, failed = incidentReads.load(ctx, b.addr, incidents) })
		reads, err = durableReads.load(ctx, b.addr, durable)
		group.Wait()
		return reads, live, errors.Join(err, failed)
	}
	var hung, normal []float64
	var longest time.Duration
	var beside [2]int64
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	held := watch(ctx)
	if _, _, err := round(); err != nil { // warm-up
		return err
	}
	for range max(b.rounds, minRounds) {
		reads, live, err := round()
		if err != nil {
			return err
		}
		normal = append(normal, ms(reads.percentile(0.99)))
		beside[0] += live.requests
		b.relay.hang()
		reads, live, err = round()
		b.relay.release()
		if err != nil {
			return err
		}
		beside[1] += live.requests
		longest = max(longest, live.percentile(1))
		hung = append(hung, ms(reads.percentile(0.99)))
		if err := b.settle(ctx); err != nil {
			return err
		}
	}
	ratio := median(hung) / median(normal)
	b.table.add("durable reads while every upstream hangs, p99 / while it answers", "≤ 2 ×",
		fmt.Sprintf("%.2f × (%.2f and %.2f ms; bench itself stood still for up to %.0f ms)", ratio, median(hung), median(normal), ms(held())), ratio <= 2)
	b.table.add("longest read of live incidents while every upstream hangs", "≤ 2.5 s",
		fmt.Sprintf("%.2f s (%d reads, %d calls hung; %d reads while it answers)", longest.Seconds(), beside[1], b.relay.hung.Load(), beside[0]),
		longest <= 2500*time.Millisecond && b.relay.hung.Load() > 0)
	return nil
}

// watch measures the longest pause of this program: a busy machine delays the service as well.
func watch(ctx context.Context) (held func() time.Duration) {
	ctx, stop := context.WithCancel(ctx)
	ended := make(chan time.Duration, 1)
	go func() {
		const tick = 2 * time.Millisecond
		var longest time.Duration
		for last := time.Now(); ctx.Err() == nil; {
			time.Sleep(tick)
			now := time.Now()
			longest, last = max(longest, now.Sub(last)-tick), now
		}
		ended <- longest
	}()
	return func() time.Duration {
		stop()
		return <-ended
	}
}

// get returns the bytes of a GET request.
func (b *bench) get(path string) []byte {
	return []byte("GET " + path + " HTTP/1.1\r\nHost: " + b.addr + "\r\n\r\n")
}
