package nav

import (
	"math"

	"wayside/internal/roads/graph"
)

// Overview returns the line of the whole route, or a simplified one with the detail that is visible at the zoom at which
// the route fills a screen.
func (r *Route) Overview(simplified bool) []graph.Position {
	var zoom int
	if simplified {
		zoom = r.zoom()
	}
	r.line = r.line[:0]
	for i := range r.Legs {
		if len(r.line) > 0 {
			r.line = r.line[:len(r.line)-1] // the next leg begins where this one ends
		}
		if simplified {
			r.line = r.simplifier.simplify(r.line, r.Legs[i].Locations, zoom)
		} else {
			r.line = append(r.line, r.Legs[i].Locations...)
		}
	}
	return r.line
}

// Zooms of the map on which an overview is shown, and the size of its tiles and the view in pixels. They are those of
// OSRM, so that an overview has as many positions.
const (
	maxZoom    = 18
	minZoom    = 1
	tileSize   = 256
	viewWidth  = 8 * tileSize
	viewHeight = 5 * tileSize
	minPixels  = 5 // positions nearer to the line are left out
)

// northOf returns how far north a latitude is on a Mercator map, in degrees of longitude at the equator.
func northOf(lat int32) float64 {
	const limit = 85.06
	degrees := min(limit, max(-limit, float64(lat)/1e7))
	return math.Log(math.Tan(math.Pi/4+degrees*math.Pi/360)) * 180 / math.Pi
}

// zoom returns the highest zoom at which the whole route is in view.
func (r *Route) zoom() int {
	west, south, east, north := int32(math.MaxInt32), int32(math.MaxInt32), int32(math.MinInt32), int32(math.MinInt32)
	for i := range r.Legs {
		for _, p := range r.Legs[i].Locations {
			west, east = min(west, p.Lng), max(east, p.Lng)
			south, north = min(south, p.Lat), max(north, p.Lat)
		}
	}
	const pixels = float64(tileSize<<maxZoom) / 360 // per degree
	width := (float64(east) - float64(west)) / 1e7 * pixels / viewWidth
	height := (northOf(north) - northOf(south)) * pixels / viewHeight
	zoom := maxZoom - math.Log2(max(width, height))
	if math.IsInf(zoom, 0) || math.IsNaN(zoom) {
		return minZoom
	}
	return int(min(maxZoom, max(minZoom, zoom)))
}

// simplifier drops positions with the algorithm of Douglas and Peucker. It reuses its memory.
type simplifier struct {
	x, y  []float64
	kept  []bool
	stack [][2]int
}

// simplify appends the positions of a line that matter at a zoom.
func (s *simplifier) simplify(dst, line []graph.Position, zoom int) []graph.Position {
	if len(line) < 2 {
		return append(dst, line...)
	}
	s.x, s.y, s.kept = s.x[:0], s.y[:0], s.kept[:0]
	for _, p := range line {
		s.x, s.y, s.kept = append(s.x, float64(p.Lng)/10), append(s.y, northOf(p.Lat)*1e6), append(s.kept, false)
	}
	last := len(line) - 1
	s.kept[0], s.kept[last] = true, true
	threshold := math.Floor(minPixels * 360 / float64(int(tileSize)<<zoom) * 1e6)
	threshold *= threshold
	s.stack = append(s.stack[:0], [2]int{0, last})
	for len(s.stack) > 0 {
		part := s.stack[len(s.stack)-1]
		s.stack = s.stack[:len(s.stack)-1]
		if farthest, distance := s.farthest(part[0], part[1]); distance > threshold {
			s.kept[farthest] = true
			s.stack = append(s.stack, [2]int{part[0], farthest}, [2]int{farthest, part[1]})
		}
	}
	for i, kept := range s.kept {
		if kept {
			dst = append(dst, line[i])
		}
	}
	return dst
}

// farthest returns the position between two others that is farthest from the straight line between them, and its squared
// distance.
func (s *simplifier) farthest(from, to int) (at int, distance float64) {
	ax, ay := s.x[from], s.y[from]
	dx, dy := s.x[to]-ax, s.y[to]-ay
	length := dx*dx + dy*dy
	for i := from + 1; i < to; i++ {
		px, py := s.x[i]-ax, s.y[i]-ay
		if length > 0 {
			share := min(1, max(0, (px*dx+py*dy)/length))
			px, py = px-share*dx, py-share*dy
		}
		if d := px*px + py*py; d > distance {
			at, distance = i, d
		}
	}
	return at, distance
}
