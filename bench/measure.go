package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Sizes of pushes.
const (
	batchRows   = 5000
	feedRows    = 50_000
	pushWorkers = 2
)

// pushFeed is a feed to which bench pushes.
type pushFeed struct {
	ID    string
	Token string
}

// call sends a JSON request with the session and decodes the answer.
func (b *bench) call(ctx context.Context, method, path string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://"+b.addr+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	if b.cookie != "" {
		req.Header.Set("Cookie", b.cookie)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close() //nolint:errcheck // read only
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("%s %s: %s: %s", method, path, resp.Status, text)
	}
	for _, c := range resp.Cookies() {
		b.cookie = c.Name + "=" + c.Value
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(text, out)
}

// prepare signs in by a login link, and registers and approves the feeds to push to.
func (b *bench) prepare(ctx context.Context) error {
	const email = "bench@example.org"
	if _, err := b.command(ctx, "account", "create", "--email", email); err != nil {
		return err
	}
	if err := b.signIn(ctx, email); err != nil {
		return err
	}
	for i := range max(2, b.entities/feedRows) {
		f, err := b.register(ctx, fmt.Sprintf("Bench %d", i))
		if err != nil {
			return err
		}
		b.feeds = append(b.feeds, f)
	}
	return nil
}

// signIn signs an account in by a login link. Later calls use its session.
func (b *bench) signIn(ctx context.Context, email string) error {
	link, err := b.command(ctx, "account", "login-link", "--email", email)
	if err != nil {
		return err
	}
	_, token, found := strings.Cut(strings.TrimSpace(link), "token=")
	if !found {
		return errors.New("the login link has no token")
	}
	b.cookie = ""
	return b.call(ctx, http.MethodPost, "/v2/auth/verify", map[string]string{"token": token}, nil)
}

// register registers and approves a push feed.
func (b *bench) register(ctx context.Context, name string) (pushFeed, error) {
	var answer struct {
		Feed  struct{ ID string }
		Token string `json:"push_ingest_token"`
	}
	registration := map[string]any{"name": name, "direction": "push", "visibility": "public"}
	if err := b.call(ctx, http.MethodPost, "/v2/feeds", registration, &answer); err != nil {
		return pushFeed{}, err
	}
	if _, err := b.command(ctx, "feed", "approve", answer.Feed.ID); err != nil {
		return pushFeed{}, err
	}
	return pushFeed{ID: answer.Feed.ID, Token: answer.Token}, nil
}

// push sends one batch and checks that all of it was accepted.
func (b *bench) push(ctx context.Context, f pushFeed, batch []byte, rows int) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+b.addr+"/v2/feeds/"+f.Token+"/entities", bytes.NewReader(batch))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close() //nolint:errcheck // read only
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	var report struct{ Accepted int }
	if err := json.Unmarshal(text, &report); err != nil || resp.StatusCode != http.StatusOK || report.Accepted != rows {
		return fmt.Errorf("push: %s: %.300s", resp.Status, text)
	}
	return nil
}

// fill pushes all entities by the public API.
func (b *bench) fill(ctx context.Context) error {
	c := newCountry()
	began := time.Now()
	per := b.entities / len(b.feeds)
	for i, f := range b.feeds {
		for from := 0; from < per; from += batchRows {
			n := min(batchRows, per-from)
			if err := b.push(ctx, f, c.batch(prefix(i), from, n, 0), n); err != nil {
				return err
			}
		}
	}
	step(fmt.Sprintf("filled with %d entities at %.0f rows/s, one client, making the rows included",
		b.entities, float64(b.entities)/time.Since(began).Seconds()))
	return nil
}

func prefix(feed int) string { return fmt.Sprintf("bench%02d", feed) }

// paths makes reads around entities, with radii that find about the given number.
func (b *bench) paths(ctx context.Context, wanted int) ([]string, error) {
	c := newCountry()
	var paths []string
	for len(paths) < 256 {
		lat, lng := c.place()
		path := func(radius float64) string {
			return fmt.Sprintf("/v2/entities/nearby?lat=%.5f&lng=%.5f&radius=%.0f", lat, lng, radius)
		}
		radius := 100.0
		for radius < 20_000 {
			var answer struct{ Entities []json.RawMessage }
			if err := b.call(ctx, http.MethodGet, path(radius), nil, &answer); err != nil {
				return nil, err
			}
			if len(answer.Entities) >= wanted {
				paths = append(paths, path(radius))
				break
			}
			radius *= 1.15
		}
	}
	return paths, nil
}

// comparison is the goal of a read.
type comparison struct {
	wanted int
	goal   float64 // share of the baseline handler's requests
}

// reads compares nearby with the baseline handler, in alternating rounds.
func (b *bench) reads(ctx context.Context) error {
	for _, c := range []comparison{{20, 0.70}, {100, 0.60}} {
		paths, err := b.paths(ctx, c.wanted)
		if err != nil {
			return err
		}
		warm, err := load(ctx, b.addr, paths, time.Second)
		if err != nil {
			return err
		}
		bare, err := startBare(ctx, warm.size())
		if err != nil {
			return err
		}
		var ratios, ours, theirs, ourTime, bareTime []float64
		for range b.rounds {
			var fixed, near *loadResult
			used, err := perAnswer(bare.cmd.Process.Pid, func() (_ *loadResult, err error) {
				fixed, err = load(ctx, bare.addr, []string{"/"}, b.round)
				return fixed, err
			})
			if err != nil {
				return err
			}
			bareTime = append(bareTime, float64(used.Nanoseconds())/1000)
			profiled := b.profile(ctx, fmt.Sprintf("nearby%d", c.wanted))
			used, err = perAnswer(b.process.Process.Pid, func() (_ *loadResult, err error) {
				near, err = load(ctx, b.addr, paths, b.round)
				return near, err
			})
			err = errors.Join(err, profiled())
			if err != nil {
				return err
			}
			ourTime = append(ourTime, float64(used.Nanoseconds())/1000)
			ratios = append(ratios, near.perSecond()/fixed.perSecond())
			ours, theirs = append(ours, near.perSecond()), append(theirs, fixed.perSecond())
		}
		bare.stop()
		ratio := median(ratios)
		b.table.add(fmt.Sprintf("nearby, ≈ %d entities (%d bytes) / bare handler", c.wanted, warm.size()), fmt.Sprintf("≥ %.0f %%", c.goal*100),
			fmt.Sprintf("%.0f %% (%.0f of %.0f/s)", ratio*100, median(ours), median(theirs)), ratio >= c.goal)
		b.table.note(fmt.Sprintf("processor time an answer, ≈ %d entities: nearby, and bare handler", c.wanted),
			fmt.Sprintf("%.1f µs, and %.1f µs", median(ourTime), median(bareTime)))
	}
	now, peak, err := b.memory()
	if err != nil {
		return err
	}
	b.table.add(fmt.Sprintf("memory with %d entities, after reads", b.entities), "≤ 800 MB", fmt.Sprintf("%.0f MB (highest %.0f)", now, peak), now <= 800)
	return nil
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

// search runs the benchmark of package index, which always uses a million entities.
func (b *bench) search(ctx context.Context) error {
	out, err := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-bench", "^BenchmarkSearch$", "./internal/entities/index").CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	line := regexp.MustCompile(`hits=(\d+)\S*\s+\d+\s+(\S+) ns/op\s+(\S+) hits/op\s+\d+ B/op\s+(\d+) allocs/op`)
	for _, m := range line.FindAllStringSubmatch(string(out), -1) {
		ns, err := strconv.ParseFloat(m[2], 64)
		if err != nil {
			return err
		}
		goal := 4000.0
		if m[1] == "100" {
			goal = 20_000
		}
		b.table.add("index search alone, ≈ "+m[1]+" hits", fmt.Sprintf("≤ %.0f µs, 0 allocations", goal/1000),
			fmt.Sprintf("%.1f µs, %s allocations, %s hits", ns/1000, m[4], m[3]), ns <= goal && m[4] == "0")
	}
	return nil
}

// visible measures the time from the 200 of a push until the entity can be read.
func (b *bench) visible(ctx context.Context) error {
	var waits []time.Duration
	rng := rand.New(rand.NewPCG(3, 4))
	for i := range 200 {
		lat, lng := -40+rng.Float64(), 20+rng.Float64() // far from everything else
		row := fmt.Appendf(nil, `[{"external_id":"visible:%d","kind":"alert.police","lat":%.6f,"lng":%.6f,"properties":{}}]`, i, lat, lng)
		if err := b.push(ctx, b.feeds[0], row, 1); err != nil {
			return err
		}
		began := time.Now()
		for {
			var answer struct{ Entities []json.RawMessage }
			path := fmt.Sprintf("/v2/entities/nearby?lat=%.6f&lng=%.6f&radius=1", lat, lng)
			if err := b.call(ctx, http.MethodGet, path, nil, &answer); err != nil {
				return err
			}
			if len(answer.Entities) > 0 {
				break
			}
		}
		waits = append(waits, time.Since(began))
	}
	slices.Sort(waits)
	p99 := waits[len(waits)*99/100]
	b.table.add("a pushed entity is readable after its 200, p99", "≤ 100 ms",
		fmt.Sprintf("%.1f ms (median %.1f)", ms(p99), ms(waits[len(waits)/2])), p99 <= 100*time.Millisecond)
	return nil
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// pushes measures pushes of changed rows into the full store, alone and with concurrent reads.
func (b *bench) pushes(ctx context.Context) error {
	const batches = 40
	var rates []float64
	for round := range b.rounds {
		rate, err := b.pushAll(ctx, b.bodies(batches, round+1))
		if err != nil {
			return err
		}
		rates = append(rates, rate)
	}
	rate := median(rates)
	b.table.add("push, 5 000 rows a batch, durable", "≥ 50 000 rows/s", fmt.Sprintf("%.0f rows/s", rate), rate >= 50_000)

	return b.beside(ctx, b.bodies(batches, b.rounds+1))
}

// bodies makes batches of rows that differ from all versions before.
func (b *bench) bodies(batches, version int) [][]byte {
	made := newCountry()
	all := make([][]byte, batches)
	for i := range all {
		all[i] = made.batch(prefix(i%len(b.feeds)), i/len(b.feeds)*batchRows%(b.entities/len(b.feeds)), batchRows, version)
	}
	return all
}

// pace is the push rate of the goal, in rows per second.
const pace = 50_000

// beside measures reads under pushes, at the rate of the goal and at the maximum rate.
func (b *bench) beside(ctx context.Context, bodies [][]byte) error {
	paths, err := b.paths(ctx, 20)
	if err != nil {
		return err
	}
	var paced, unpaced []float64
	var rate, fastest, worst float64
	for range b.rounds {
		alone, err := load(ctx, b.addr, paths, b.round)
		if err != nil {
			return err
		}
		for _, limit := range []int{pace, 0} {
			reads, rows, err := b.readBeside(ctx, paths, bodies, limit)
			if err != nil {
				return err
			}
			share := reads.perSecond() / alone.perSecond()
			if limit > 0 {
				paced, rate, worst = append(paced, share), rows, ms(reads.percentile(0.99))
			} else {
				unpaced, fastest = append(unpaced, share), rows
			}
		}
	}
	b.table.add("reads beside pushes of 50 000 rows/s / reads alone", "≥ 60 %",
		fmt.Sprintf("%.0f %% (%.0f rows/s got through; p99 of reads %.1f ms)", median(paced)*100, rate, worst), median(paced) >= 0.6)
	b.table.note("reads beside pushes as fast as they go / reads alone", fmt.Sprintf("%.0f %% (beside %.0f rows/s)", median(unpaced)*100, fastest))
	return nil
}

// readBeside reads while a client pushes the given number of rows per second (0: as many as possible), and returns the rate of
// accepted rows.
func (b *bench) readBeside(ctx context.Context, paths []string, bodies [][]byte, limit int) (*loadResult, float64, error) {
	pushing, stop := context.WithCancel(ctx)
	defer stop()
	var pushed atomic.Int64
	var group sync.WaitGroup
	var failed error
	began := time.Now()
	group.Go(func() {
		for i := 0; pushing.Err() == nil; i++ {
			if failed = b.push(ctx, b.feeds[i%len(b.feeds)], bodies[i%len(bodies)], batchRows); failed != nil {
				return
			}
			rows := pushed.Add(batchRows)
			if limit == 0 {
				continue
			}
			select {
			case <-pushing.Done():
			case <-time.After(time.Until(began.Add(time.Duration(rows) * time.Second / time.Duration(limit)))):
			}
		}
	})
	reads, err := load(ctx, b.addr, paths, b.round)
	stop()
	group.Wait()
	if err = errors.Join(err, failed); err != nil {
		return nil, 0, err
	}
	return reads, float64(pushed.Load()) / reads.elapsed.Seconds(), nil
}

// pushAll pushes the bodies from a few clients and returns the rows per second.
func (b *bench) pushAll(ctx context.Context, bodies [][]byte) (float64, error) {
	var next atomic.Int64
	var group sync.WaitGroup
	failures := make([]error, pushWorkers)
	began := time.Now()
	for worker := range pushWorkers {
		group.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(bodies) || failures[worker] != nil {
					return
				}
				failures[worker] = b.push(ctx, b.feeds[i%len(b.feeds)], bodies[i], batchRows)
			}
		})
	}
	group.Wait()
	return float64(len(bodies)*batchRows) / time.Since(began).Seconds(), errors.Join(failures...)
}

// snapshotRows is the size of the polled snapshot; one in a hundred rows changes.
const snapshotRows = 200_000

// snapshotBody returns a snapshot in which one row in a hundred depends on the version.
func snapshotBody(version int) []byte {
	c := newCountry()
	dst := append(make([]byte, 0, snapshotRows*220), '[')
	for i := range snapshotRows {
		if i > 0 {
			dst = append(dst, ',')
		}
		v := 0
		if i%100 == 0 {
			v = version
		}
		dst = c.appendRow(dst, "pull", i, v)
	}
	return append(dst, ']')
}

// snapshot measures what a poll costs when 1 % of a large snapshot changed.
func (b *bench) snapshot(ctx context.Context) error {
	first := snapshotBody(0)
	b.provider.body.Store(&first)
	var answer struct{ Feed struct{ ID string } }
	registration := map[string]any{"name": "Bench pull", "direction": "pull", "visibility": "public", "pull_url": b.provider.url(), "pull_interval_seconds": 3600}
	if err := b.call(ctx, http.MethodPost, "/v2/feeds", registration, &answer); err != nil {
		return err
	}
	feed := "/v2/feeds/" + answer.Feed.ID
	fetched, err := b.polled(ctx, feed, "")
	if err != nil {
		return err
	}
	changed := snapshotBody(1)
	b.provider.body.Store(&changed)
	if err := b.settle(ctx); err != nil {
		return err
	}
	if err := b.resetPeak(); err != nil {
		return err
	}
	before, _, err := b.memory()
	if err != nil {
		return err
	}
	rowsBefore, err := b.metric("wayside_follow_entities_total")
	if err != nil {
		return err
	}
	usedBefore, err := b.processor()
	if err != nil {
		return err
	}
	profiled := b.profile(ctx, "snapshot")
	// Pausing and resuming a feed polls it immediately.
	for _, active := range []bool{false, true} {
		if err := b.call(ctx, http.MethodPatch, feed, map[string]bool{"active": active}, nil); err != nil {
			return err
		}
	}
	if _, err := b.polled(ctx, feed, fetched); err != nil {
		return err
	}
	if err := b.settle(ctx); err != nil {
		return err
	}
	used, err := b.processor()
	if err != nil {
		return err
	}
	if err := profiled(); err != nil {
		return err
	}
	rows, err := b.metric("wayside_follow_entities_total")
	if err != nil {
		return err
	}
	_, peak, err := b.memory()
	if err != nil {
		return err
	}
	used -= usedBefore
	rows -= rowsBefore
	b.table.add("snapshot of 200 000 rows, 1 % changed: processor time", "≤ 1.5 s", fmt.Sprintf("%.2f s", used.Seconds()), used <= 1500*time.Millisecond)
	b.table.add("the same: rows written", "≤ 2 100", fmt.Sprintf("%.0f", rows), rows <= 2100 && rows >= snapshotRows/100)
	b.table.add("the same: extra memory", "≤ 150 MB", fmt.Sprintf("%.0f MB", peak-before), peak-before <= 150)
	return nil
}

// settle waits until the service is idle.
func (b *bench) settle(ctx context.Context) error {
	quiet := 0
	last, err := b.processor()
	for err == nil && quiet < 4 && ctx.Err() == nil {
		time.Sleep(250 * time.Millisecond)
		var now time.Duration
		if now, err = b.processor(); now-last <= 10*time.Millisecond {
			quiet++
		} else {
			quiet = 0
		}
		last = now
	}
	return err
}

// polled waits for a poll after the given one and returns its time.
func (b *bench) polled(ctx context.Context, feed, after string) (string, error) {
	for range 600 {
		var answer struct {
			Feed struct {
				LastFetchedAt    string `json:"last_fetched_at"`
				LastFetchOutcome string `json:"last_fetch_outcome"`
				LastFetchError   string `json:"last_fetch_error"`
			}
		}
		if err := b.call(ctx, http.MethodGet, feed, nil, &answer); err != nil {
			return "", err
		}
		f := answer.Feed
		if f.LastFetchedAt != "" && f.LastFetchedAt != after {
			if f.LastFetchOutcome != "ok" {
				return "", fmt.Errorf("the poll ended with %s: %s", f.LastFetchOutcome, f.LastFetchError)
			}
			return f.LastFetchedAt, nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return "", errors.New("no poll in a minute")
}
