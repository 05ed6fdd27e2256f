package demo

import (
	"math"
	"strconv"

	"wayside/internal/ground/geo"
)

// center is the middle of the town.
var center = geo.Point{Lat: 52.0, Lng: 5.0}

// The street grid: streets one block apart, running north and east. Every fourth is a main street.
const (
	blocks       = 24
	blockMetres  = 220.0
	mainEvery    = 4
	townMetres   = blocks * blockMetres
	metresPerLat = 111_195.0
)

// spot is a point in metres east and north of the town's south-west corner.
type spot struct{ x, y float64 }

func (a spot) to(b spot, share float64) spot {
	return spot{a.x + (b.x-a.x)*share, a.y + (b.y-a.y)*share}
}

func (a spot) distance(b spot) float64 { return math.Hypot(b.x-a.x, b.y-a.y) }

// crossing returns the intersection of two streets of the grid.
func crossing(avenue, street float64) spot { return spot{avenue * blockMetres, street * blockMetres} }

// place converts a spot to degrees.
func place(s spot) (lat, lng float64) {
	const half = townMetres / 2
	metresPerLng := metresPerLat * math.Cos(center.Lat*math.Pi/180)
	return center.Lat + (s.y-half)/metresPerLat, center.Lng + (s.x-half)/metresPerLng
}

// rounded rounds degrees to about a metre.
func rounded(degrees float64) float64 {
	const metre = 1e5
	return math.Round(degrees*metre) / metre
}

// class is the class of a road, in the terms of the tile schema.
type class struct{ kind, detail string }

// Road classes.
var (
	highway = class{"highway", "motorway"}
	ramp    = class{"highway", "motorway_link"}
	trunk   = class{"highway", "trunk"}
	primary = class{"major_road", "primary"}
	second  = class{"major_road", "secondary"}
	small   = class{"minor_road", "residential"}
)

// road is a street or a part of one.
type road struct {
	name  string
	class class
	line  []spot // closed if it ends where it begins

	oneway     bool // in the direction of the line
	roundabout bool
	towards    string // on the signs of a ramp
}

func (r *road) length() float64 {
	sum := 0.0
	for i := 1; i < len(r.line); i++ {
		sum += r.line[i-1].distance(r.line[i])
	}
	return sum
}

// at returns the spot at a distance along the road, at most its end.
func (r *road) at(metres float64) spot {
	for i := 1; i < len(r.line); i++ {
		d := r.line[i-1].distance(r.line[i])
		if metres <= d {
			return r.line[i-1].to(r.line[i], max(metres, 0)/d)
		}
		metres -= d
	}
	return r.line[len(r.line)-1]
}

// area is a polygon such as water or a park.
type area struct {
	kind    string
	outline []spot // not closed: the first spot is not repeated
	island  []spot // a hole in it; nil: none
}

// plan is the geometry of the town.
type plan struct {
	roads  []road
	water  []area
	ground []area
}

// The ring road, in blocks: between these streets, with rounded corners.
const (
	ringLow, ringHigh = 4, 20
	ringCorner        = 2
)

// shortest is the minimum length of a piece of a street, in metres.
const shortest = 150

// newPlan generates the town, which is always the same one.
func newPlan() *plan {
	p := &plan{
		water: []area{{"river", riverBank(), nil}, {"lake", ellipse(lakeMiddle(), 260, 150), ellipse(lakeMiddle(), 140, 70)}},
		ground: []area{
			{"residential", rectangle(-0.3, -0.3, blocks+0.3, blocks+0.3), nil},
			{"park", rectangle(8.02, 16.02, 11.98, 19.98), nil},
			{"park", rectangle(13.02, 9.02, 14.98, 10.98), nil},
			{"park", rectangle(5.02, 6.02, 6.98, 7.98), nil},
			{"park", rectangle(17.02, 21.02, 18.98, 22.98), nil},
			{"cemetery", rectangle(21.02, 5.02, 22.98, 6.98), nil},
			{"forest", ellipse(crossing(-9, 20), 1300, 900), nil},
			{"forest", ellipse(crossing(33, 6), 1100, 1400), nil},
			{"forest", ellipse(crossing(16, 32), 1500, 700), nil},
			{"industrial", rectangle(-4, -1, 0, 4), nil},
		},
	}
	p.ring()
	p.quays()
	p.diagonals()
	p.grid()
	p.country()
	p.motorway()
	p.island()
	p.circus("West Circus", crossing(0, blocks/2))
	p.circus("East Circus", crossing(blocks, blocks/2))
	p.circus("South Circus", crossing(blocks/2, 0))
	p.join()
	return p
}

func rectangle(west, south, east, north float64) []spot {
	return []spot{crossing(west, south), crossing(east, south), crossing(east, north), crossing(west, north)}
}

func ellipse(middle spot, east, north float64) []spot {
	const corners = 40
	line := make([]spot, corners)
	for i := range line {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / corners)
		line[i] = spot{middle.x + east*cos, middle.y + north*sin}
	}
	return line
}

// The river winds through the town from the west.
const (
	riverWest, riverEast = -8000.0, 13000.0
	riverHalf            = 45.0 // half of its width in metres, sometimes 15 more
	quayOff              = 85.0 // from its centre line to the quays
)

func river(x float64) float64 {
	return 14*blockMetres + 150*math.Sin(x/700) + 60*math.Sin(x/310)
}

func riverBank() []spot {
	const step = 40
	var south, outline []spot
	for x := riverWest; x <= riverEast; x += step {
		half := riverHalf + 15*math.Sin(x/500)
		outline = append(outline, spot{x, river(x) + half})
		south = append(south, spot{x, river(x) - half})
	}
	for i := len(south) - 1; i >= 0; i-- {
		outline = append(outline, south[i])
	}
	return outline
}

// ring generates the ring road, counterclockwise from the middle of its south side.
func (p *plan) ring() {
	line := []spot{crossing(blocks/2, ringLow)}
	const turn = 12 // segments of a corner
	for corner, middle := range []spot{
		crossing(ringHigh-ringCorner, ringLow+ringCorner), crossing(ringHigh-ringCorner, ringHigh-ringCorner),
		crossing(ringLow+ringCorner, ringHigh-ringCorner), crossing(ringLow+ringCorner, ringLow+ringCorner),
	} {
		for i := range turn + 1 {
			sin, cos := math.Sincos(math.Pi/2*float64(corner-1) + math.Pi/2*float64(i)/turn)
			line = append(line, spot{middle.x + ringCorner*blockMetres*cos, middle.y + ringCorner*blockMetres*sin})
		}
	}
	p.roads = append(p.roads, road{name: "Ring", class: trunk, line: append(line, line[0])})
}

// diagonals generates the roads from the centre across the blocks.
func (p *plan) diagonals() {
	cut := ringLow + ringCorner*(1-math.Sqrt2/2) // position of the ring's corner
	middle := crossing(blocks/2, blocks/2)
	p.roads = append(p.roads,
		road{name: "Station Road", class: second, line: []spot{crossing(cut, cut), middle}},
		road{name: "Bridge Road", class: primary, line: []spot{middle, crossing(blocks-cut, blocks-cut)}},
		road{name: "Mill Road", class: second, line: []spot{middle, crossing(blocks-cut, cut)}},
	)
}

// ordinal returns an English ordinal: 1st, 2nd, 11th, 23rd.
func ordinal(n int) string {
	end := "th"
	if n/10%10 != 1 {
		switch n % 10 {
		case 1:
			end = "st"
		case 2:
			end = "nd"
		case 3:
			end = "rd"
		}
	}
	return strconv.Itoa(n) + end
}

// grid generates avenues and streets: main ones complete, small ones without their parts in water and parks.
func (p *plan) grid() {
	for i := range blocks + 1 {
		n := float64(i)
		for _, line := range []struct {
			name     string
			from, to spot
		}{
			{ordinal(i+1) + " Avenue", crossing(n, 0), crossing(n, blocks)},
			{ordinal(i+1) + " Street", crossing(0, n), crossing(blocks, n)},
		} {
			r := road{name: line.name, class: small, line: []spot{line.from, line.to}}
			switch {
			case i%mainEvery == 0:
				r.class = primary
			case i%mainEvery == 1 && line.from.y == 0: // the small avenues to the right of a main one
				r.oneway = true
			case i%mainEvery == 3 && line.from.y == 0:
				r.oneway = true
				r.line[0], r.line[1] = r.line[1], r.line[0]
			}
			switch {
			case i == ringLow || i == ringHigh: // the ring runs here
				const end = (ringLow + ringCorner) / float64(blocks)
				p.roads = append(p.roads,
					road{name: r.name, class: r.class, line: []spot{line.from, line.from.to(line.to, end)}},
					road{name: r.name, class: r.class, line: []spot{line.from.to(line.to, 1-end), line.to}})
			case r.class == primary:
				p.roads = append(p.roads, r)
			default:
				p.around(r)
			}
		}
	}
}

// quays generates the roads along the river, where small streets end.
func (p *plan) quays() {
	var north, south []spot
	for x := 0.0; x <= townMetres; x += townMetres / 132 {
		north, south = append(north, spot{x, river(x) + quayOff}), append(south, spot{x, river(x) - quayOff})
	}
	p.roads = append(p.roads, road{name: "North Quay", class: second, line: north}, road{name: "South Quay", class: second, line: south})
}

// around generates the parts of a straight road outside water and parks.
func (p *plan) around(r road) {
	const step = 2.0
	from, to, length := r.line[0], r.line[1], r.length()
	begin := -1.0
	build := func(end float64) {
		if begin >= 0 && end-begin >= shortest {
			p.roads = append(p.roads, road{name: r.name, class: r.class, oneway: r.oneway, line: []spot{from.to(to, begin/length), from.to(to, end/length)}})
		}
		begin = -1
	}
	for along := 0.0; along <= length; along += step {
		switch free := !p.blocked(from.to(to, along/length)); {
		case !free:
			build(along - step)
		case begin < 0:
			begin = along
		}
	}
	build(length)
}

// blocked reports whether a spot is in water or a park.
func (p *plan) blocked(s spot) bool {
	if math.Abs(s.y-river(s.x)) < quayOff {
		return true
	}
	for _, a := range p.ground {
		if (a.kind == "park" || a.kind == "cemetery") && inside(a.outline, s) {
			return true
		}
	}
	return false
}

// inside reports whether a spot lies in an outline.
func inside(outline []spot, s spot) bool {
	in := false
	for i, a := range outline {
		b := outline[(i+1)%len(outline)]
		if (a.y > s.y) != (b.y > s.y) && s.x < a.x+(b.x-a.x)*(s.y-a.y)/(b.y-a.y) {
			in = !in
		}
	}
	return in
}

// country generates the roads out of the town.
func (p *plan) country() {
	middle := float64(townMetres / 2)
	p.roads = append(p.roads,
		road{name: "North Road", class: primary, line: []spot{{middle, townMetres}, {middle + 300, townMetres + 1500}, {middle + 200, 9500}}},
		road{name: "East Road", class: primary, line: []spot{{townMetres, middle}, {townMetres + 2000, middle - 500}, {riverEast, middle - 300}}},
		road{name: "West Road", class: primary, line: []spot{{0, middle}, {-2200, middle - 350}, {riverWest, middle}}},
		road{name: "Forest Lane", class: second, line: []spot{{0, 20 * blockMetres}, {-1500, 4700}, {-4200, 5200}, {riverWest, 5000}}},
	)
}
