package cch_test

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"testing"

	"wayside/internal/roads/cch"
	"wayside/internal/roads/graph"
)

// sectionsOf copies the sections of a topology into memory that is aligned like a file's.
func sectionsOf(topology *cch.Topology) map[string][]byte {
	sections := make(map[string][]byte)
	for _, s := range topology.Sections() {
		sections[s.Name] = append(make([]byte, 0, len(s.Bytes)+8), s.Bytes...)
	}
	return sections
}

func fromSections(g *graph.Graph, sections map[string][]byte) (*cch.Topology, error) {
	return cch.FromSections(g, func(name string) ([]byte, bool) {
		raw, ok := sections[name]
		return raw, ok
	})
}

func TestSectionsMakeTheSameTopology(t *testing.T) {
	g := town(rand.New(rand.NewPCG(5, 6)), 20, 20)
	topology, metric := prepared(t, g)
	again, err := fromSections(g, sectionsOf(topology))
	if err != nil {
		t.Fatal(err)
	}
	same(t, again, metric, g.Weights())
	c := comparison{t: t, graph: g, query: cch.NewQuery(again), dijkstra: graph.NewDijkstra(g), random: rand.New(rand.NewPCG(7, 8))}
	c.compare(metric, g.Weights(), 100)
}

// TestPrepareIsDeterministic checks that the same graph gives the same bytes, whatever the number of workers.
func TestPrepareIsDeterministic(t *testing.T) {
	g := town(rand.New(rand.NewPCG(5, 6)), 300, 15) // large enough for several goroutines
	var want map[string][]byte
	for _, workers := range []int{1, 7} {
		topology, err := cch.Prepare(context.Background(), g, cch.PrepareOptions{Workers: workers})
		if err != nil {
			t.Fatal(err)
		}
		got := sectionsOf(topology)
		if want == nil {
			want = got
		}
		for name := range want {
			if !bytes.Equal(want[name], got[name]) {
				t.Errorf("%d workers give another %s", workers, name)
			}
		}
	}
}

// TestForgedSectionsAreBounded checks that forged bytes are refused, or give a topology that neither panics nor runs
// forever.
func TestForgedSectionsAreBounded(t *testing.T) {
	// With one processor, customising has one worker. In a topology with forged levels, two workers would read what the
	// other one writes. That is harmless, because the costs are wrong anyway, but the race detector would report it.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	random := rand.New(rand.NewPCG(9, 10))
	g := town(random, 8, 8)
	topology, _ := prepared(t, g)
	refused := 0
	attempts := draw(2000, 100_000)
	for range attempts {
		sections := sectionsOf(topology)
		for range 1 + random.IntN(3) {
			s := topology.Sections()[random.IntN(len(topology.Sections()))]
			raw := sections[s.Name]
			if random.IntN(50) == 0 {
				sections[s.Name] = raw[:random.IntN(len(raw))]
				continue
			}
			at := random.IntN(len(raw))
			if random.IntN(2) == 0 {
				raw[at] ^= 1 << random.IntN(8)
			} else {
				copy(raw[at&^3:], raw[random.IntN(len(raw))&^3:][:min(4, len(raw)-at&^3)])
			}
		}
		forged, err := fromSections(g, sections)
		if err != nil {
			if !errors.Is(err, cch.ErrBadSections) {
				t.Fatal(err)
			}
			refused++
			continue
		}
		use(t, random, g, forged)
	}
	if refused == 0 || refused == attempts {
		t.Errorf("%d of %d were refused", refused, attempts)
	}
	for name := range sectionsOf(topology) {
		sections := sectionsOf(topology)
		delete(sections, name)
		if _, err := fromSections(g, sections); !errors.Is(err, cch.ErrBadSections) {
			t.Errorf("without %s: %v", name, err)
		}
	}
}

// use calls everything that a topology offers, and ignores the results.
func use(t *testing.T, random *rand.Rand, g *graph.Graph, topology *cch.Topology) {
	metric, err := topology.Customize(context.Background(), g.Weights())
	if err != nil {
		t.Fatal(err)
	}
	weights := g.Weights()
	change(random, g, metric, weights)
	view := metric.View()
	defer view.Release()
	c := comparison{graph: g, random: random}
	query := cch.NewQuery(topology)
	for range 5 {
		query.Route(view, c.ends(), c.ends())
	}
	runtime.KeepAlive(metric)
}
