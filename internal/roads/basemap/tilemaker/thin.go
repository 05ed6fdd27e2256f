package tilemaker

import "math"

// tolerance returns the maximum distance of a drawn line from the true one at a zoom, in units of the plane: less than
// half of a pixel up to the next zoom; at the highest zoom, which is drawn larger, half a metre.
func tolerance(zoom uint8) float64 {
	if zoom == highestZoom {
		return 12
	}
	const perTile = 1280
	return float64(int(1)<<(worldBits-zoom)) / perTile
}

// neededFrom returns the lowest zoom at which a given distance, or size, matters.
func neededFrom(distance float64) uint8 {
	for z := range uint8(never) {
		if distance > tolerance(z) {
			return z
		}
	}
	return never
}

// maxThinned is how many vertices are thinned together. Each such part keeps its ends, so that the cost of a line grows
// with its length, not with the square.
const maxThinned = 1024

// thinLine determines the lowest zoom of each vertex of a line, and drops vertices that no zoom needs.
func thinLine(line []spot) []vertex {
	out := vertices(line)
	for from := 0; from < len(out)-1; from += maxThinned {
		to := min(from+maxThinned, len(out)-1)
		out[from].from, out[to].from = 0, 0
		thin(out[from:to+1], 0)
	}
	return needed(out)
}

// thinRing is thinLine for a ring, which does not repeat its first vertex.
func thinRing(ring []spot) []vertex {
	first, far, most := ring[0], 0, -1.0
	for i, s := range ring {
		if d := math.Hypot(float64(s.X-first.X), float64(s.Y-first.Y)); d > most {
			far, most = i, d
		}
	}
	closed := append(vertices(ring), vertex{spot: first})
	for _, half := range [][]vertex{closed[:far+1], closed[far:]} {
		for from := 0; from < len(half)-1; from += maxThinned {
			to := min(from+maxThinned, len(half)-1)
			half[from].from, half[to].from = 0, 0
			thin(half[from:to+1], 0)
		}
	}
	return needed(closed[:len(ring)])
}

func vertices(line []spot) []vertex {
	out := make([]vertex, len(line), len(line)+1)
	for i, s := range line {
		out[i] = vertex{s, never}
	}
	return out
}

func needed(all []vertex) []vertex {
	kept := all[:0]
	for _, v := range all {
		if v.from < never {
			kept = append(kept, v)
		}
	}
	return kept
}

// thin determines the zooms of the vertices between the ends of a line (Douglas-Peucker). A vertex is needed no earlier
// than least, the zoom of the vertex that split the line before.
func thin(line []vertex, least uint8) {
	a, b := line[0], line[len(line)-1]
	at, farthest := -1, 0.0
	for i := 1; i < len(line)-1; i++ {
		if d := fromSegment(line[i].spot, a.spot, b.spot); d > farthest {
			at, farthest = i, d
		}
	}
	if at < 0 {
		return
	}
	zoom := max(least, neededFrom(math.Sqrt(farthest)))
	if zoom == never {
		return
	}
	line[at].from = zoom
	thin(line[:at+1], zoom)
	thin(line[at:], zoom)
}

// fromSegment returns the squared distance of a spot from the segment between two others.
func fromSegment(p, a, b spot) float64 {
	dx, dy := float64(b.X-a.X), float64(b.Y-a.Y)
	px, py := float64(p.X-a.X), float64(p.Y-a.Y)
	share := 0.0
	if length := dx*dx + dy*dy; length > 0 {
		share = max(0, min(1, (px*dx+py*dy)/length))
	}
	px, py = px-share*dx, py-share*dy
	return px*px + py*py
}
