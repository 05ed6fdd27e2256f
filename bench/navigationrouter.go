package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"wayside/internal/roads/cch"
	"wayside/internal/roads/graph"
)

const (
	pairsMeasured = 10_000
	tableSide     = 100
	jamsAtOnce    = 1000
)

// router is a network in this process on which routes are found, and the goals for it.
type router struct {
	name     string
	table    *table
	graph    *graph.Graph
	topology *cch.Topology
	metric   *cch.Metric
	pairs    [][2]graph.End
	goals    routerGoals
}

type routerGoals struct {
	p50, p99      time.Duration // 0: none
	ratio         float64       // of our Dijkstra's time
	dijkstraPairs int
	jams, full    time.Duration // 0: none; full on one core
}

func (n *navigation) routerOfExtract(ctx context.Context) error {
	if err := n.stop(); err != nil { // so that the service takes no time from the measurements
		return err
	}
	r := router{
		name: "", table: n.table, graph: n.region.Graph, topology: n.region.Topology,
		goals: routerGoals{p50: 100 * time.Microsecond, p99: 400 * time.Microsecond, ratio: 150, dijkstraPairs: 300, full: 60 * time.Millisecond},
	}
	return r.measure(ctx)
}

func (r *router) measure(ctx context.Context) error {
	r.pairs = randomPairs(r.graph, pairsMeasured)
	for _, do := range []func(context.Context) error{r.customize, r.search, r.tables, r.closeOne, r.jam} {
		if err := do(ctx); err != nil {
			return err
		}
		runtime.GC()
	}
	return nil
}

// customize measures full customisation on one core and on all, without the memory that is allocated once.
func (r *router) customize(ctx context.Context) error {
	took := func(cores, rounds int) (float64, error) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
		var all []float64
		for range rounds {
			began := time.Now()
			metric, err := r.topology.Customize(ctx, r.graph.Weights())
			if err != nil {
				return 0, err
			}
			all = append(all, ms(time.Since(began)))
			r.metric = metric
		}
		return median(all), nil
	}
	one, err := took(1, 9)
	if err != nil {
		return err
	}
	every, err := took(runtime.NumCPU(), 9)
	if err != nil {
		return err
	}
	got := fmt.Sprintf("%.1f ms (%.1f on %d)", one, every, runtime.NumCPU())
	if r.goals.full == 0 {
		r.table.note(r.name+"full customisation on one core", got)
		return nil
	}
	r.table.add(r.name+"full customisation on one core", fmt.Sprintf("≤ %.0f ms", ms(r.goals.full)), got, one <= ms(r.goals.full))
	return nil
}

// search measures the search for routes, with our Dijkstra beside it on some of the same pairs, in turns.
func (r *router) search(context.Context) error {
	query, view := cch.NewQuery(r.topology), r.metric.View()
	defer view.Release()
	route := func(i int) (graph.Path, bool) { return query.Route(view, r.pairs[i][:1], r.pairs[i][1:]) }
	for i := range r.pairs[:1000] {
		route(i)
	}
	var before, after runtime.MemStats
	took := make([]time.Duration, 0, len(r.pairs))
	runtime.ReadMemStats(&before)
	for i := range r.pairs {
		began := time.Now()
		route(i)
		took = append(took, time.Since(began))
	}
	runtime.ReadMemStats(&after)
	allocations := after.Mallocs - before.Mallocs
	p50, p99 := quantiles(took)
	goal, met := fmt.Sprintf("≤ %.0f µs", µs(r.goals.p50)), p50 <= r.goals.p50
	if r.goals.p99 != 0 {
		goal, met = fmt.Sprintf("≤ %.0f / %.0f µs", µs(r.goals.p50), µs(r.goals.p99)), met && p99 <= r.goals.p99
	}
	r.table.add(r.name+"search and path, p50 / p99", goal, fmt.Sprintf("%.0f / %.0f µs", µs(p50), µs(p99)), met)
	r.table.add(r.name+"allocations of a search", "0", fmt.Sprintf("%.4f", float64(allocations)/float64(len(r.pairs))), allocations < uint64(len(r.pairs)/100))
	return r.besideDijkstra(route)
}

// besideDijkstra compares medians, in turns of several pairs each: a single search would find the processor's caches full of the
// other search's data.
func (r *router) besideDijkstra(route func(i int) (graph.Path, bool)) error {
	const turn = 100
	dijkstra, weights := graph.NewDijkstra(r.graph), r.graph.Weights()
	var ours, theirs []time.Duration
	var weighs [turn]uint64
	for first := 0; first < r.goals.dijkstraPairs; first += turn {
		for i := range turn {
			began := time.Now()
			path, _ := route(first + i)
			ours = append(ours, time.Since(began))
			weighs[i] = path.Weight
		}
		for i := range turn {
			pair := &r.pairs[first+i]
			began := time.Now()
			path, _ := dijkstra.Route(weights, pair[:1], pair[1:])
			theirs = append(theirs, time.Since(began))
			if path.Weight != weighs[i] {
				return fmt.Errorf("pair %d weighs %d instead of %d", first+i, weighs[i], path.Weight)
			}
		}
	}
	p50, _ := quantiles(ours)
	dijkstra50, _ := quantiles(theirs)
	ratio := float64(dijkstra50) / float64(p50)
	r.table.add(r.name+fmt.Sprintf("our Dijkstra / the search, p50 of %d pairs", len(ours)), fmt.Sprintf("≥ %.0f ×", r.goals.ratio),
		fmt.Sprintf("%.0f × (%.1f ms / %.0f µs)", ratio, ms(dijkstra50), µs(p50)), ratio >= r.goals.ratio)
	return nil
}

// tables measures tables with durations and lengths, as the API answers them.
func (r *router) tables(ctx context.Context) error {
	query, view := cch.NewQuery(r.topology), r.metric.View()
	defer view.Release()
	request := cch.TableRequest{Arc: func(arc uint32) cch.Measure {
		return cch.Measure{Duration: uint64(r.graph.Arcs[arc].Duration), Length: 1}
	}}
	for _, pair := range r.pairs[:tableSide] {
		request.From, request.To = append(request.From, []graph.End{pair[0]}), append(request.To, []graph.End{pair[1]})
	}
	cells := make([]cch.Cell, tableSide*tableSide)
	var took []time.Duration
	for range 31 {
		began := time.Now()
		if err := query.Table(ctx, view, request, cells); err != nil {
			return err
		}
		took = append(took, time.Since(began))
	}
	p50, _ := quantiles(took)
	got := fmt.Sprintf("%.1f ms", ms(p50))
	if r.name != "" {
		r.table.note(r.name+"table 100 × 100", got)
		return nil
	}
	const goal = 40 * time.Millisecond
	r.table.add("table 100 × 100, of the router alone", "≤ 40 ms", got, p50 <= goal)
	return nil
}

// closeOne closes random arcs, one at a time, and opens each again.
func (r *router) closeOne(context.Context) error {
	const goal = 5 * time.Millisecond
	random := rand.New(rand.NewPCG(1, 2))
	var took []time.Duration
	for range 1000 {
		arc := random.Uint32N(uint32(len(r.graph.Arcs)))
		began := time.Now()
		r.metric.Update([]cch.ArcWeight{{Arc: arc, Weight: graph.Closed}})
		took = append(took, time.Since(began))
		r.metric.Update([]cch.ArcWeight{{Arc: arc, Weight: r.graph.Arcs[arc].Weight}})
	}
	p50, p99 := quantiles(took)
	r.table.add(r.name+"one closure customised, p99 of 1 000", "≤ 5 ms", fmt.Sprintf("%.2f ms (median %.2f)", ms(p99), ms(p50)), p99 <= goal)
	return nil
}

// jam slows a thousand random arcs in one update.
func (r *router) jam(context.Context) error {
	random := rand.New(rand.NewPCG(3, 4))
	changes := make([]cch.ArcWeight, jamsAtOnce)
	var took []time.Duration
	for range 21 {
		for i := range changes {
			arc := random.Uint32N(uint32(len(r.graph.Arcs)))
			changes[i] = cch.ArcWeight{Arc: arc, Weight: r.graph.Arcs[arc].Weight * (1 + random.Uint32N(3))}
		}
		began := time.Now()
		r.metric.Update(changes)
		took = append(took, time.Since(began))
	}
	p50, _ := quantiles(took)
	what, got := r.name+"1 000 jams customised at once", fmt.Sprintf("%.0f ms (highest %.0f)", ms(p50), ms(slices.Max(took)))
	if r.goals.jams == 0 {
		r.table.note(what, got)
		return nil
	}
	r.table.add(what, fmt.Sprintf("≤ %.0f ms", ms(r.goals.jams)), got, p50 <= r.goals.jams)
	return nil
}

// randomPairs returns pairs of arcs of the largest island, the same ones in each run.
func randomPairs(g *graph.Graph, count int) [][2]graph.End {
	random := rand.New(rand.NewPCG(1, 2))
	pairs := make([][2]graph.End, count)
	for i := range pairs {
		pairs[i] = [2]graph.End{{Arc: randomArc(g, random)}, {Arc: randomArc(g, random)}}
	}
	return pairs
}

// randomArc returns an arc of the largest island on which routes may begin and end.
func randomArc(g *graph.Graph, random *rand.Rand) uint32 {
	const ends = graph.MayBegin | graph.MayEnd
	for {
		arc := random.Uint32N(uint32(len(g.Arcs)))
		if a := &g.Arcs[arc]; a.Island == 0 && a.CopyOf == arc && a.Flags&ends == ends {
			return arc
		}
	}
}

// quantiles sorts durations and returns the median and the 99th percentile.
func quantiles(took []time.Duration) (p50, p99 time.Duration) {
	slices.Sort(took)
	return took[len(took)/2], took[len(took)*99/100]
}

func µs(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 }
