package graph_test

import (
	"bytes"
	"container/heap"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"wayside/internal/ground/geo"
	"wayside/internal/roads/graph"
	"wayside/internal/roads/roadtest"
)

// exported is a parsed export. The parser follows D15.12 alone.
type exported struct {
	version string
	nodes   []exportedNode
	arcs    []exportedArc
	turns   map[int][]exportedTurn // by the arc from which they lead
}

type exportedNode struct {
	at  geo.Point
	osm int64
}

type exportedArc struct {
	from, to, weight, duration, length int
	flags                              string
	copyOf                             int
	way                                int64
	line                               []geo.Point
}

type exportedTurn struct{ to, weight, duration int }

func export(t rapid.TB, g *graph.Graph) string {
	t.Helper()
	var text strings.Builder
	if err := graph.Export(&text, g, "v1"); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

func parseExport(t rapid.TB, text string) exported {
	t.Helper()
	e := exported{turns: map[int][]exportedTurn{}}
	number := func(s string) int {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	degrees := func(s string) float64 {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if n, err := fmt.Sscanf(lines[0], "# wayside-arcs 1 %s", &e.version); n != 1 || err != nil {
		t.Fatalf("first line %q", lines[0])
	}
	for _, line := range lines[1 : len(lines)-1] {
		fields := strings.Split(line, "\t")
		switch {
		case fields[0] == "N" && len(fields) == 5 && number(fields[1]) == len(e.nodes):
			e.nodes = append(e.nodes, exportedNode{geo.Point{Lat: degrees(fields[2]), Lng: degrees(fields[3])}, int64(number(fields[4]))})
		case fields[0] == "A" && len(fields) == 11 && number(fields[1]) == len(e.arcs):
			a := exportedArc{
				from: number(fields[2]), to: number(fields[3]), weight: number(fields[4]), duration: number(fields[5]), length: number(fields[6]),
				flags: fields[7], copyOf: number(fields[8]), way: int64(number(fields[9])),
			}
			for position := range strings.SplitSeq(fields[10], " ") {
				lng, lat, _ := strings.Cut(position, ",")
				a.line = append(a.line, geo.Point{Lat: degrees(lat), Lng: degrees(lng)})
			}
			e.arcs = append(e.arcs, a)
		case fields[0] == "T" && len(fields) == 5:
			from := number(fields[1])
			e.turns[from] = append(e.turns[from], exportedTurn{number(fields[2]), number(fields[3]), number(fields[4])})
		default:
			t.Fatalf("line %q", line)
		}
	}
	if want := fmt.Sprintf("# end %d %d", len(e.nodes), len(e.arcs)); lines[len(lines)-1] != want {
		t.Fatalf("last line %q, want %q", lines[len(lines)-1], want)
	}
	return e
}

// weights returns the weights of the best paths from the end of an arc to the beginning of every arc that can be reached
// with at least one turn.
func (e *exported) weights(from int) map[int]int {
	enter, leave := map[int]int{}, map[int]int{from: 0}
	queue := &arcHeap{{0, from}}
	for queue.Len() > 0 {
		next, _ := heap.Pop(queue).([2]int)
		if next[0] > leave[next[1]] {
			continue
		}
		for _, turn := range e.turns[next[1]] {
			at := next[0] + turn.weight
			if known, ok := enter[turn.to]; !ok || at < known {
				enter[turn.to] = at
			}
			at += e.arcs[turn.to].weight
			if known, ok := leave[turn.to]; !ok || at < known {
				leave[turn.to] = at
				heap.Push(queue, [2]int{at, turn.to})
			}
		}
	}
	return enter
}

type arcHeap [][2]int

func (h arcHeap) Len() int           { return len(h) }
func (h arcHeap) Less(i, j int) bool { return h[i][0] < h[j][0] }
func (h arcHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *arcHeap) Push(x any)        { *h = append(*h, x.([2]int)) }
func (h *arcHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// holdExport compares every field of an export with the graph, and weights from some arcs to others with those of the
// graph's Dijkstra. A route may end on an arc or on any copy of it.
func holdExport(t rapid.TB, g *graph.Graph, pairs int, random *rand.Rand) {
	t.Helper()
	e := parseExport(t, export(t, g))
	holdRecords(t, g, &e)
	copies := map[int][]graph.End{}
	for arc, a := range e.arcs {
		if strings.Contains(a.flags, "s") && a.copyOf != arc {
			t.Fatalf("a route may begin on arc %d, a copy", arc)
		}
		copies[a.copyOf] = append(copies[a.copyOf], graph.End{Arc: uint32(arc)})
	}
	d, weights := graph.NewDijkstra(g), g.Weights()
	for range min(pairs, len(e.arcs)) {
		from := e.arcs[random.IntN(len(e.arcs))].copyOf
		tree := e.weights(from)
		for range 20 {
			to := e.arcs[random.IntN(len(e.arcs))].copyOf
			want := math.MaxInt
			for _, end := range copies[to] {
				if at, ok := tree[int(end.Arc)]; ok {
					want = min(want, at)
				}
			}
			path, found := d.Route(weights, []graph.End{{Arc: uint32(from)}}, copies[to])
			if found != (want != math.MaxInt) || found && int(path.Weight) != want {
				t.Fatalf("from arc %d to %d: Dijkstra %d (%v), the export %d", from, to, path.Weight, found, want)
			}
		}
	}
}

func holdRecords(t rapid.TB, g *graph.Graph, e *exported) {
	t.Helper()
	if e.version != "v1" || len(e.nodes) != len(g.Nodes) || len(e.arcs) != len(g.Arcs) {
		t.Fatalf("version %q, %d nodes, %d arcs", e.version, len(e.nodes), len(e.arcs))
	}
	turns := 0
	for i, a := range e.arcs {
		arc, piece := g.Arcs[i], g.Pieces[g.Arcs[i].Piece]
		flags := ""
		if arc.Flags&graph.MayBegin != 0 {
			flags = "s"
		}
		if arc.Flags&graph.MayEnd != 0 {
			flags += "e"
		}
		if flags == "" {
			flags = "-"
		}
		line := slices.Clone(g.PieceLine(arc.Piece))
		if arc.Flags&graph.Backward != 0 {
			slices.Reverse(line)
		}
		points := make([]geo.Point, len(line))
		for j := range line {
			points[j] = line[j].Point()
		}
		want := exportedArc{
			int(arc.From), int(arc.To), int(arc.Weight), int(arc.Duration), int(piece.Length), flags, int(arc.CopyOf), g.Ways[piece.Way].OSM, points,
		}
		if fmt.Sprint(a) != fmt.Sprint(want) {
			t.Fatalf("arc %d: %+v, want %+v", i, a, want)
		}
		if e.nodes[a.from] != (exportedNode{points[0], g.Nodes[arc.From].OSM}) || e.nodes[a.to].at != points[len(points)-1] {
			t.Fatalf("arc %d does not lead from node %d to %d", i, a.from, a.to)
		}
		turns += len(e.turns[i])
	}
	if turns != len(g.Turns) {
		t.Fatalf("%d turns, want %d", turns, len(g.Turns))
	}
}

func TestD15_12ExportsOfExtracts(t *testing.T) {
	for _, path := range extracts(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			g, _ := roadtest.Build(t, graph.BuildOptions{}, openExtract(t, path))
			holdExport(t, g, 3, rand.New(rand.NewPCG(1, 2)))
		})
	}
}

func TestD15_12Export(t *testing.T) {
	n := roadtest.MapAt(t, geo.Point{Lat: -0.00005, Lng: -179.9995}, 100, "ab",
		roadtest.Way("ab", "highway=service, access=private"), roadtest.Way("ba", "highway=service, oneway=yes"))
	g, _ := roadtest.Build(t, graph.BuildOptions{}, n.File(t))
	want, err := os.ReadFile(filepath.Join("testdata", "export.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if got := export(t, g); got != string(want) {
		t.Errorf("got\n%s, want\n%s", got, want)
	}
}

// limitedWriter fails after a number of bytes.
type limitedWriter struct{ left int }

var errFull = fmt.Errorf("full")

func (w *limitedWriter) Write(b []byte) (int, error) {
	if w.left -= len(b); w.left < 0 {
		return 0, errFull
	}
	return len(b), nil
}

func TestExportTellsThatItCouldNotWrite(t *testing.T) {
	n := roadtest.Map(t, 100, "a-b-c", roadtest.Way("abc", "highway=primary"))
	g, _ := roadtest.Build(t, graph.BuildOptions{}, n.File(t))
	var whole bytes.Buffer
	if err := graph.Export(&whole, g, "v"); err != nil {
		t.Fatal(err)
	}
	if err := graph.Export(&limitedWriter{left: whole.Len() - 1}, g, "v"); err != errFull { //nolint:errorlint // returned unwrapped
		t.Errorf("%v", err)
	}
}
