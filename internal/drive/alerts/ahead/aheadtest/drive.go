package aheadtest

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"time"

	"wayside/internal/drive/alerts/ahead"
	"wayside/internal/drive/nav"
	"wayside/internal/ground/geo"
	"wayside/internal/roads/graph"
	"wayside/internal/roads/match"
)

// Roads is a network to drive on.
type Roads struct {
	Graph *graph.Graph
	Index *match.Index
}

const (
	sigma        = 5.0  // metres, standard deviation of each fix
	drift        = 6.0  // metres, of the error that changes slowly: reflections between houses
	driftSeconds = 30.0 // time constant of drift
	headingNoise = 3.0  // degrees
	headingBias  = 10.0 // degrees at most, constant during a drive
	gapSeconds   = 20   // duration of the one gap without fixes in each drive
	maxGain      = 2.0  // m/s in a second
	maxBrake     = 3.0
)

// moment is the state of a car at one second: its true place, and the fix of its receiver.
type moment struct {
	metres  float64 // along the route
	speed   float64
	bearing float64
	fix     ahead.Fix
	has     bool // there is a fix
}

// drive is a route and the moments of a car on it.
type drive struct {
	arcs    []uint32
	starts  []float64 // metres along the route to the beginning of each arc
	length  float64
	on      map[uint32]int // the index on the route of an arc
	first   float64        // metres of the route on its first arc, which is driven in part and not in arcs
	guided  guided
	moments []moment
}

// newDrive finds a route of some kilometres between random places, and drives it.
func newDrive(ctx context.Context, r Roads, routes *nav.Service, random *rand.Rand) (*drive, error) {
	const least, most = 1500.0, 9000.0
	for range 10_000 {
		from, to := randomPlace(r.Graph, random), randomPlace(r.Graph, random)
		if crow := geo.Distance(from, to); crow < least*0.7 || crow > most*0.7 {
			continue
		}
		q := nav.RouteRequest{Places: nav.Places{Coordinates: []geo.Point{from, to}}, Steps: true}
		a := new(nav.RouteAnswer)
		if err := routes.Route(ctx, &q, a); err != nil || a.Routes[0].Distance < least {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			continue // the places are on different islands
		}
		d := &drive{on: make(map[uint32]int), guided: guided{q, a}}
		ferry := false
		parts := a.Routes[0].Legs[0].Parts
		d.first = (parts[0].To - parts[0].From) * r.length(parts[0].Arc)
		for i := 1; i < len(parts)-1; i++ { // only arcs that are driven completely
			arc := parts[i].Arc
			d.on[arc] = len(d.arcs)
			d.arcs, d.starts = append(d.arcs, arc), append(d.starts, d.length)
			d.length += r.length(arc)
			ferry = ferry || r.Graph.Arcs[arc].Flags&graph.Ferry != 0
		}
		if ferry || d.length < least*0.8 {
			continue
		}
		d.move(r, random)
		return d, nil
	}
	return nil, errors.New("the network has no routes of some kilometres")
}

func randomPlace(g *graph.Graph, random *rand.Rand) geo.Point {
	for {
		arc := &g.Arcs[random.IntN(len(g.Arcs))]
		if arc.Flags&graph.MayBegin != 0 && arc.Island == 0 {
			return g.PieceLine(arc.Piece)[0].Point()
		}
	}
}

func (r Roads) length(arc uint32) float64 {
	return float64(r.Graph.Pieces[r.Graph.Arcs[arc].Piece].Length) / 1000
}

// at returns the place at a share of an arc's length, and the direction there.
func (r Roads) at(arc uint32, share float64) (geo.Point, float64) {
	a := &r.Graph.Arcs[arc]
	line := r.Graph.PieceLine(a.Piece)
	point := func(i int) geo.Point {
		if a.Flags&graph.Backward != 0 {
			i = len(line) - 1 - i
		}
		return line[i].Point()
	}
	left := share * r.length(arc)
	for i := 1; ; i++ {
		from, to := point(i-1), point(i)
		metres := geo.Distance(from, to)
		if left <= metres || i == len(line)-1 {
			if metres == 0 {
				return from, geo.Bearing(point(0), point(len(line)-1))
			}
			return geo.Between(from, to, min(1, left/metres)), geo.Bearing(from, to)
		}
		left -= metres
	}
}

// moved returns the place some metres away in a direction.
func moved(from geo.Point, bearing, metres float64) geo.Point {
	const degree = 111_195.0
	radians := bearing * math.Pi / 180
	return geo.Point{Lat: from.Lat + metres*math.Cos(radians)/degree, Lng: from.Lng + metres*math.Sin(radians)/degree/math.Cos(from.Lat*math.Pi/180)}
}

// move drives the route second by second.
func (d *drive) move(r Roads, random *rand.Rand) {
	began := time.Unix(1_800_000_000, 0)
	bias := headingBias * (2*random.Float64() - 1)
	driftX, driftY := drift*random.NormFloat64(), drift*random.NormFloat64()
	keep := math.Exp(-1 / driftSeconds)
	fresh := drift * math.Sqrt(1-keep*keep)
	gap := random.IntN(max(1, int(d.length/12)))
	speed, metres, index := 0.0, 0.0, 0
	for second := 0; metres < d.length; second++ {
		for index+1 < len(d.arcs) && d.starts[index+1] <= metres {
			index++
		}
		arc := d.arcs[index]
		usual := r.length(arc) / (float64(max(1, r.Graph.Arcs[arc].Duration)) / 1000)
		speed += max(-maxBrake, min(maxGain, min(usual, 45)-speed))
		speed = max(3, speed)
		at, bearing := r.at(arc, (metres-d.starts[index])/max(0.01, r.length(arc)))
		driftX, driftY = keep*driftX+fresh*random.NormFloat64(), keep*driftY+fresh*random.NormFloat64()
		seen := moved(moved(at, 90, driftX+sigma*random.NormFloat64()), 0, driftY+sigma*random.NormFloat64())
		heading := math.Mod(bearing+bias+headingNoise*random.NormFloat64()+720, 360)
		d.moments = append(d.moments, moment{
			metres: metres, speed: speed, bearing: bearing, has: second < gap || second >= gap+gapSeconds,
			fix: ahead.Fix{At: seen, Heading: heading, Speed: max(0, speed+0.5*random.NormFloat64()), Now: began.Add(time.Duration(second) * time.Second)},
		})
		metres += speed
	}
}

// ahead returns the route from the given metre on, in the form that a session returns it.
func (d *drive) ahead(r Roads, metres float64) ahead.Route {
	return func(yield func(arc uint32, from, to float64) bool) {
		for i, arc := range d.arcs {
			length := max(0.01, r.length(arc))
			from := max(0, (metres-d.starts[i])/length)
			if from < 1 && !yield(arc, from, 1) {
				return
			}
		}
	}
}
