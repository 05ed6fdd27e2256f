package aheadtest

import (
	"math/rand/v2"

	"wayside/internal/drive/alerts"
	"wayside/internal/drive/alerts/ahead"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
	"wayside/internal/roads/graph"
	"wayside/internal/roads/match"
)

// Sort is the kind of place that a pin was put at.
type Sort int

// The sorts of pins.
const (
	OnRoute  Sort = iota // the driver comes to it
	Opposite             // on the route's road, for the opposite direction
	Parallel             // on another road that runs beside the route, such as the other carriageway
	Crossing             // on a road that crosses above or below
	Beyond               // on a road that leaves the route at a junction
	sorts
)

// pin is a pin of a drive.
type pin struct {
	sort   Sort
	kind   mapdata.Kind
	pin    ahead.Pin
	metres float64 // along the route, for pins on it
}

const (
	pinsEvery = 600.0 // metres of route between two pins of each sort
	// A pin that is nearer to the route than to its own road counts as on the route for every reader.
	minRoadGap = 7.0   // metres between two parallel roads from which pins on them can be distinguished
	minBeyond  = 15.0  // metres between the route and a pin on a road that leaves or crosses it
	minLeadIn  = 800.0 // metres of route before the first pin, so that each lead begins on the route
)

// kinds returns the kinds of the pins.
func kinds() []string {
	return []string{"camera.speed", "camera.red_light", "alert.police", "alert.accident", "alert.hazard.object_on_road"}
}

// pins draws pins around a drive.
func (d *drive) pins(r Roads, random *rand.Rand) []pin {
	var all []pin
	var places []match.Place
	for at := minLeadIn * random.Float64(); at < d.length-30; at += pinsEvery * (0.5 + random.Float64()) {
		index := 0
		for index+1 < len(d.arcs) && d.starts[index+1] <= at {
			index++
		}
		arc := d.arcs[index]
		share := (at - d.starts[index]) / max(0.01, r.length(arc))
		if at >= minLeadIn {
			all = append(all, d.draw(r, random, OnRoute, arc, share, at))
		}
		if back := reverse(r.Graph, arc); back != graph.None {
			if _, on := d.on[back]; !on {
				all = append(all, d.draw(r, random, Opposite, back, 1-share, 0))
			}
		}
		on, bearing := r.at(arc, share)
		places = r.Index.Nearest(places[:0], on, match.Nearest{Within: 120, Count: 30})
		for _, sort := range []Sort{Parallel, Crossing} {
			if other, share, ok := d.beside(r, random, places, bearing, sort); ok {
				if p := d.draw(r, random, sort, other, share, 0); d.standsOff(r, &p, other) {
					all = append(all, p)
				}
			}
		}
		if other, ok := d.leaving(r, random, index); ok {
			if share := random.Float64(); d.isApart(r, other, share, minBeyond) {
				if p := d.draw(r, random, Beyond, other, share, 0); d.standsOff(r, &p, other) {
					all = append(all, p)
				}
			}
		}
	}
	return all
}

func reverse(g *graph.Graph, arc uint32) uint32 {
	p := &g.Pieces[g.Arcs[arc].Piece]
	if g.Arcs[arc].Flags&graph.Backward != 0 {
		return p.Forward
	}
	return p.Backward
}

// isOff reports whether the route leads over a piece in neither direction.
func (d *drive) isOff(g *graph.Graph, piece uint32) bool {
	for _, arc := range [...]uint32{g.Pieces[piece].Forward, g.Pieces[piece].Backward} {
		if _, on := d.on[arc]; on {
			return false
		}
	}
	return true
}

// beside picks a road near a place that the route does not use: one that runs parallel, or one that crosses without
// meeting it.
func (d *drive) beside(r Roads, random *rand.Rand, places []match.Place, bearing float64, sort Sort) (arc uint32, share float64, ok bool) {
	for range 8 {
		p := places[random.IntN(len(places))]
		piece := &r.Graph.Pieces[p.Piece]
		arc := piece.Forward
		if arc == graph.None || piece.Backward != graph.None && random.IntN(2) == 0 {
			arc = piece.Backward
		}
		if arc == graph.None || !d.isOff(r.Graph, p.Piece) {
			continue
		}
		angle := geo.AngleBetween(bearing, r.Index.Bearing(p, arc))
		along := angle < 25 || angle > 155
		touches := d.touches(r.Graph, arc)
		if sort == Parallel && !along || sort == Crossing && (along || touches) {
			continue
		}
		share := p.Share
		if r.Graph.Arcs[arc].Flags&graph.Backward != 0 {
			share = 1 - share
		}
		apart := minRoadGap
		if sort == Crossing { // somewhere on the bridge or next to it
			share, apart = share+60*(2*random.Float64()-1)/max(1, r.length(arc)), minBeyond
		}
		if share < 0 || share > 1 || !d.isApart(r, arc, share, apart) {
			continue
		}
		return arc, share, true
	}
	return 0, 0, false
}

// isApart reports whether a place on an arc is at least the given distance from the route.
func (d *drive) isApart(r Roads, arc uint32, share, metres float64) bool {
	at, _ := r.at(arc, share)
	for _, p := range r.Index.Nearest(nil, at, match.Nearest{Within: metres, Count: 20}) {
		if !d.isOff(r.Graph, p.Piece) {
			return false
		}
	}
	return true
}

// standsOff reports whether a pin is nearer to its own road than to the route.
func (d *drive) standsOff(r Roads, p *pin, arc uint32) bool {
	for _, near := range r.Index.Nearest(nil, p.pin.At, match.Nearest{Within: 50, Count: 20}) { // the nearest first
		if near.Piece == r.Graph.Arcs[arc].Piece {
			return true
		}
		if !d.isOff(r.Graph, near.Piece) {
			return false
		}
	}
	return true
}

// touches reports whether an arc meets the route.
func (d *drive) touches(g *graph.Graph, arc uint32) bool {
	for _, on := range d.arcs {
		if a, b := &g.Arcs[on], &g.Arcs[arc]; a.From == b.From || a.From == b.To || a.To == b.From || a.To == b.To {
			return true
		}
	}
	return false
}

// leaving picks a road that leaves the route at the end of one of its arcs, or the road after it.
func (d *drive) leaving(r Roads, random *rand.Rand, index int) (arc uint32, ok bool) {
	for i := index; i < min(index+6, len(d.arcs)-1); i++ {
		for _, t := range r.Graph.TurnsFrom(d.arcs[i]) {
			if !d.isOff(r.Graph, r.Graph.Arcs[t.To].Piece) {
				continue
			}
			if next := r.Graph.TurnsFrom(t.To); len(next) > 0 && random.IntN(2) == 0 {
				if further := next[random.IntN(len(next))].To; d.isOff(r.Graph, r.Graph.Arcs[further].Piece) {
					return further, true
				}
			}
			return t.To, true
		}
	}
	return 0, false
}

// draw makes a pin on an arc. Cameras stand beside the road and mostly have a bearing; reports of drivers lie on the
// road and have one half of the time.
func (d *drive) draw(r Roads, random *rand.Rand, sort Sort, arc uint32, share, metres float64) pin {
	all := kinds()
	kind, _ := mapdata.ParseKind(all[random.IntN(len(all))])
	on, bearing := r.at(arc, max(0.02, min(0.98, share)))
	side := bearing + 90
	if r.Graph.Arcs[arc].Flags&graph.DriveLeft != 0 {
		side = bearing - 90
	}
	off := 2 * random.NormFloat64()
	if kind.Camera() {
		off = 3 + 2*random.Float64()
	}
	p := ahead.Pin{At: moved(on, side, off)}
	// A pin on a road with two directions needs a bearing; on other roads the direction is clear.
	if sort == Opposite || kind.Camera() && random.IntN(10) < 7 || !kind.Camera() && random.IntN(2) == 0 {
		p.Bearing, p.Directed = bearing, true
	}
	if kind.Camera() && random.IntN(2) == 0 {
		p.Street = r.Graph.Text(r.Graph.Ways[r.Graph.Pieces[r.Graph.Arcs[arc].Piece].Way].Name)
	}
	return pin{sort: sort, kind: kind, pin: p, metres: metres}
}

func (p *pin) alert() alerts.Pin { return alerts.Pin{At: p.pin.At, Kind: p.kind} }
