// Command bench measures the service on this machine against its goals and prints one table. It builds the binary, fills a
// store with clustered entities, and loads the service over HTTP, always against a minimal net/http handler that writes a fixed
// body of the same size, so that ratios are independent of the machine. Run it with make bench; BENCH=small uses 100 000
// entities instead of 1 000 000.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"time"
)

func main() {
	var o options
	flag.IntVar(&o.entities, "entities", 1_000_000, "entities in the store")
	flag.DurationVar(&o.round, "round", 4*time.Second, "length of one measured round")
	flag.IntVar(&o.rounds, "rounds", 3, "rounds of each side of a comparison")
	flag.StringVar(&o.dir, "dir", "", "working directory; empty: a temporary one, removed afterwards")
	bare := flag.Int("bare", 0, "serve a fixed body of this size instead (used by bench itself)")
	indexed := flag.Int("index", 0, "measure an index of so many entities instead (used by bench itself)")
	flag.BoolVar(&o.streams, "streams", false, "measure streams alone, on a service without entities")
	flag.BoolVar(&o.viewsOnly, "views", false, "measure views of the map alone")
	flag.BoolVar(&o.readsOnly, "reads", false, "measure reads alone")
	flag.StringVar(&o.profiles, "profiles", "", "write processor profiles of the service while it is read into this directory; they slow it by a few per cent")
	flag.StringVar(&o.tile38Program, "tile38", "", "the tile38-server to compare with; empty: one is built with go install")
	flag.BoolVar(&o.cluster, "cluster", false, "measure nodes on PostgreSQL and a large index instead")
	flag.BoolVar(&o.navigation, "navigation", false, "measure the import of roads, and routes, instead")
	flag.StringVar(&o.extract, "extract", "", "the OpenStreetMap extract (PBF) of -navigation; make bench gives that of Milan in the folder that WAYSIDE_TEST_OSM names")
	flag.StringVar(&o.osrm, "osrm", "", "with -navigation, the URL of an osrm-routed that serves the same extract, to compare with")
	flag.BoolVar(&o.million, "million", false, "with -navigation, also measure the router on a network of a million junctions, which takes minutes")
	flag.BoolVar(&o.ahead, "ahead", false, "count how good alerts along roads are instead; -extract names extracts, parted by commas")
	flag.IntVar(&o.routes, "routes", 1000, "with -ahead, routes on each network")
	flag.BoolVar(&o.sessionsOnly, "sessions", false, "with -navigation, measure sessions alone")
	flag.BoolVar(&o.bridges, "bridges", false, "measure the bridges of other formats instead")
	flag.StringVar(&o.documents, "documents", "", "with -bridges, a folder of real documents, a folder in it for each format; make bench gives the one that WAYSIDE_TEST_FORMATS names")
	flag.IntVar(&o.count, "hostile", 0, "send so many hostile requests instead, and count answers of 500 and more")
	flag.Uint64Var(&o.seed, "seed", 1, "with -hostile, the seed of all chance")
	flag.BoolVar(&o.attack, "attack", false, "attack a service instead, as strangers with two mailboxes could; -extract names its region, and without it a town is generated")
	flag.DurationVar(&o.each, "each", 20*time.Second, "with -attack, how long each door is attacked alone; 0: none is")
	flag.DurationVar(&o.allDoors, "all", 5*time.Minute, "with -attack, how long all doors are attacked at once; 0: they are not")
	flag.StringVar(&o.doors, "doors", "", "with -attack, names of doors, parted by semicolons; empty: all")
	flag.StringVar(&o.program, "program", "", "with -attack, the program to attack; empty: it is built")
	role := flag.String("role", "", "be the flood or the reader of -attack (used by bench itself)")
	runs := flag.Int("runs", 1, "measure everything so many times, and print the median of each row with the range")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := error(nil)
	switch {
	case *role != "":
		err = runRole(ctx, *role, os.Stdin, os.Stdout)
	case *bare > 0:
		err = serveBare(*bare)
	case *indexed > 0:
		err = printIndex(*indexed)
	default:
		err = runAll(ctx, o, *runs)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

type options struct {
	entities, rounds int
	round            time.Duration
	dir              string
	streams, cluster bool
	readsOnly        bool
	viewsOnly        bool
	profiles         string
	tile38Program    string
	navigation       bool
	extract          string
	osrm             string
	million          bool
	sessionsOnly     bool
	ahead            bool
	routes           int
	bridges          bool
	documents        string
	count            int
	seed             uint64
	attack           bool
	each, allDoors   time.Duration
	doors, program   string
}

// runAll measures everything a number of times and prints one table: that of a single run, or the medians of several.
func runAll(ctx context.Context, o options, runs int) (err error) {
	var tables []*table
	defer func() {
		combined, mismatch := medians(tables)
		combined.print()
		err = errors.Join(err, mismatch)
	}()
	for i := range max(1, runs) {
		if runs > 1 {
			step(fmt.Sprintf("run %d of %d", i+1, runs))
		}
		t := &table{}
		tables = append(tables, t)
		each := o
		if o.dir != "" && runs > 1 {
			each.dir = filepath.Join(o.dir, fmt.Sprint(i+1))
		}
		if err := run(ctx, each, t); err != nil {
			return err
		}
	}
	return nil
}

// run runs all steps, in an order in which each leaves the service in the state that the next one needs.
func run(ctx context.Context, o options, t *table) (err error) {
	if o.dir == "" {
		if o.dir, err = os.MkdirTemp("", "wayside-bench-"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(o.dir)) }()
	}
	if err := os.MkdirAll(o.dir, 0o700); err != nil {
		return err
	}
	b := &bench{options: o, table: t}
	if o.ahead {
		return b.runAhead(ctx)
	}
	if o.bridges {
		return b.runBridges(ctx)
	}
	if b.provider, err = newProvider(filepath.Join(o.dir, "ca.pem")); err != nil {
		return err
	}
	defer b.provider.close()
	if b.relay, err = newRelay(); err != nil {
		return err
	}
	defer b.relay.close()
	step("building the binary")
	if err := b.build(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.stop()) }()
	if o.count > 0 {
		return b.runHostile(ctx)
	}
	if o.navigation {
		return b.runNavigation(ctx)
	}
	if o.attack {
		return b.runAttack(ctx)
	}
	if err := b.start(ctx); err != nil {
		return err
	}
	if o.cluster {
		return b.runCluster(ctx)
	}
	if o.streams {
		return b.all(ctx, []measurement{{"signing in and registering feeds", b.prepare}, {"opening streams", b.runStreams}})
	}
	reading := []measurement{
		{"signing in and registering feeds", b.prepare},
		{"filling the store", b.fill},
		{"restarting", b.restart},
		{"reading", b.reads},
		{"reading views of the map", b.views},
		{"reading beside Tile38", b.besideTile38},
	}
	// With an upstream, every read without a list of sources includes incidents, so these steps come last.
	live := []measurement{
		{"starting with an upstream of live incidents", b.startLive},
		{"reading live incidents", b.liveReads},
	}
	if o.viewsOnly {
		return b.all(ctx, []measurement{reading[0], reading[1], {"reading views of the map", b.views}})
	}
	if o.readsOnly {
		return b.all(ctx, append(reading, live...))
	}
	return b.all(ctx, slices.Concat(reading, []measurement{
		{"searching the index alone", b.search},
		{"a pushed entity becomes readable", b.visible},
		{"pushing, alone and beside reads", b.pushes},
		{"polling a snapshot", b.snapshot},
	}, live, []measurement{
		{"reading while the upstream hangs", b.hanging},
	}))
}

// measurement is one step.
type measurement struct {
	name string
	do   func(context.Context) error
}

// all runs the steps.
func (b *bench) all(ctx context.Context, steps []measurement) error {
	for _, measure := range steps {
		step(measure.name)
		if err := measure.do(ctx); err != nil {
			return fmt.Errorf("%s: %w", measure.name, err)
		}
	}
	return nil
}

func step(text string) { fmt.Fprintln(os.Stderr, time.Now().Format("15:04:05"), text) }
