package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"testing"
)

// TestPageHasTheProgramsTables compares the tables in docs/scale.md with the program's output.
func TestPageHasTheProgramsTables(t *testing.T) {
	page, err := os.ReadFile("../scale.md")
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	for _, args := range [][]string{nil, {"-roads"}} {
		if err := run(args, &out, io.Discard); err != nil {
			t.Fatal(err)
		}
		out.WriteByte('\n')
	}
	for table := range strings.SplitSeq(strings.TrimSpace(out.String()), "\n\n") {
		if !strings.Contains(string(page), "\n"+table+"\n") {
			t.Errorf("docs/scale.md lacks this table, which go run ./docs/scale prints, or go run ./docs/scale -roads:\n%s", table)
		}
	}
}

// TestPageNamesAssumptions checks that the page lists every assumption.
func TestPageNamesAssumptions(t *testing.T) {
	page, err := os.ReadFile("../scale.md")
	if err != nil {
		t.Fatal(err)
	}
	a := defaultAssumptions()
	flags := flag.NewFlagSet("", flag.ContinueOnError)
	defineFlags(flags, &a)
	flags.VisitAll(func(f *flag.Flag) {
		if !strings.Contains(string(page), "`-"+f.Name+"`") {
			t.Errorf("docs/scale.md does not mention -%s", f.Name)
		}
	})
}

// TestCalculate compares some results with calculations by hand.
func TestCalculate(t *testing.T) {
	a := defaultAssumptions()
	a.drivers, a.onRoad, a.streaming, a.pollEvery = 1000, 0.1, 0.5, 10
	a.alerts, a.kmh, a.leaveKM, a.votes, a.signedIn = 6, 36, 10, 3.6, 0.36
	a.entities, a.feeds, a.feedEvery, a.changed, a.events = 1e6, 60, 30, 10, 60
	s := calculate(a)
	for _, tt := range []struct {
		what      string
		got, want float64
	}{
		{"drivers on the road", s.onRoad, 100},
		{"streams", s.streams, 50},
		{"polls: 50 drivers every 10 s", s.polls, 5},
		{"alerts: 100 drivers, 6 a minute", s.alerts, 10},
		{"opens: 50 streams, 10 m/s, each 10 km", s.opens, 0.05},
		{"votes: 100 drivers, 3.6 an hour", s.votes, 0.1},
		{"sessions: 36 % of 100, once an hour", s.sessions, 0.01},
		{"requests", s.requests, 5 + 10 + 0.05 + 0.1},
		{"looks: every 5 s, and half of an event a second", s.looks, 50 * 0.7},
		{"calls: 50 streams every 5 s, 50 drivers every 10 s", s.calls, 15},
		{"nodes: two and a spare one", s.nodes, 3},
		{"memory", s.nodeMemory, 100e6 + 536e6 + 25*31_300},
		{"ready: a million at 385 000 a second", s.ready, 1000.0 / 385},
		{"rows: 2 polls a second with 10 each", s.changes, 20},
		{"transactions", s.transactions, 2.1},
		{"followed: 3 nodes, 20.1 rows", s.followed, 3 * 20.1 * 600},
	} {
		if math.Abs(tt.got-tt.want) > 1e-9*math.Abs(tt.want) {
			t.Errorf("%s: %v, want %v", tt.what, tt.got, tt.want)
		}
	}
	// 5 polls, 10 alerts, 35 looks, 0.05 × 4 for opening, 15 × 5 for calling; 81.6 µs each, of half of 8 cores.
	if got, want := s.nodesByCPU, 125.2*81.6e-6/4; math.Abs(got-want) > 1e-9 {
		t.Errorf("nodes for the work: %v, want %v", got, want)
	}
	a.askEvery = 1
	if got := calculate(a).calls; got != 50.0/4+5 {
		t.Errorf("an upstream is called %v times a second: more often than D8.3 permits", got)
	}
}

// TestGrowth checks that the map grows more slowly than the drivers, unless its size is given.
func TestGrowth(t *testing.T) {
	a := defaultAssumptions()
	a.drivers = 100e6
	if s := calculate(a); s.entities != 20e6 || s.feeds != 20_000 {
		t.Errorf("%v entities, %v feeds", s.entities, s.feeds)
	}
	a.entities, a.feeds = 5, 7
	if s := calculate(a); s.entities != 5 || s.feeds != 7 {
		t.Errorf("%v entities, %v feeds", s.entities, s.feeds)
	}
}

// TestEveryAssumptionHasAnEffect checks that changing any assumption changes the output.
func TestEveryAssumptionHasAnEffect(t *testing.T) {
	base := defaultAssumptions()
	base.entities, base.feeds = 2e6, 2000
	names := flag.NewFlagSet("", flag.ContinueOnError)
	defineFlags(names, new(assumptions))
	everything := func(a assumptions) string {
		var roads bytes.Buffer
		if err := printRoads(&roads, defaultAreas, a.junctionsPerMB); err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(calculate(a), singleResources(a, calculate(a)), roads.String())
	}
	want := everything(base)
	names.VisitAll(func(f *flag.Flag) {
		a := base
		flags := flag.NewFlagSet("", flag.ContinueOnError)
		defineFlags(flags, &a)
		old, ok := flags.Lookup(f.Name).Value.(flag.Getter).Get().(float64)
		if !ok {
			t.Fatalf("-%s is no number", f.Name)
		}
		if err := flags.Set(f.Name, fmt.Sprint(old*1.1)); err != nil {
			t.Fatal(err)
		}
		if everything(a) == want {
			t.Errorf("-%s changes nothing", f.Name)
		}
	})
}

// TestRoadsGrow checks that a network as large as a measured one costs what was measured, and a larger one more.
func TestRoadsGrow(t *testing.T) {
	largest := sizes[len(sizes)-1].size
	tenfold := size{10 * largest.junctions, 10 * largest.megabytes}
	for _, c := range costs() {
		if got, want := c.of(largest), c.measured[len(sizes)-1]; math.Abs(got-want) > 1e-9*want {
			t.Errorf("%s: %v, measured %v", c.what, got, want)
		}
		if grown := c.of(tenfold) / c.of(largest); grown <= 1 || c.least == 1 && grown < 9.999 || grown > 100 {
			t.Errorf("%s: ten times the region costs %v times as much", c.what, grown)
		}
	}
}

// TestRefusals checks that invalid numbers of drivers and invalid assumptions are rejected.
func TestRefusals(t *testing.T) {
	for _, args := range []string{"-drivers 0", "-drivers x", "-drivers 1,", "-on-road 0", "-on-road 1.1", "-poll-every 0", "-cores -1", "-busy NaN", "-unknown 1", "extra", "-roads -areas x", "-roads -areas =5", "-roads -areas a=0", "-roads -junctions-per-mb 0"} {
		var out bytes.Buffer
		if err := run(strings.Fields(args), &out, io.Discard); err == nil || out.Len() > 0 {
			t.Errorf("%s: %v, %q", args, err, out.String())
		}
	}
	for _, args := range []string{"-drivers 1", "-drivers 10000000000 -on-road 1", "-streaming 0 -alerts 0 -votes 0", "-upstreams 0"} {
		var out bytes.Buffer
		if err := run(strings.Fields(args), &out, io.Discard); err != nil || strings.Contains(out.String(), "NaN") || strings.Contains(out.String(), "Inf") {
			t.Errorf("%s: %v\n%s", args, err, out.String())
		}
	}
}

// TestQuantity checks the formatting of numbers.
func TestQuantity(t *testing.T) {
	for _, tt := range []struct {
		v          float64
		unit, want string
	}{
		{0, "", "0"},
		{0.044, "/s", "0.04/s"},
		{4.44, "/s", "4.4/s"},
		{444, "/s", "444/s"},
		{999.6, "", "1 thousand"},
		{80_000, "", "80 thousand"},
		{6.4e6, "", "6.4 million"},
		{1.25e9, "B/s", "1.2 GB/s"},
		{12, "B", "12 B"},
		{2e12, "", "2000 billion"},
	} {
		if got := quantity(tt.v, tt.unit); got != tt.want {
			t.Errorf("%v %s: %q, want %q", tt.v, tt.unit, got, tt.want)
		}
	}
}
