package match_test

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"wayside/internal/ground/geo"
	"wayside/internal/roads/graph"
	"wayside/internal/roads/match"
)

// pieces makes a graph that contains only these lines.
func pieces(lines ...[]graph.Position) *graph.Graph {
	g := &graph.Graph{}
	for i, line := range lines {
		length := 0.0
		for j := range line[1:] {
			length += geo.Distance(line[j].Point(), line[j+1].Point())
		}
		g.Pieces = append(g.Pieces, graph.Piece{
			FirstLine: uint32(len(g.Line)), Positions: uint32(len(line)), Length: uint32(min(math.Round(length*1000), math.MaxUint32)),
			Forward: uint32(2 * i), Backward: uint32(2*i + 1),
		})
		g.Line = append(g.Line, line...)
	}
	return g
}

func at(lng, lat float64) graph.Position {
	return graph.Position{Lng: int32(math.Round(lng * 1e7)), Lat: int32(math.Round(lat * 1e7))}
}

// randomLines returns roads of some hundred metres around a place, and a few long ones.
func randomLines(r *rand.Rand, n int, around geo.Point, spread float64) [][]graph.Position {
	var lines [][]graph.Position
	for range n {
		lng, lat := around.Lng+spread*(r.Float64()-0.5), around.Lat+spread*(r.Float64()-0.5)
		step := 0.002
		if r.IntN(20) == 0 {
			step = 0.3 * spread
		}
		var line []graph.Position
		for range 2 + r.IntN(5) {
			line = append(line, at(math.Remainder(lng, 360), max(-90, min(90, lat))))
			lng, lat = lng+step*(r.Float64()-0.5), lat+step*(r.Float64()-0.5)
		}
		lines = append(lines, line)
	}
	return lines
}

// TestNearestAgreesWithLookingAtAll checks that the index finds the same as a look at every segment, anywhere on the
// globe.
func TestNearestAgreesWithLookingAtAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		around := rapid.SampledFrom([]geo.Point{{Lat: 45.46, Lng: 9.19}, {Lat: 1, Lng: 179.99}, {Lat: -16, Lng: -179.98}, {Lat: 78, Lng: 15}, {Lat: -0.001, Lng: 0}}).Draw(t, "around")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		spread := rapid.SampledFrom([]float64{0.02, 0.2, 1}).Draw(t, "spread")
		g := pieces(randomLines(r, rapid.IntRange(0, 300).Draw(t, "pieces"), around, spread)...)
		x := match.NewIndex(g)
		p := geo.Point{Lat: around.Lat + spread*(r.Float64()-0.5), Lng: math.Remainder(around.Lng+spread*(r.Float64()-0.5), 360)}
		o := match.Nearest{Within: rapid.SampledFrom([]float64{100, 2000, 10_000}).Draw(t, "within"), Count: rapid.IntRange(1, 20).Draw(t, "count")}
		if rapid.Bool().Draw(t, "some") {
			o.Accept = func(piece uint32) bool { return piece%3 == 1 }
		}
		got := x.Nearest(nil, p, o)

		var want []float64
		for i := range g.Pieces {
			if o.Accept != nil && !o.Accept(uint32(i)) {
				continue
			}
			best := math.Inf(1)
			line := g.PieceLine(uint32(i))
			for j := range line[1:] {
				best = math.Min(best, geo.Distance(p, geo.NearestOnSegment(p, line[j].Point(), line[j+1].Point())))
			}
			if best <= o.Within {
				want = append(want, best)
			}
		}
		slices.Sort(want)
		want = want[:min(len(want), o.Count)]
		if len(got) != len(want) {
			t.Fatalf("%d places, want %d", len(got), len(want))
		}
		for i := range got {
			if tolerance := 0.02 + want[i]*1e-4; math.Abs(got[i].Distance-want[i]) > tolerance {
				t.Fatalf("place %d is %f m away, want %f", i, got[i].Distance, want[i])
			}
		}
		if !slices.IsSortedFunc(got, func(a, b match.Place) int { return cmp.Compare(math.Round(a.Distance), math.Round(b.Distance)) }) {
			t.Fatal("not the nearest first")
		}
	})
}

func TestPlaceOnPiece(t *testing.T) {
	g := pieces([]graph.Position{at(9, 45), at(9.01, 45), at(9.01, 45.02)})
	first, second := geo.Distance(geo.Point{Lat: 45, Lng: 9}, geo.Point{Lat: 45, Lng: 9.01}), geo.Distance(geo.Point{Lat: 45, Lng: 9.01}, geo.Point{Lat: 45.02, Lng: 9.01})
	for name, c := range map[string]struct {
		from    geo.Point
		segment uint32
		share   float64
	}{
		"before the beginning": {geo.Point{Lat: 45, Lng: 8.999}, 0, 0},
		"beside the first":     {geo.Point{Lat: 45.0005, Lng: 9.005}, 0, first / 2 / (first + second)},
		"beside the second":    {geo.Point{Lat: 45.01, Lng: 9.011}, 1, (first + second/2) / (first + second)},
		"beyond the end":       {geo.Point{Lat: 45.03, Lng: 9.01}, 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			got := match.NewIndex(g).Nearest(nil, c.from, match.Nearest{Within: 5000, Count: 2})
			if len(got) != 1 || got[0].Segment != c.segment || math.Abs(got[0].Share-c.share) > 1e-4 {
				t.Errorf("got %+v, want segment %d, share %f", got, c.segment, c.share)
			}
		})
	}
}

func TestNearestOfNothing(t *testing.T) {
	if got := match.NewIndex(&graph.Graph{}).Nearest(nil, geo.Point{}, match.Nearest{Within: 1e6, Count: 3}); len(got) != 0 {
		t.Errorf("got %v", got)
	}
}

func BenchmarkNearest(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	around := geo.Point{Lat: 45.46, Lng: 9.19}
	x := match.NewIndex(pieces(randomLines(r, 60_000, around, 0.3)...))
	var dst []match.Place
	b.ReportAllocs()
	for b.Loop() {
		p := geo.Point{Lat: around.Lat + 0.3*(r.Float64()-0.5), Lng: around.Lng + 0.3*(r.Float64()-0.5)}
		dst = x.Nearest(dst[:0], p, match.Nearest{Within: 10_000, Count: 10})
	}
}
