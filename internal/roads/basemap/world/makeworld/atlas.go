package main

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"wayside/internal/roads/basemap/mvt"
)

// atlas is a topology of countries: arcs from which borders and coasts are made.
type atlas struct {
	arcs      [][]mvt.Pixel // in shares of the world's width; beyond 0 or 1 where they cross the antimeridian
	shared    []bool        // by arc: whether it is a border between two countries
	land      []polygon
	countries []country
}

// polygon is an outline and its holes, each a list of arcs: i, or ^i for arc i backwards.
type polygon [][]int

// country is a country with its name in English.
type country struct {
	name     string
	number   string // ISO 3166-1 numeric; empty where there is none
	polygons []polygon
}

// topology is the used part of TopoJSON.
type topology struct {
	Transform struct{ Scale, Translate [2]float64 }
	Arcs      [][][2]float64
	Objects   map[string]struct{ Geometries []geometry }
}

type geometry struct {
	Type       string
	Arcs       json.RawMessage
	ID         string
	Properties struct{ Name string }
}

// readAtlas decodes TopoJSON with the objects "land" and "countries".
func readAtlas(b []byte) (*atlas, error) {
	var t topology
	if err := json.Unmarshal(b, &t); err != nil {
		return nil, fmt.Errorf("read the atlas: %w", err)
	}
	a := &atlas{arcs: make([][]mvt.Pixel, len(t.Arcs)), shared: make([]bool, len(t.Arcs))}
	for i, arc := range t.Arcs {
		x, y := 0.0, 0.0
		for _, step := range arc {
			x, y = x+step[0], y+step[1]
			lng, lat := x*t.Transform.Scale[0]+t.Transform.Translate[0], y*t.Transform.Scale[1]+t.Transform.Translate[1]
			p := project(lat, lng)
			if n := len(a.arcs[i]); n > 0 {
				p.X += math.Round(a.arcs[i][n-1].X - p.X)
			}
			a.arcs[i] = append(a.arcs[i], p)
		}
	}
	users := make([]int, len(t.Arcs)) // countries that use the arc
	for _, g := range t.Objects["countries"].Geometries {
		polygons, err := polygonsOf(g)
		if err != nil {
			return nil, err
		}
		a.countries = append(a.countries, country{g.Properties.Name, g.ID, polygons})
		for _, i := range arcsOf(polygons) {
			users[i]++
			a.shared[i] = users[i] > 1
		}
	}
	for _, g := range t.Objects["land"].Geometries {
		polygons, err := polygonsOf(g)
		if err != nil {
			return nil, err
		}
		a.land = append(a.land, polygons...)
	}
	return a, nil
}

func polygonsOf(g geometry) ([]polygon, error) {
	var all []polygon
	var err error
	switch g.Type {
	case "Polygon":
		all = make([]polygon, 1)
		err = json.Unmarshal(g.Arcs, &all[0])
	case "MultiPolygon":
		err = json.Unmarshal(g.Arcs, &all)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", g.Properties.Name, err)
	}
	return all, nil
}

// arcsOf returns the arcs of polygons, each once.
func arcsOf(polygons []polygon) []int {
	var out []int
	for _, p := range polygons {
		for _, ring := range p {
			for _, i := range ring {
				out = append(out, max(i, ^i))
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// project returns a point in Web Mercator, in shares of the world's width.
func project(lat, lng float64) mvt.Pixel {
	const limit = 85.0511 // degrees; the map is square
	x, y := mvt.Mercator(0, max(-limit, min(limit, lat)), lng)
	return mvt.Pixel{X: x, Y: y}
}

// ring joins the arcs of a ring, without repeating the points at which they meet. A ring around the south pole, which
// ends a world's width from where it began, is closed along the lower edge of the map.
func ring(arcs [][]mvt.Pixel, list []int) []mvt.Pixel {
	var out []mvt.Pixel
	var end mvt.Pixel
	for _, i := range list {
		arc := arcs[max(i, ^i)]
		if i < 0 {
			arc = slices.Clone(arc)
			slices.Reverse(arc)
		}
		shift := 0.0
		if len(out) > 0 {
			shift = math.Round(end.X - arc[0].X)
		}
		for _, p := range arc[:len(arc)-1] {
			out = append(out, mvt.Pixel{X: p.X + shift, Y: p.Y})
		}
		end = mvt.Pixel{X: arc[len(arc)-1].X + shift, Y: arc[len(arc)-1].Y}
	}
	if math.Abs(end.X-out[0].X) > 0.5 {
		out = append(out, end, mvt.Pixel{X: end.X, Y: 1}, mvt.Pixel{X: out[0].X, Y: 1})
	}
	return out
}

// simplified returns the arcs with fewer points, none of which is farther from its line than the tolerance
// (Douglas-Peucker). It keeps the ends, so that neighbours still meet.
func (a *atlas) simplified(tolerance float64) [][]mvt.Pixel {
	out := make([][]mvt.Pixel, len(a.arcs))
	for i, arc := range a.arcs {
		keep := make([]bool, len(arc))
		keep[0], keep[len(arc)-1] = true, true
		thin(arc, keep, 0, len(arc)-1, tolerance)
		for j, p := range arc {
			if keep[j] {
				out[i] = append(out[i], p)
			}
		}
	}
	return out
}

func thin(arc []mvt.Pixel, keep []bool, from, to int, tolerance float64) {
	farthest, at := tolerance, -1
	for i := from + 1; i < to; i++ {
		if d := distance(arc[i], arc[from], arc[to]); d > farthest {
			farthest, at = d, i
		}
	}
	if at < 0 {
		return
	}
	keep[at] = true
	thin(arc, keep, from, at, tolerance)
	thin(arc, keep, at, to, tolerance)
}

// distance returns the distance of a point from the segment between two others.
func distance(p, a, b mvt.Pixel) float64 {
	dx, dy := b.X-a.X, b.Y-a.Y
	share := 0.0
	if length := dx*dx + dy*dy; length > 0 {
		share = max(0, min(1, ((p.X-a.X)*dx+(p.Y-a.Y)*dy)/length))
	}
	return math.Hypot(p.X-a.X-share*dx, p.Y-a.Y-share*dy)
}

// area returns the area of a ring.
func area(ring []mvt.Pixel) float64 {
	sum := 0.0
	for i, a := range ring {
		b := ring[(i+1)%len(ring)]
		sum += a.X*b.Y - b.X*a.Y
	}
	return math.Abs(sum) / 2
}

// middle returns the place for the name of a country: a point deep inside its largest polygon. It also returns the area
// of that polygon, as a share of the world's.
func (c country) middle(arcs [][]mvt.Pixel) (mvt.Pixel, float64) {
	var outline []mvt.Pixel
	for _, p := range c.polygons {
		if r := ring(arcs, p[0]); area(r) > area(outline) {
			outline = r
		}
	}
	low, high := outline[0], outline[0]
	for _, p := range outline {
		low = mvt.Pixel{X: min(low.X, p.X), Y: min(low.Y, p.Y)}
		high = mvt.Pixel{X: max(high.X, p.X), Y: max(high.Y, p.Y)}
	}
	const steps = 48
	var best mvt.Pixel
	deepest := -1.0
	for i := range steps {
		for j := range steps {
			p := mvt.Pixel{X: low.X + (high.X-low.X)*(float64(i)+0.5)/steps, Y: low.Y + (high.Y-low.Y)*(float64(j)+0.5)/steps}
			if depth := inside(outline, p); depth > deepest {
				best, deepest = p, depth
			}
		}
	}
	best.X -= math.Floor(best.X)
	return best, area(outline)
}

// inside returns the distance of a point from the edge of the ring around it, or -1 outside.
func inside(ring []mvt.Pixel, p mvt.Pixel) float64 {
	in, nearest := false, math.Inf(1)
	for i, a := range ring {
		b := ring[(i+1)%len(ring)]
		if (a.Y > p.Y) != (b.Y > p.Y) && p.X < a.X+(b.X-a.X)*(p.Y-a.Y)/(b.Y-a.Y) {
			in = !in
		}
		nearest = min(nearest, distance(p, a, b))
	}
	if !in {
		return -1
	}
	return nearest
}
