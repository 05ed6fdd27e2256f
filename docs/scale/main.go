// Scale computes the tables of docs/scale.md: the resources that a number of drivers needs, and which resource reaches its capacity
// first. Each assumption is a flag; go run ./docs/scale -help lists them with their units and defaults. With -roads it computes the
// resources for the roads of a country and a continent.
package main

import (
	"bufio"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
)

func main() {
	if err := run(os.Args[1:], os.Stdout, os.Stderr); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(os.Stderr, "scale:", err)
		}
		os.Exit(2)
	}
}

// run prints the two tables for the numbers of drivers that args name.
func run(args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("scale", flag.ContinueOnError)
	flags.SetOutput(stderr)
	drivers := flags.String("drivers", "1000000,100000000", "drivers who use the service at all; several, parted by commas, are columns")
	roads := flags.Bool("roads", false, "compute what the roads of areas need instead")
	areas := flags.String("areas", defaultAreas, "with -roads: areas with the megabytes of their extracts, parted by commas")
	a := defaultAssumptions()
	defineFlags(flags, &a)
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("%q is no flag", flags.Arg(0))
	}
	if err := check(flags); err != nil {
		return err
	}
	if *roads {
		return printRoads(stdout, *areas, a.junctionsPerMB)
	}
	var columns []assumptions
	for text := range strings.SplitSeq(*drivers, ",") {
		n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if err != nil || n < 1 || n > 1e10 {
			return fmt.Errorf("-drivers: %q is no number from 1 to 10 000 000 000", text)
		}
		column := a
		column.drivers = n
		columns = append(columns, column)
	}
	out := bufio.NewWriter(stdout)
	printNeeds(out, columns)
	_, _ = fmt.Fprintln(out) // Flush returns the error
	printLimits(out, columns)
	return out.Flush()
}

// defaultAreas lists extracts as they are offered for download.
const defaultAreas = "Italy=2100,Germany=4400,Europe=31000"

// defineFlags defines a flag for each assumption.
func defineFlags(flags *flag.FlagSet, a *assumptions) {
	for _, f := range []struct {
		into       *float64
		name, what string
	}{
		{&a.onRoad, "on-road", "share of the drivers on the road at the busiest minute, above 0 to 1"},
		{&a.streaming, "streaming", "share of those who hold a stream, 0 to 1; the others poll"},
		{&a.pollEvery, "poll-every", "seconds between two polls of a driver without a stream"},
		{&a.alerts, "alerts", "requests for what lies ahead, in a minute and driver on the road"},
		{&a.kmh, "kmh", "mean speed, km/h"},
		{&a.leaveKM, "leave-km", "km from its middle at which a stream is opened again"},
		{&a.events, "events", "events on a stream in a minute"},
		{&a.votes, "votes", "votes of a driver on the road in an hour"},
		{&a.signedIn, "signed-in", "share of drivers with an account, 0 to 1"},
		{&a.entities, "entities", "entities on the map; 0: 2 000 000 × √(drivers / 1 000 000)"},
		{&a.feeds, "feeds", "feeds; 0: 2000 × √(drivers / 1 000 000)"},
		{&a.feedEvery, "feed-every", "seconds between two polls or batches of a feed"},
		{&a.changed, "changed", "rows of a poll or a batch that differ from what is stored"},
		{&a.shown, "shown", "entities in an answer"},
		{&a.entityText, "entity-bytes", "bytes of an entity in an answer"},
		{&a.packing, "packing", "how many times smaller a compressed answer is"},
		{&a.unmodified, "unmodified", "share of polls answered 304, 0 to 1"},
		{&a.upstreams, "upstreams", "upstreams that cover a place"},
		{&a.askEvery, "ask-every", "seconds between two calls of an upstream for one driver; less than 4 counts as 4"},
		{&a.cores, "cores", "cores of a node"},
		{&a.busy, "busy", "share of its cores that a node may be busy, above 0 to 1"},
		{&a.readCost, "read-cost", "µs of one core for a read that shows nothing (measured)"},
		{&a.entityCost, "entity-cost", "µs of one core for each entity that a read shows (measured)"},
		{&a.callCost, "call-cost", "what a call of an upstream costs a node, in reads"},
		{&a.openCost, "open-cost", "what opening a stream costs a node, in reads"},
		{&a.streamsMost, "streams-per-node", "streams that one node may hold (10 000 were measured)"},
		{&a.streamBytes, "stream-bytes", "memory of a stream in bytes (measured)"},
		{&a.indexBytes, "index-bytes", "memory of an entity in bytes (measured)"},
		{&a.loads, "loads", "entities a second that a node reads before it is ready (measured)"},
		{&a.baseBytes, "base-bytes", "memory of a node without entities and streams, in bytes"},
		{&a.takesOver, "takes-over", "changed rows a second that a node takes over (measured)"},
		{&a.commits, "commits", "transactions a second that the database commits one after the other"},
		{&a.rows, "rows", "rows a second that the database writes (measured)"},
		{&a.wire, "wire", "bytes a second that a machine sends"},
		{&a.rowBytes, "row-bytes", "bytes of a changed row, as nodes read it"},
		{&a.cacheOps, "cache-ops", "operations a second of one cache"},
		{&a.opsByLook, "ops-per-look", "operations of the cache for a look at live incidents"},
		{&a.upstreamHas, "upstream-calls", "calls a second that one upstream stands"},
		{&a.proxyReqs, "proxy-requests", "requests a second of one proxy"},
		{&a.proxyConns, "proxy-connections", "connections of one proxy"},
		{&a.junctionsPerMB, "junctions-per-mb", "with -roads: junctions for each megabyte of an extract"},
	} {
		flags.Float64Var(f.into, f.name, *f.into, f.what)
	}
}

// check rejects invalid values.
func check(flags *flag.FlagSet) error {
	var err error
	flags.VisitAll(func(f *flag.Flag) {
		getter, ok := f.Value.(flag.Getter)
		if !ok {
			return
		}
		v, ok := getter.Get().(float64)
		if !ok {
			return
		}
		least := math.SmallestNonzeroFloat64
		if slices.Contains([]string{"streaming", "alerts", "events", "votes", "signed-in", "entities", "feeds", "changed", "unmodified", "upstreams"}, f.Name) {
			least = 0
		}
		most := 1e15
		if slices.Contains([]string{"on-road", "streaming", "signed-in", "unmodified", "busy"}, f.Name) {
			most = 1
		}
		if !(v >= least && v <= most) { // NaN fails both comparisons
			err = errors.Join(err, fmt.Errorf("-%s: %v is out of range", f.Name, v))
		}
	})
	return err
}

// tableRow is one line of a table.
type tableRow struct {
	what, unit string
	of         func(results) float64
}

// needs returns the lines of the first table.
func needs() []tableRow {
	return []tableRow{
		{"drivers on the road", "", func(s results) float64 { return s.onRoad }},
		{"open streams", "", func(s results) float64 { return s.streams }},
		{"entities on the map", "", func(s results) float64 { return s.entities }},
		{"feeds", "", func(s results) float64 { return s.feeds }},
		{"requests", "/s", func(s results) float64 { return s.requests }},
		{"· polls", "/s", func(s results) float64 { return s.polls }},
		{"· what lies ahead", "/s", func(s results) float64 { return s.alerts }},
		{"· streams opened", "/s", func(s results) float64 { return s.opens }},
		{"looks of open streams", "/s", func(s results) float64 { return s.looks }},
		{"calls of each upstream", "/s", func(s results) float64 { return s.calls }},
		{"to drivers", "B/s", func(s results) float64 { return s.out }},
		{"**nodes**, one of them to spare", "", func(s results) float64 { return s.nodes }},
		{"· needed for the work", "", func(s results) float64 { return s.nodesByCPU }},
		{"· needed for the streams", "", func(s results) float64 { return s.nodesByStreams }},
		{"memory of each node", "B", func(s results) float64 { return s.nodeMemory }},
		{"from a node's start until it is ready", " s", func(s results) float64 { return s.ready }},
		{"rows changed by feeds", "/s", func(s results) float64 { return s.changes }},
		{"votes", "/s", func(s results) float64 { return s.votes }},
		{"transactions of entities and votes", "/s", func(s results) float64 { return s.transactions }},
		{"sessions noted", "/s", func(s results) float64 { return s.sessions }},
		{"from the database to all nodes", "B/s", func(s results) float64 { return s.followed }},
		{"operations of the cache", "/s", func(s results) float64 { return s.cacheOps }},
	}
}

func printNeeds(w io.Writer, columns []assumptions) {
	var table [][]string
	head := []string{"drivers"}
	for _, a := range columns {
		head = append(head, "**"+quantity(a.drivers, "")+"**")
	}
	table = append(table, head)
	for _, r := range needs() {
		line := []string{r.what}
		for _, a := range columns {
			line = append(line, quantity(r.of(calculate(a)), r.unit))
		}
		table = append(table, line)
	}
	printTable(w, table)
}

// printLimits prints the resources in the order in which they reach their capacity, at the last number of drivers.
func printLimits(w io.Writer, columns []assumptions) {
	head := []string{"what more nodes do not lift", "one bears"}
	all := make([][]singleResource, len(columns))
	for i, a := range columns {
		all[i] = singleResources(a, calculate(a))
		head = append(head, "load of "+quantity(a.drivers, ""))
	}
	last := all[len(all)-1]
	order := make([]int, len(last))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(last[j].utilization(), last[i].utilization()) })
	table := [][]string{head}
	for _, i := range order {
		line := []string{last[i].what, quantity(last[i].capacity, last[i].unit)}
		for _, column := range all {
			cell := fmt.Sprintf("%s = %.2g ×", quantity(column[i].load, column[i].unit), column[i].utilization())
			if times := column[i].utilization(); times >= 100 {
				cell = fmt.Sprintf("%s = %.0f ×", quantity(column[i].load, column[i].unit), times)
			}
			if column[i].utilization() > 1 {
				cell = "**" + cell + "**"
			}
			line = append(line, cell)
		}
		table = append(table, line)
	}
	printTable(w, table)
}

func printTable(w io.Writer, table [][]string) {
	for i, line := range table {
		_, _ = fmt.Fprintln(w, "| "+strings.Join(line, " | ")+" |") // Flush returns the error
		if i == 0 {
			_, _ = fmt.Fprintln(w, "| ---"+strings.Repeat(" | ---:", len(line)-1)+" |")
		}
	}
}

// quantity formats a number with two or three digits.
func quantity(v float64, unit string) string {
	prefixes := []string{"", " thousand", " million", " billion"}
	if strings.HasPrefix(unit, "B") {
		prefixes = []string{" ", " k", " M", " G", " T"}
	}
	i := 0
	for v >= 999.5 && i < len(prefixes)-1 {
		v /= 1000
		i++
	}
	digits := 0
	if v < 99.5 && v != math.Trunc(v) {
		digits = 1
	}
	if v < 0.95 && v > 0 {
		digits = 2
	}
	text := strings.TrimSuffix(strconv.FormatFloat(v, 'f', digits, 64), ".0")
	return text + prefixes[i] + unit
}
