package demo

import (
	"math"
	"slices"
	"strconv"
)

// The motorway passes south of the town, from one edge of the map to the other. At the edges its carriageways meet.
const (
	motorwayName   = "Motorway 7"
	motorwayMiddle = -900.0
	carriageway    = 14.0 // metres from the middle to the middle of a carriageway
	taper          = 300.0
	rampLong       = 420.0 // metres along the motorway
	rampWide       = 110.0 // metres from the motorway's middle to where its ramps meet the road
)

// exits returns the places where ramps lead to roads into the town.
func exits() []exit {
	const middle, east = blocks / 2 * blockMetres, float64(townMetres)
	return []exit{
		{"Harbour", "Harbour Road", 0}, {"Demo Town Centre", "South Road", middle}, {"Eastgate", "Eastgate Road", east},
	}
}

// exit is a junction of the motorway with a road that crosses it by a bridge.
type exit struct {
	name string
	road string
	x    float64
}

// firstExit is the number of the most western exit.
const firstExit = 11

// motorwayAt returns a spot of the motorway, the given number of metres north of its middle.
func motorwayAt(x, north float64) spot {
	north *= min(1, (x-riverWest)/taper, (riverEast-x)/taper)
	return spot{x, motorwayMiddle + 250*math.Sin(x/2600) + north}
}

// motorway generates the carriageways, and the roads and ramps of its exits. Cars drive on the right.
func (p *plan) motorway() {
	var east, west []spot
	for x := riverWest; x <= riverEast; x += 100 {
		east, west = append(east, motorwayAt(x, -carriageway)), append(west, motorwayAt(x, carriageway))
	}
	slices.Reverse(west)
	p.roads = append(p.roads,
		road{name: motorwayName, class: highway, line: east, oneway: true},
		road{name: motorwayName, class: highway, line: west, oneway: true})
	for _, e := range exits() {
		south, north := motorwayAt(e.x, -rampWide), motorwayAt(e.x, rampWide)
		p.roads = append(p.roads, road{name: e.road, class: primary, line: []spot{south, north, {e.x, 0}}})
		for _, line := range [][]spot{
			{motorwayAt(e.x-rampLong, -carriageway), motorwayAt(e.x-rampLong/2, -rampWide/2), south},
			{south, motorwayAt(e.x+rampLong/2, -rampWide/2), motorwayAt(e.x+rampLong, -carriageway)},
			{motorwayAt(e.x+rampLong, carriageway), motorwayAt(e.x+rampLong/2, rampWide/2), north},
			{north, motorwayAt(e.x-rampLong/2, rampWide/2), motorwayAt(e.x-rampLong, carriageway)},
		} {
			r := road{class: ramp, line: line, oneway: true, towards: e.name}
			if line[0] == south || line[0] == north {
				r.towards = motorwayName
			}
			p.roads = append(p.roads, r)
		}
	}
}

// exitAt returns the exit that begins at a spot of the motorway: its number and name.
func exitAt(s spot) (number, name string, ok bool) {
	for i, e := range exits() {
		for _, begin := range []spot{motorwayAt(e.x-rampLong, -carriageway), motorwayAt(e.x+rampLong, carriageway)} {
			if s.distance(begin) < sameSpot {
				return strconv.Itoa(firstExit + i), e.name, true
			}
		}
	}
	return "", "", false
}

// The road from the motorway into the town passes through a tunnel, in which a car gets no fixes.
const (
	tunnelRoad = "South Road"
	tunnelName = "South Tunnel"
)

// tunnelEnds returns the tunnel's portals, the southern one first.
func tunnelEnds() [2]spot {
	const middle, south, north = blocks / 2 * blockMetres, -640.0, -180.0
	return [2]spot{{middle, south}, {middle, north}}
}

func inTunnel(r *road, s spot) bool {
	ends := tunnelEnds()
	return r.name == tunnelRoad && s.y > ends[0].y && s.y < ends[1].y
}

func lakeMiddle() spot { return crossing(10, 18.2) }

// islandLane is the street on the island of the lake, to which no bridge leads.
const islandLane = "Island Lane"

func (p *plan) island() {
	middle := lakeMiddle()
	p.roads = append(p.roads, road{name: islandLane, class: small, line: []spot{{middle.x - 100, middle.y}, {middle.x + 100, middle.y}}})
}

// circusRadius is the radius of a roundabout in metres.
const circusRadius = 32.0

// circus puts a roundabout where roads cross.
func (p *plan) circus(name string, middle spot) {
	const pieces = 24
	var angles []float64
	for i := range pieces {
		angles = append(angles, 2*math.Pi*float64(i)/pieces)
	}
	var roads []road
	for i := range p.roads {
		r := &p.roads[i]
		for _, line := range outside(r.line, middle, circusRadius) {
			part := *r
			part.line = line
			roads = append(roads, part)
			for _, end := range []spot{line[0], line[len(line)-1]} {
				if math.Abs(end.distance(middle)-circusRadius) < sameSpot {
					angles = append(angles, math.Mod(math.Atan2(end.y-middle.y, end.x-middle.x)+2*math.Pi, 2*math.Pi))
				}
			}
		}
	}
	slices.Sort(angles)
	circle := road{name: name, class: primary, oneway: true, roundabout: true}
	last := -1.0
	for _, angle := range angles { // counterclockwise
		if angle-last > sameSpot/circusRadius {
			circle.line = append(circle.line, spot{middle.x + circusRadius*math.Cos(angle), middle.y + circusRadius*math.Sin(angle)})
			last = angle
		}
	}
	circle.line = append(circle.line, circle.line[0])
	p.roads = append(roads, circle)
}

// outside returns the parts of a line outside a circle.
func outside(line []spot, middle spot, radius float64) [][]spot {
	var parts [][]spot
	part := []spot{line[0]}
	if line[0].distance(middle) < radius {
		part = nil
	}
	for i := 1; i < len(line); i++ {
		a, b := line[i-1], line[i]
		for _, share := range onCircle(a, b, middle, radius) {
			if part = append(part, a.to(b, share)); len(part) > 1 {
				parts, part = append(parts, part), nil
			}
		}
		if b.distance(middle) >= radius {
			part = append(part, b)
		}
	}
	if len(part) > 1 {
		parts = append(parts, part)
	}
	return parts
}

// onCircle returns where a straight line crosses a circle, as shares of its length.
func onCircle(a, b, middle spot, radius float64) []float64 {
	dx, dy, fx, fy := b.x-a.x, b.y-a.y, a.x-middle.x, a.y-middle.y
	square, half, rest := dx*dx+dy*dy, fx*dx+fy*dy, fx*fx+fy*fy-radius*radius
	root := half*half - square*rest
	if root <= 0 {
		return nil
	}
	var shares []float64
	for _, share := range []float64{(-half - math.Sqrt(root)) / square, (-half + math.Sqrt(root)) / square} {
		if share > 0 && share < 1 {
			shares = append(shares, share)
		}
	}
	return shares
}
