package match_test

import (
	"slices"
	"testing"

	"wayside/internal/ground/geo"
	"wayside/internal/roads/graph"
	"wayside/internal/roads/match"
)

// town is a few roads around 45° north, 9° east; x and y are metres.
type town struct {
	g     *graph.Graph
	names map[string]uint32 // pieces
}

const (
	metreNorth = 1 / 111_195.08
	metreEast  = 1 / 78_626.8
)

func place(x, y float64) geo.Point { return geo.Point{Lat: 45 + y*metreNorth, Lng: 9 + x*metreEast} }

func (w *town) road(name string, oneway bool, points ...[2]float64) {
	if w.g == nil {
		w.g, w.names = pieces(), map[string]uint32{}
	}
	line := make([]graph.Position, len(points))
	length := 0.0
	for i, p := range points {
		q := place(p[0], p[1])
		line[i] = at(q.Lng, q.Lat)
		if i > 0 {
			length += geo.Distance(line[i-1].Point(), line[i].Point())
		}
	}
	g, piece := w.g, uint32(len(w.g.Pieces))
	w.names[name] = piece
	p := graph.Piece{Way: uint32(len(g.Ways)), FirstLine: uint32(len(g.Line)), Positions: uint32(len(line)), Length: uint32(length * 1000), Backward: graph.None}
	p.Forward = uint32(len(g.Arcs))
	g.Arcs = append(g.Arcs, graph.Arc{Piece: piece, CopyOf: p.Forward})
	if !oneway {
		p.Backward = uint32(len(g.Arcs))
		g.Arcs = append(g.Arcs, graph.Arc{Piece: piece, CopyOf: p.Backward, Flags: graph.Backward})
	}
	g.Ways = append(g.Ways, graph.Way{
		Name: graph.TextRange{Start: uint32(len(g.Texts)), Length: uint32(len(name))},
		Ref:  graph.TextRange{Start: uint32(len(g.Texts) + len(name)), Length: 5},
	})
	g.Texts = append(append(g.Texts, name...), "A1;B2"...)
	g.Line = append(g.Line, line...)
	g.Pieces = append(g.Pieces, p)
}

func (w *town) arcs(names ...string) []uint32 {
	var arcs []uint32
	for _, name := range names {
		back := name[0] == '-'
		if back {
			name = name[1:]
		}
		p := w.g.Pieces[w.names[name]]
		if back {
			arcs = append(arcs, p.Backward)
		} else {
			arcs = append(arcs, p.Forward)
		}
	}
	slices.Sort(arcs)
	return arcs
}

func (w *town) want(t *testing.T, got []uint32, names ...string) {
	t.Helper()
	if want := w.arcs(names...); !slices.Equal(got, want) {
		t.Errorf("got arcs %v, want %v (%v)", got, want, names)
	}
}

func line(points ...[2]float64) []geo.Point {
	var all []geo.Point
	for _, p := range points {
		all = append(all, place(p[0], p[1]))
	}
	return all
}

func crossroads() *town {
	w := &town{}
	w.road("West", false, [2]float64{-300, 0}, [2]float64{0, 0})
	w.road("East", false, [2]float64{0, 0}, [2]float64{300, 0})
	w.road("North", false, [2]float64{0, 0}, [2]float64{0, 300})
	w.road("Short", false, [2]float64{300, 0}, [2]float64{330, 0})
	return w
}

func TestAlong(t *testing.T) {
	w := crossroads()
	x := match.NewIndex(w.g)
	for name, c := range map[string]struct {
		line []geo.Point
		want []string
	}{
		"in the direction of travel alone": {line([2]float64{-250, 2}, [2]float64{250, -2}), []string{"West", "East"}},
		"the other way":                    {line([2]float64{250, 2}, [2]float64{50, -2}), []string{"-East"}},
		"around a corner":                  {line([2]float64{-100, 1}, [2]float64{-1, 1}, [2]float64{1, 100}), []string{"West", "North"}},
		"24 m are too far":                 {line([2]float64{-200, 26}, [2]float64{-50, 26}), nil},
		"within 25 m":                      {line([2]float64{-200, 24}, [2]float64{-50, 24}), []string{"West"}},
		"less than 25 m of it":             {line([2]float64{-120, 1}, [2]float64{-101, 1}), nil},
		"25 m of it":                       {line([2]float64{-130, 1}, [2]float64{-104, 1}), []string{"West"}},
		"half of a short one":              {line([2]float64{301, 1}, [2]float64{321, 1}), []string{"Short"}},
		"across":                           {line([2]float64{-150, -100}, [2]float64{-150, 100}), nil},
		"one position":                     {line([2]float64{-150, 0}), nil},
		"twice the same position":          {line([2]float64{-150, 0}, [2]float64{-150, 0}), nil},
	} {
		t.Run(name, func(t *testing.T) {
			w.want(t, x.Along(c.line), c.want...)
			reversed := slices.Clone(c.line)
			slices.Reverse(reversed)
			var back []string
			for _, n := range c.want {
				if n[0] == '-' {
					back = append(back, n[1:])
				} else {
					back = append(back, "-"+n)
				}
			}
			w.want(t, x.Along(reversed), back...)
		})
	}
}

// TestAlongOfParallelRoads checks that among two carriageways and a service road next to them, a line counts for the one
// that it lies on.
func TestAlongOfParallelRoads(t *testing.T) {
	w := &town{}
	w.road("Eastbound", true, [2]float64{0, -6}, [2]float64{500, -6})
	w.road("Westbound", true, [2]float64{500, 6}, [2]float64{0, 6})
	w.road("Service", false, [2]float64{0, -20}, [2]float64{500, -20})
	x := match.NewIndex(w.g)
	w.want(t, x.Along(line([2]float64{10, 1}, [2]float64{490, 1})), "Eastbound")
	w.want(t, x.Along(line([2]float64{490, -5}, [2]float64{10, -5})), "Westbound")
	w.want(t, x.Along(line([2]float64{10, -19}, [2]float64{490, -19})), "Service")
}

func TestAt(t *testing.T) {
	w := crossroads()
	x := match.NewIndex(w.g)
	for name, c := range map[string]struct {
		at         geo.Point
		street     string
		bearing    float64
		hasBearing bool
		want       []string
	}{
		"both directions":               {place(-100, 10), "", 0, false, []string{"West", "-West"}},
		"within 60° of the bearing":     {place(-100, 10), "", 90 + 59, true, []string{"West"}},
		"not beyond":                    {place(-100, 10), "", 90 + 61, true, nil},
		"the other direction":           {place(-100, 10), "", 270 - 59, true, []string{"-West"}},
		"36 m away":                     {place(-100, 36), "", 0, false, nil},
		"34 m away":                     {place(-100, 34), "", 0, false, []string{"West", "-West"}},
		"the nearest":                   {place(4, 12), "", 0, false, []string{"North", "-North"}},
		"the one that is named":         {place(4, 12), " east ", 0, false, []string{"East", "-East"}},
		"the nearest if none is named":  {place(4, 12), "Elsewhere", 0, false, []string{"North", "-North"}},
		"a reference":                   {place(4, 12), "b2", 0, false, []string{"North", "-North"}},
		"the nearest of that direction": {place(4, 12), "", 90, true, []string{"East"}},
	} {
		t.Run(name, func(t *testing.T) { w.want(t, x.At(c.at, c.street, c.bearing, c.hasBearing), c.want...) })
	}
}
