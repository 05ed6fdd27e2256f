package graph_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"runtime"
	"testing"
	"time"

	"wayside/internal/roads/car"
	"wayside/internal/roads/graph"
	"wayside/internal/roads/osmpbf"
	"wayside/internal/roads/roadtest"
)

// extractWriter writes an extract object by object.
type extractWriter struct {
	testing.TB
	*osmpbf.Writer
	out bytes.Buffer
}

func newExtract(t testing.TB) *extractWriter {
	t.Helper()
	w := &extractWriter{TB: t}
	var err error
	if w.Writer, err = osmpbf.NewWriter(&w.out, osmpbf.WriterOptions{}); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *extractWriter) node(id int64, east, north float64) {
	w.Helper()
	if err := w.Node(osmpbf.Node{ID: id, Lng: int64(east * 1e9), Lat: int64(north * 1e9)}); err != nil {
		w.Fatal(err)
	}
}

func (w *extractWriter) road(id int64, refs ...int64) {
	w.Helper()
	if err := w.Way(osmpbf.Way{ID: id, Refs: refs, Tags: osmpbf.Tags{{Key: "highway", Value: "primary"}}}); err != nil {
		w.Fatal(err)
	}
}

func (w *extractWriter) restriction(id int64, value string, from, to int64, via ...osmpbf.Member) {
	w.Helper()
	members := []osmpbf.Member{{Ref: from, Role: "from", Type: osmpbf.Ways}, {Ref: to, Role: "to", Type: osmpbf.Ways}}
	tags := osmpbf.Tags{{Key: "type", Value: "restriction"}, {Key: "restriction", Value: value}}
	if err := w.Relation(osmpbf.Relation{ID: id, Tags: tags, Members: append(members, via...)}); err != nil {
		w.Fatal(err)
	}
}

// build closes the extract, builds it, and checks the time and memory that this takes.
func (w *extractWriter) build(within time.Duration, megabytes uint64) (*graph.Graph, graph.Counts) {
	w.Helper()
	if err := w.Close(); err != nil {
		w.Fatal(err)
	}
	file := roadtest.Open(w, w.out.Bytes())
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := roadtest.ProcessorTime(w)
	g, counts := roadtest.Build(w, graph.BuildOptions{}, file)
	took := roadtest.ProcessorTime(w) - start
	runtime.ReadMemStats(&after)
	if allocated := (after.TotalAlloc - before.TotalAlloc) >> 20; allocated > megabytes {
		w.Errorf("%d MiB allocated in all, want at most %d", allocated, megabytes)
	}
	if took > within {
		w.Errorf("it took %v of a processor, want at most %v", took, within)
	}
	if _, err := fromSections(sectionsOf(g)); err != nil {
		w.Error(err)
	}
	return g, counts
}

// TestCrowdedNodes checks that a node shared by thousands of ways does not get the square of them in turns.
func TestCrowdedNodes(t *testing.T) {
	w := newExtract(t)
	const ways = 5000
	w.node(1, 0, 0)
	for i := int64(2); i < ways+2; i++ {
		w.node(i, math.Cos(float64(i))/100, math.Sin(float64(i))/100)
	}
	for i := int64(2); i < ways+2; i++ {
		w.road(i, 1, i)
	}
	g, counts := w.build(20*time.Second, 100)
	if counts.LeftOut["crowded_junctions"] != 1 || len(g.Turns) != 2*ways {
		t.Errorf("%d turns, left out %v", len(g.Turns), counts.LeftOut)
	}
}

// TestManyRestrictions checks ten thousand restrictions at one node, and as many over ways.
func TestManyRestrictions(t *testing.T) {
	w := newExtract(t)
	const ways, restrictions = 60, 10_000
	w.node(1, 0, 0)
	w.node(2, 0.01, 0)
	for i := int64(10); i < 10+ways; i++ {
		w.node(i, -0.01, float64(i)/1000)
		w.node(1000+i, 0.02, float64(i)/1000)
	}
	w.road(1, 1, 2)
	for i := int64(10); i < 10+ways; i++ {
		w.road(i, i, 1)
		w.road(1000+i, 2, 1000+i)
	}
	for i := range int64(restrictions) {
		from, to := 10+i%ways, 10+i/ways%ways
		w.restriction(1+i, "no_left_turn", from, to, osmpbf.Member{Ref: 1, Role: "via", Type: osmpbf.Nodes})
		w.restriction(1+restrictions+i, "no_left_turn", from, 1000+to, osmpbf.Member{Ref: 1, Role: "via", Type: osmpbf.Ways})
	}
	g, counts := w.build(20*time.Second, 200)
	if counts.Restrictions.Applied != 2*restrictions || copies(g) != 0 && copies(g) > ways {
		t.Errorf("%+v, %d copies", counts.Restrictions, copies(g))
	}
}

// TestCopiesAreBounded checks restrictions that would need thousands of copies each.
func TestCopiesAreBounded(t *testing.T) {
	w := newExtract(t)
	const long, restrictions = 400, 200
	for i := int64(1); i <= long+1; i++ {
		w.node(i, float64(i)/1000, 0)
		w.node(10_000+i, float64(i)/1000, 0.001)
	}
	refs := make([]int64, long+1)
	for i := range refs {
		refs[i] = int64(i) + 1
	}
	w.road(1, refs...)
	for i := int64(1); i <= long+1; i++ {
		w.road(10_000+i, i, 10_000+i)
	}
	for i := range int64(restrictions) {
		w.node(20_000+i, -0.001, float64(i)/10_000)
	}
	for i := range int64(restrictions) {
		w.node(30_000+i, float64(i)/10_000, -0.001)
	}
	for i := range int64(restrictions) {
		w.road(20_000+i, 20_000+i, 1)
	}
	for i := range int64(restrictions) {
		w.restriction(1+i, "no_left_turn", 20_000+i, 10_000+long+1, osmpbf.Member{Ref: 1, Role: "via", Type: osmpbf.Ways})
	}
	g, counts := w.build(20*time.Second, 200)
	if n := copies(g); n > 2*len(g.Arcs)/3+1000 {
		t.Errorf("%d copies among %d arcs", n, len(g.Arcs))
	}
	if counts.Restrictions.Applied+counts.Restrictions.Ignored != restrictions {
		t.Errorf("%+v", counts.Restrictions)
	}
}

// TestRestrictionsInCircles checks restrictions whose ways form loops.
func TestRestrictionsInCircles(t *testing.T) {
	w := newExtract(t)
	for i, at := range [][2]float64{{0, 0}, {1, 0}, {1, 1}, {0, 1}} {
		w.node(int64(i)+1, at[0]/100, at[1]/100)
	}
	ways := []int64{1, 2, 3, 4}
	for _, way := range ways {
		w.road(way, way, way%4+1)
	}
	id := int64(0)
	for _, from := range ways {
		for _, to := range ways {
			for length := 1; length <= 12; length++ {
				var via []osmpbf.Member
				for i := range length {
					via = append(via, osmpbf.Member{Ref: (from+int64(i))%4 + 1, Role: "via", Type: osmpbf.Ways})
				}
				for _, value := range []string{"no_x", "only_x"} {
					id++
					w.restriction(id, value, from, to, via...)
				}
			}
		}
	}
	_, counts := w.build(20*time.Second, 100)
	if counts.Restrictions.Applied == 0 {
		t.Errorf("%+v, left out %v", counts.Restrictions, counts.LeftOut)
	}
}

// TestLongWays checks a way of a hundred thousand nodes, once straight and once back and forth between two nodes.
func TestLongWays(t *testing.T) {
	w := newExtract(t)
	const nodes = 100_000
	straight, back := make([]int64, nodes), make([]int64, nodes)
	for i := range int64(nodes) {
		w.node(i+1, float64(i)/1e4, 0)
		straight[i], back[i] = i+1, i%2+1
	}
	w.road(1, straight...)
	w.road(2, back...)
	g, counts := w.build(20*time.Second, 400)
	if counts.LeftOut["crowded_junctions"] != 2 || len(g.Line) < nodes {
		t.Errorf("%d positions, left out %v", len(g.Line), counts.LeftOut)
	}
}

// TestMoreReferencesThanTheFileHasBytes checks that an extract with more references than bytes, as extreme compression
// allows, is refused.
func TestMoreReferencesThanTheFileHasBytes(t *testing.T) {
	w := newExtract(t)
	refs := make([]int64, 250_000)
	for i := range refs {
		refs[i] = 1 + int64(i%2)
	}
	for i := range int64(10) {
		w.road(i+1, refs...)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	p, err := car.New()
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = graph.Build(t.Context(), []*osmpbf.File{roadtest.Open(t, w.out.Bytes())}, p, graph.BuildOptions{})
	if !errors.Is(err, graph.ErrTooLarge) {
		t.Errorf("%v", err)
	}
}

// TestAbsurdTags checks roads with extremely long, odd and large values of tags.
func TestAbsurdTags(t *testing.T) {
	w := newExtract(t)
	w.node(1, 0, 0)
	w.node(2, 179, 89)
	id := int64(0)
	for _, key := range []string{"name", "ref", "lanes", "maxspeed", "maxspeed:forward", "duration", "width", "turn:lanes", "junction", "driving_side", "access", "oneway", "destination", "maxheight"} {
		for _, value := range []string{"", "-1", "0", "1e308", "NaN", "9999999999999999999999", "\xff\xfe", "PT999999H", "999999:00", fmt.Sprint(math.MaxInt64), string(make([]byte, 5000))} {
			id++
			tags := osmpbf.Tags{{Key: "route", Value: "ferry"}, {Key: key, Value: value}, {Key: "", Value: ""}}
			if err := w.Way(osmpbf.Way{ID: id, Refs: []int64{1, 2}, Tags: tags}); err != nil {
				t.Fatal(err)
			}
		}
	}
	g, _ := w.build(20*time.Second, 100)
	for i, a := range g.Arcs {
		if a.Weight == 0 || a.Weight == graph.Closed || a.Duration > a.Weight {
			t.Errorf("arc %d: %+v", i, a)
		}
	}
}

func TestNoRoadAtAll(t *testing.T) {
	w := newExtract(t)
	w.node(1, 0, 0)
	g, counts := w.build(20*time.Second, 50)
	if len(g.Arcs) != 0 || counts.Nodes != 1 || counts.Junctions != 0 {
		t.Errorf("%+v", counts)
	}
}
