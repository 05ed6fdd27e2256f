package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"wayside/internal/run/demo"
)

// hostileRun replays hostile requests against the real program by raw connections on loopback.
type hostileRun struct {
	*bench
	count int    // requests
	seed  uint64 // of all random choices: the same seed sends the same requests on each connection
}

// hostileConnections is how many connections send at a time; each sends up to hostilePipeline requests before the first answer.
const (
	hostileConnections = 8
	hostilePipeline    = 32
)

// hostileConfig enables everything that guests and accounts may reach.
const hostileConfig = `
[apps]
enabled = true
`

// runHostile counts the answers to hostile requests: none may be 500 or more except a 503 with Retry-After, and the service must
// survive without an error in its log.
func (b *bench) runHostile(ctx context.Context) error {
	h := &hostileRun{bench: b, count: b.count, seed: b.seed}
	step("importing the demo's town, signing in")
	if err := h.open(ctx); err != nil {
		return err
	}
	step(fmt.Sprintf("sending %d hostile requests", h.count))
	began := time.Now()
	seen, err := h.replay(ctx)
	if err != nil {
		return err
	}
	return h.report(ctx, seen, time.Since(began))
}

// open starts the service with the demo's roads, and makes an account with a feed and an API token.
func (h *hostileRun) open(ctx context.Context) error {
	var err error
	if h.addr, err = freeAddress(); err != nil {
		return err
	}
	if h.ops, err = freeAddress(); err != nil {
		return err
	}
	if err := h.configure(hostileConfig); err != nil {
		return err
	}
	if err := h.adjust(); err != nil {
		return err
	}
	var town bytes.Buffer
	if err := demo.WriteExtract(&town); err != nil {
		return err
	}
	extract := filepath.Join(h.dir, "town.osm.pbf")
	if err := os.WriteFile(extract, town.Bytes(), 0o600); err != nil {
		return err
	}
	if _, err := h.command(ctx, "region", "import", extract); err != nil {
		return err
	}
	if err := h.start(ctx); err != nil {
		return err
	}
	return h.prepare(ctx)
}

// adjust changes the configuration: each request names another client address, so that rate limits refuse few, and there is no
// provider.
func (h *hostileRun) adjust() error {
	text, err := os.ReadFile(h.config)
	if err != nil {
		return err
	}
	text = bytes.Replace(text, []byte("[http]\n"), []byte("[http]\ntrusted_proxies = [\"127.0.0.0/8\"]\n"), 1)
	text = bytes.Replace(text, fmt.Appendf(nil, "ca_file = %q", filepath.Join(h.dir, "ca.pem")), []byte(`ca_file = ""`), 1)
	return os.WriteFile(h.config, text, 0o600)
}

// hostileAnswers are counts of answers by class of request and status.
type hostileAnswers struct {
	mu     sync.Mutex
	sent   int
	counts map[string]map[int]int
	faults []string // the first answers that are faults of the service, with their requests
}

// maxFaults bounds the faults that are kept.
const maxFaults = 50

// note counts an answer.
func (a *hostileAnswers) note(r *hostileRequest, status int, retryAfter, body string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.counts[r.class] == nil {
		a.counts[r.class] = make(map[int]int)
	}
	a.counts[r.class][status]++
	if isFault(status, retryAfter) && len(a.faults) < maxFaults {
		a.faults = append(a.faults, fmt.Sprintf("%s: %d %.300q to %.1500q", r.class, status, body, r.text))
	}
}

// progressEvery is after how many requests a line reports the progress.
const progressEvery = 100_000

// add counts requests that were sent.
func (a *hostileAnswers) add(n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	before := a.sent
	if a.sent += n; a.sent/progressEvery > before/progressEvery {
		step(fmt.Sprintf("%d sent, %d answers are the service's fault", a.sent, len(a.faults)))
	}
}

// isFault reports whether an answer is the fault of the service. A 503 with Retry-After is not: it is the answer of a documented
// limit.
func isFault(status int, retryAfter string) bool {
	return status >= 500 && (status != 503 || retryAfter == "")
}

// total counts the answers of all classes whose status satisfies is.
func (a *hostileAnswers) total(is func(status int) bool) (n int) {
	for _, byStatus := range a.counts {
		for status, count := range byStatus {
			if is(status) {
				n += count
			}
		}
	}
	return n
}

// replay sends all requests and counts their answers.
func (h *hostileRun) replay(ctx context.Context) (*hostileAnswers, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	a := &hostileAnswers{counts: make(map[string]map[int]int)}
	failures := make([]error, hostileConnections)
	var clients sync.WaitGroup
	for i := range hostileConnections {
		clients.Go(func() {
			random := rand.New(rand.NewPCG(h.seed, uint64(i)))
			c := &hostileClient{addr: h.addr, answers: a, corpus: newHostileCorpus(random, h.bench)}
			share := h.count / hostileConnections
			if i < h.count%hostileConnections {
				share++
			}
			if failures[i] = c.send(ctx, share); failures[i] != nil {
				cancel() // the service has ended: the others need not try
			}
		})
	}
	clients.Wait()
	return a, errors.Join(failures...)
}

// report fills the table.
func (h *hostileRun) report(ctx context.Context, a *hostileAnswers, took time.Duration) error {
	for _, class := range slices.Sorted(maps.Keys(a.counts)) {
		var parts []string
		for _, status := range slices.Sorted(maps.Keys(a.counts[class])) {
			parts = append(parts, fmt.Sprintf("%d × %d", a.counts[class][status], status))
		}
		h.table.note("answers to "+class, strings.Join(parts, ", "))
	}
	h.table.note("requests", fmt.Sprintf("%d in %s, %d answers", a.sent, took.Round(time.Second), a.total(func(int) bool { return true })))
	h.table.note("503 by a stated limit", fmt.Sprint(a.total(func(status int) bool { return status == 503 })))
	faults := a.total(func(status int) bool { return status >= 500 && status != 503 })
	h.table.add("answers of 500 and more", "0", fmt.Sprint(max(faults, len(a.faults))), len(a.faults) == 0)
	log, err := os.ReadFile(filepath.Join(h.dir, "serve.log"))
	if err != nil {
		return err
	}
	errorLines := bytes.Count(log, []byte(`"level":"ERROR"`))
	h.table.add("errors in the log", "0", fmt.Sprint(errorLines), errorLines == 0)
	_, peak, err := h.memory()
	if err != nil {
		return err
	}
	h.table.note("memory at most", fmt.Sprintf("%.0f MB", peak))
	var account struct{}
	if err := h.call(ctx, http.MethodGet, "/v2/account", nil, &account); err != nil {
		return fmt.Errorf("the service does not answer any more, or a request ended the session that others came with: %w", err)
	}
	for _, fault := range a.faults {
		fmt.Fprintln(os.Stderr, fault)
	}
	if len(a.faults) > 0 || errorLines > 0 {
		return fmt.Errorf("%d answers are the service's fault, and %d errors are in its log", max(faults, len(a.faults)), errorLines)
	}
	return nil
}
