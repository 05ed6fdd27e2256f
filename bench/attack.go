package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"wayside/internal/roads/region"
	"wayside/internal/run/datadir"
)

// The goals of the attack: the most that strangers at full effort may cost others.
const (
	attackMemory  = 300.0 // MiB above rest
	attackLatency = 20 * time.Millisecond
	attackRest    = time.Minute // after the flood, until the service is at rest again
	// The bounds of rest: the reader's connections come and go, and a heap never shrinks to the same size twice.
	restMemory      = 48.0 // MiB above
	restDescriptors = 20
	restGoroutines  = 20
)

// The attacked service.
const (
	attackRows     = 20_000
	attackPulled   = 1000
	attackAccounts = 6
	attackAddress  = 60

	attackProperties = 1400 // bytes of a row's properties: 5 000 rows are 7.8 MB
)

// attackConfig leaves all limits at their defaults.
const attackConfig = `
base_url = "http://%[1]s"
data_dir = %[3]q
[http]
listen = %[1]q
[ops]
listen = %[2]q
[apps]
enabled = true
[egress]
ca_file = %[4]q
[egress.hosts]
"bench.example.org" = "127.0.0.1"
`

// attack is a service with its attackers.
type attack struct {
	*bench
	entered  []string      // names of doors
	alone    time.Duration // for each door; 0: none is attacked alone
	together time.Duration // for all doors together; 0: never
	settle   time.Duration // between two doors
	warm     time.Duration // before rest is measured, so that the memory of the pushes is returned
	share    int           // divides the workers of each door
	plan     attackPlan
	rest     usage
	results  readerResults
	stopRead func() error
	worst    attackResult
}

// attackResult holds the costs of one phase.
type attackResult struct {
	name        string
	begin, most usage
	reads       latencies
	answers     string
	faults      [][]byte // lines of the service's log with errors
	processor   time.Duration
}

// runAttack measures what strangers can cost the service: through each door alone, and through all doors together.
func (b *bench) runAttack(ctx context.Context) error {
	a := &attack{bench: b, alone: b.each, together: b.allDoors, settle: 5 * time.Second, warm: 30 * time.Second, entered: b.chosenDoors()}
	if err := a.prepareAttack(ctx); err != nil {
		return err
	}
	defer a.endReader()
	if err := a.begin(ctx); err != nil {
		return err
	}
	if a.alone > 0 {
		for i, name := range a.entered {
			result, err := a.phase(ctx, name, []string{name}, byte(10+i), a.alone)
			if err != nil {
				return err
			}
			a.report(result)
		}
		a.table.note("the worst door", fmt.Sprintf("%s, %.0f MiB above rest", a.worst.name, a.above(a.worst.most.peak)))
	}
	if a.together == 0 {
		return nil
	}
	result, err := a.phase(ctx, "all at once", a.entered, 3, a.together)
	if err != nil {
		return err
	}
	a.report(result)
	return a.reportRest(ctx)
}

// chosenDoors returns the doors of -doors, or all.
func (b *bench) chosenDoors() (names []string) {
	for _, d := range attackDoors() {
		if b.doors == "" || containsDoor(strings.Split(b.doors, ";"), d.name) {
			names = append(names, d.name)
		}
	}
	return names
}

// prepareAttack starts a service with a region, accounts, pushed rows and a feed that is polled.
func (a *attack) prepareAttack(ctx context.Context) error {
	var err error
	if a.addr, err = freeAddress(); err != nil {
		return err
	}
	if a.ops, err = freeAddress(); err != nil {
		return err
	}
	a.config = filepath.Join(a.dir, "wayside.toml")
	text := fmt.Sprintf(attackConfig, a.addr, a.ops, filepath.Join(a.dir, "data"), filepath.Join(a.dir, "ca.pem"))
	if err := os.WriteFile(a.config, []byte(text), 0o600); err != nil {
		return err
	}
	step("importing a region")
	if err := a.importRegion(ctx); err != nil {
		return err
	}
	if err := a.start(ctx); err != nil {
		return err
	}
	step("signing in, pushing and polling")
	a.plan = attackPlan{Addr: a.addr, Addresses: attackAddress, Share: a.share}
	if err := a.drawPlaces(ctx); err != nil {
		return err
	}
	var feeds []pushFeed
	for i := range attackAccounts {
		f, err := a.enrol(ctx, i)
		if err != nil {
			return err
		}
		feeds = append(feeds, f)
		a.plan.Tokens, a.plan.Cookies = append(a.plan.Tokens, f.Token), append(a.plan.Cookies, a.cookie)
	}
	if err := a.pushRows(ctx, feeds); err != nil {
		return err
	}
	return a.pull(ctx)
}

// importRegion imports the extract, or the generated town without one.
func (a *attack) importRegion(ctx context.Context) error {
	extract := a.extract
	if extract == "" {
		town, err := writeTown()
		if err != nil {
			return err
		}
		extract = filepath.Join(a.dir, "town.osm.pbf")
		if err := os.WriteFile(extract, town, 0o600); err != nil {
			return err
		}
	}
	_, err := a.command(ctx, "region", "import", extract)
	return err
}

// drawPlaces draws places on roads, and places of rows around them.
func (a *attack) drawPlaces(ctx context.Context) error {
	folder := region.Folder(filepath.Join(a.dir, "data", datadir.RegionFolder))
	id, err := folder.Choose("")
	if err != nil {
		return err
	}
	r, err := region.Read(ctx, folder.Path(id))
	if err != nil {
		return err
	}
	random := rand.New(rand.NewPCG(29, 9))
	for range 2000 {
		at := randomPlace(r.Graph, random)
		a.plan.Places = append(a.plan.Places, [2]float64{at.Lat, at.Lng})
	}
	a.plan.Rows = a.plan.Places
	return nil
}

// enrol makes an account with a push feed, and stores its session in a.cookie.
func (a *attack) enrol(ctx context.Context, number int) (pushFeed, error) {
	email := fmt.Sprintf("provider%d@example.org", number)
	if _, err := a.command(ctx, "account", "create", "--email", email); err != nil {
		return pushFeed{}, err
	}
	if err := a.signIn(ctx, email); err != nil {
		return pushFeed{}, err
	}
	return a.register(ctx, "Attack "+strconv.Itoa(number))
}

// pushRows pushes the rows that readers see, a share of them to each feed.
func (a *attack) pushRows(ctx context.Context, feeds []pushFeed) error {
	rows := &rowMaker{rand.New(rand.NewPCG(29, 10)), a.plan.Rows}
	for _, f := range feeds {
		count := attackRows / len(feeds)
		if err := a.push(ctx, f, rows.batch(count, attackProperties), count); err != nil {
			return err
		}
	}
	return nil
}

// pull registers a feed that the service polls.
func (a *attack) pull(ctx context.Context) error {
	body := newCountry().batch("pulled", 0, attackPulled, 0)
	a.provider.body.Store(&body)
	var answer struct{ Feed struct{ ID string } }
	registration := map[string]any{"name": "Attack pull", "direction": "pull", "visibility": "public", "pull_url": a.provider.url(), "pull_interval_seconds": 60}
	if err := a.call(ctx, http.MethodPost, "/v2/feeds", registration, &answer); err != nil {
		return err
	}
	_, err := a.command(ctx, "feed", "approve", answer.Feed.ID)
	return err
}

// begin starts the reader, and measures the service at rest.
func (a *attack) begin(ctx context.Context) error {
	step("reading quietly, at rest")
	plan := a.plan
	process, err := startRole(ctx, roleReader, &plan)
	if err != nil {
		return err
	}
	gathered := make(chan struct{})
	go func() { // ends with the reader's output
		defer close(gathered)
		a.results.gather(process.out)
	}()
	a.stopRead = func() error {
		err := process.stop.Close()
		<-gathered
		return errors.Join(err, process.cmd.Wait())
	}
	pause(ctx, a.warm)
	began := time.Now()
	pause(ctx, 10*time.Second)
	if a.rest, err = a.use(); err != nil {
		return err
	}
	reads := a.results.between(began, time.Now())
	a.table.note("at rest", fmt.Sprintf("%.0f MB, p50 %.1f ms, p99 %.1f ms, %d descriptors, %d goroutines, disk %.0f MB, load %s",
		a.rest.memory, millis(reads.at(0.5)), millis(reads.at(0.99)), a.rest.descriptors, a.rest.goroutines, a.rest.disk, machineLoad()))
	return nil
}

func (a *attack) endReader() {
	if a.stopRead != nil {
		_ = a.stopRead() // the table is complete already
		a.stopRead = nil
	}
}

// machineLoad returns the load of the machine: latencies are upper bounds if it exceeds the number of processors.
func machineLoad() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	one, _, _ := strings.Cut(string(text), " ")
	return fmt.Sprintf("%s on %d processors", one, runtime.NumCPU())
}

// phase attacks through some doors for a time.
func (a *attack) phase(ctx context.Context, name string, doors []string, network byte, lasts time.Duration) (r attackResult, err error) {
	step(fmt.Sprintf("%s, %v", name, lasts))
	r.name = name
	if r.begin, err = a.use(); err != nil {
		return r, err
	}
	if err := a.resetPeak(); err != nil {
		return r, err
	}
	before, err := a.processor()
	if err != nil {
		return r, err
	}
	logged := len(a.errorLines())
	plan := a.plan
	plan.Doors, plan.Network, plan.For = doors, network, lasts
	watching := a.watchUsage(ctx)
	began := time.Now()
	process, err := startRole(ctx, roleFlood, &plan)
	if err != nil {
		return r, err
	}
	var counts map[string]map[string]int
	decoded := json.NewDecoder(process.out).Decode(&counts)
	ended := process.end()
	most, err := watching.end()
	if err = errors.Join(decoded, ended, err); err != nil {
		return r, fmt.Errorf("%s: %w: %s", name, err, a.lastLog())
	}
	r.most, r.answers, r.faults = most, countsText(counts), a.errorLines()[logged:]
	after, err := a.processor()
	r.processor = after - before
	pause(ctx, a.settle)
	r.reads = a.results.between(began, began.Add(lasts))
	r.reads.failed += max(0, int(lasts.Seconds()*readsPerSecond*0.9)-len(r.reads.took)) // reads without an answer so far
	return r, err
}

// lastLog returns the end of the service's log, for errors, because its folder is removed.
func (b *bench) lastLog() []byte {
	said, _ := os.ReadFile(filepath.Join(b.dir, "serve.log")) // the error has its own text
	return said[max(0, len(said)-1000):]
}

// errorLines returns the errors in the service's log so far.
func (b *bench) errorLines() (lines [][]byte) {
	said, _ := os.ReadFile(filepath.Join(b.dir, "serve.log")) // a service without a log fails elsewhere
	for line := range bytes.Lines(said) {
		if bytes.Contains(line, []byte(`"level":"ERROR"`)) {
			lines = append(lines, line)
		}
	}
	return lines
}

func countsText(counts map[string]map[string]int) string {
	all := make(map[string]int)
	for _, of := range counts {
		for status, n := range of {
			all[status] += n
		}
	}
	var parts []string
	for status, n := range all {
		parts = append(parts, fmt.Sprintf("%s × %d", status, n))
	}
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}

// above converts memory in MB to MiB above rest.
func (a *attack) above(memory float64) float64 { return (memory - a.rest.memory) * 1e6 / (1 << 20) }

// report adds a phase to the table.
func (a *attack) report(r attackResult) {
	more := a.above(r.most.peak)
	p50, p99 := r.reads.at(0.5), r.reads.at(0.99)
	if a.worst.name == "" || more > a.above(a.worst.most.peak) {
		a.worst = r
	}
	for _, line := range r.faults[:min(len(r.faults), 10)] {
		step(string(bytes.TrimSpace(line)))
	}
	met := more <= attackMemory && p99 <= attackLatency && r.reads.failed == 0 && len(r.faults) == 0
	a.table.add(r.name, fmt.Sprintf("≤ %.0f MiB, p99 ≤ %v", attackMemory, attackLatency),
		fmt.Sprintf("%.0f MiB (%.0f → %.0f MB), p50 %.1f, p99 %.1f ms, late by tenths %v, %d of %d reads failed, %d errors in the log, %d descriptors, %d goroutines, disk %+.0f MB, %.1f s of processor, load %s; %s",
			more, r.begin.memory, r.most.peak, millis(p50), millis(p99), r.reads.late, r.reads.failed, len(r.reads.took), len(r.faults), r.most.descriptors, r.most.goroutines,
			r.most.disk-r.begin.disk, r.processor.Seconds(), machineLoad(), r.answers), met)
	step(a.table.rows[len(a.table.rows)-1].got)
}

// reportRest waits until the service is at rest again, and reports which bounds it exceeds.
func (a *attack) reportRest(ctx context.Context) error {
	step("waiting for rest")
	began := time.Now()
	var u usage
	for {
		var err error
		if u, err = a.use(); err != nil {
			return err
		}
		if a.atRest(u) || time.Since(began) > attackRest {
			break
		}
		pause(ctx, watchInterval)
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	a.table.add("rest again", fmt.Sprintf("≤ %v, within %.0f MiB, %d descriptors, %d goroutines", attackRest, restMemory, restDescriptors, restGoroutines),
		fmt.Sprintf("%.0f s: %.0f MiB above rest, %+d descriptors, %+d goroutines, disk %+.0f MB", time.Since(began).Seconds(), a.above(u.memory),
			u.descriptors-a.rest.descriptors, u.goroutines-a.rest.goroutines, u.disk-a.rest.disk), a.atRest(u))
	return nil
}

func (a *attack) atRest(u usage) bool {
	return a.above(u.memory) <= restMemory && u.descriptors <= a.rest.descriptors+restDescriptors && u.goroutines <= a.rest.goroutines+restGoroutines
}
