package demo

import (
	"io"
	"math"
	"slices"

	"wayside/internal/roads/osmpbf"
)

// ExtractLicence is the licence of the extract.
const ExtractLicence = "CC0-1.0"

// WriteExtract writes the town as an OpenStreetMap extract: streets, house numbers, places, water and land use. It returns the error of w.
func WriteExtract(w io.Writer) error {
	p := newPlan()
	x := &extract{plan: p, net: p.junctions()}
	x.build()
	out, err := osmpbf.NewWriter(w, osmpbf.WriterOptions{Program: "wayside demo", Optional: []string{"Sort.Type_then_ID"}, Bounds: mapBounds()})
	if err != nil {
		return err
	}
	for _, n := range x.nodes {
		if err := out.Node(n); err != nil {
			return err
		}
	}
	for _, way := range x.ways {
		if err := out.Way(way); err != nil {
			return err
		}
	}
	for _, r := range x.relations {
		if err := out.Relation(r); err != nil {
			return err
		}
	}
	return out.Close()
}

// extract collects the objects of an extract. Ids count up from 1 for each type.
type extract struct {
	plan      *plan
	net       *network
	breaks    [][]float64 // by road: where its tags change, in metres from its start
	under     [][]float64 // by road: where it passes under or over another one
	nodes     []osmpbf.Node
	spots     []spot // of nodes
	ways      []osmpbf.Way
	relations []osmpbf.Relation
}

func (x *extract) build() {
	for i := range x.net.junctions {
		x.node(x.net.junctions[i].at, x.junctionTags(&x.net.junctions[i])...)
	}
	x.breaks, x.under = make([][]float64, len(x.plan.roads)), make([][]float64, len(x.plan.roads))
	x.crossings()
	for i := range x.plan.roads {
		x.waters(i)
		x.tunnels(i)
		x.lanes(i)
		x.road(i)
	}
	x.restrictions()
	for i := range x.plan.roads {
		r := &x.plan.roads[i]
		for _, house := range r.houses() {
			x.node(house.at, pairs("addr:housenumber", house.name, "addr:street", r.name, "addr:city", townName)...)
		}
	}
	for _, l := range places {
		x.node(l.at, pairs("place", l.detail, "name", l.name)...)
	}
	x.areas()
}

// pairs makes tags of keys and values, without those whose value is empty.
func pairs(texts ...string) []osmpbf.Tag {
	var out []osmpbf.Tag
	for i := 0; i < len(texts); i += 2 {
		if texts[i+1] != "" {
			out = append(out, osmpbf.Tag{Key: texts[i], Value: texts[i+1]})
		}
	}
	return out
}

// node adds a node and returns its id.
func (x *extract) node(s spot, tags ...osmpbf.Tag) int64 {
	const nanodegrees, step = 1e7, 100 // OpenStreetMap's precision
	lat, lng := place(s)
	id := int64(len(x.nodes) + 1)
	x.nodes = append(x.nodes, osmpbf.Node{
		ID: id, Lat: int64(math.Round(lat*nanodegrees)) * step, Lng: int64(math.Round(lng*nanodegrees)) * step, Tags: tags,
	})
	x.spots = append(x.spots, s)
	return id
}

// junctionTags returns signals where main streets cross, and the signs of exits.
func (x *extract) junctionTags(j *junction) []osmpbf.Tag {
	main := 0
	for _, i := range j.roads {
		switch r := &x.plan.roads[i]; {
		case r.roundabout:
			return nil
		case r.class == highway:
			if number, name, ok := exitAt(j.at); ok {
				return pairs("highway", "motorway_junction", "ref", number, "name", name)
			}
			return nil
		case r.class == primary, r.class == trunk:
			main++
		}
	}
	if main > 1 && j.at.x >= 0 && j.at.y >= 0 {
		return pairs("highway", "traffic_signals")
	}
	return nil
}

// crossings records where roads cross without meeting.
func (x *extract) crossings() {
	for i := range x.plan.roads {
		for j := range x.plan.roads {
			a, b := &x.plan.roads[i], &x.plan.roads[j]
			if a.class == highway || a.class == trunk || !apart(a, b) {
				continue
			}
			for _, s := range meetings(a.line, b.line) {
				const half = 18.0
				along := alongOf(a.line, s)
				x.under[i] = append(x.under[i], along)
				x.breaks[i] = append(x.breaks[i], along-half, along+half)
			}
		}
	}
}

// alongOf returns the distance along a line at which the line is nearest to a spot.
func alongOf(line []spot, s spot) float64 {
	best, least, before := 0.0, math.Inf(1), 0.0
	for i := 1; i < len(line); i++ {
		a, b := line[i-1], line[i]
		share := nearestShare(a, b, s)
		if d := a.to(b, share).distance(s); d < least {
			best, least = before+share*a.distance(b), d
		}
		before += a.distance(b)
	}
	return best
}

// isWet reports whether a spot is in the river.
func isWet(s spot) bool { return math.Abs(s.y-river(s.x)) < riverHalf+15*math.Sin(s.x/500) }

// waters records where a road's bridges over the river begin and end.
func (x *extract) waters(i int) {
	const step = 2.0
	r := &x.plan.roads[i]
	wet := false
	for along := 0.0; along < r.length(); along += step {
		if now := isWet(r.at(along)); now != wet {
			wet = now
			x.breaks[i] = append(x.breaks[i], along)
		}
	}
}

// tunnels records where a road enters and leaves its tunnel.
func (x *extract) tunnels(i int) {
	r := &x.plan.roads[i]
	for _, end := range tunnelEnds() {
		if along := alongOf(r.line, end); r.name == tunnelRoad && r.at(along).distance(end) < sameSpot {
			x.breaks[i] = append(x.breaks[i], along)
		}
	}
}

// exitLane is how long before an exit the motorway has a lane for it.
const exitLane = 600.0

// lanes records where the number of the motorway's lanes changes, and where a way must end for a restriction.
func (x *extract) lanes(i int) {
	r := &x.plan.roads[i]
	for _, c := range x.net.cuts[i] {
		at := x.net.junctions[c.junction].at
		if _, _, ok := exitAt(at); ok && r.class == highway {
			x.breaks[i] = append(x.breaks[i], c.along-exitLane, c.along)
		}
		for _, t := range forbidden() {
			if t.via.distance(at) < sameSpot {
				x.breaks[i] = append(x.breaks[i], c.along)
			}
		}
	}
}

// stop is a node of a road.
type stop struct {
	along float64
	id    int64 // 0: none yet
}

// road adds the ways of a road, split where tags change.
func (x *extract) road(i int) {
	r := &x.plan.roads[i]
	var stops []stop
	for _, c := range x.net.cuts[i] {
		stops = append(stops, stop{c.along, int64(c.junction + 1)})
	}
	add := func(along float64) {
		if !slices.ContainsFunc(stops, func(s stop) bool { return math.Abs(s.along-along) < sameSpot }) {
			stops = append(stops, stop{along: along})
		}
	}
	length, along := r.length(), 0.0
	for k, s := range r.line {
		if k > 0 {
			along += r.line[k-1].distance(s)
		}
		add(along)
	}
	for _, at := range x.breaks[i] {
		if at > 0 && at < length {
			add(at)
		}
	}
	slices.SortFunc(stops, func(a, b stop) int {
		if a.along < b.along {
			return -1
		}
		return 1
	})
	closed := r.line[0] == r.line[len(r.line)-1]
	for k := range stops {
		switch {
		case stops[k].id != 0:
		case closed && k == len(stops)-1:
			stops[k].id = stops[0].id
		default:
			stops[k].id = x.node(r.at(stops[k].along))
		}
	}
	from := 0
	for k := 1; k < len(stops); k++ {
		isBreak := slices.ContainsFunc(x.breaks[i], func(at float64) bool { return math.Abs(at-stops[k].along) < sameSpot })
		if k == len(stops)-1 || isBreak {
			x.way(i, stops[from:k+1])
			from = k
		}
	}
}

// way adds a part of a road.
func (x *extract) way(i int, stops []stop) {
	middle := (stops[0].along + stops[len(stops)-1].along) / 2
	way := osmpbf.Way{ID: int64(len(x.ways) + 1), Tags: x.wayTags(i, middle, stops[len(stops)-1].along)}
	for _, s := range stops {
		way.Refs = append(way.Refs, s.id)
	}
	x.ways = append(x.ways, way)
}

// wayTags returns the tags of the part of a road around a place that ends at another.
func (x *extract) wayTags(i int, middle, end float64) []osmpbf.Tag {
	r := &x.plan.roads[i]
	tags := pairs("highway", r.class.detail, "name", r.name, "ref", roadNumbers[r.name])
	if r.oneway && !r.roundabout {
		tags = append(tags, pairs("oneway", "yes")...)
	}
	if r.roundabout {
		tags = append(tags, pairs("junction", "roundabout")...)
	}
	switch r.class {
	case highway:
		tags = append(tags, pairs("lanes", "3", "maxspeed", "120")...)
		if _, _, ok := exitAt(r.at(end)); ok {
			tags = append(tags, pairs("turn:lanes", "through|through|through;slight_right")...)
		}
	case ramp:
		tags = append(tags, pairs("lanes", "1", "maxspeed", "60", "destination", r.towards)...)
	case trunk:
		tags = append(tags, pairs("lanes", "4", "maxspeed", "70")...)
	case small:
		tags = append(tags, pairs("maxspeed", "30")...)
	default:
		speed := "50"
		if s := r.at(middle); min(s.x, s.y) < -100 || max(s.x, s.y) > townMetres+100 {
			speed = "80"
		}
		tags = append(tags, pairs("lanes", "2", "maxspeed", speed)...)
	}
	const near = 10.0
	crosses := slices.ContainsFunc(x.under[i], func(at float64) bool { return math.Abs(at-middle) < near })
	switch {
	case inTunnel(r, r.at(middle)):
		tags = append(tags, pairs("tunnel", "yes", "layer", "-1", "tunnel:name", tunnelName)...)
	case isWet(r.at(middle)), crosses && r.class != small:
		tags = append(tags, pairs("bridge", "yes", "layer", "1")...)
	case crosses:
		tags = append(tags, pairs("tunnel", "yes", "layer", "-1")...)
	}
	return tags
}

// turn is a turn at a crossing, from the way towards one spot to the way towards another.
type turn struct {
	kind          string
	from, via, to spot
}

// forbidden returns the turn restrictions of the town.
func forbidden() []turn {
	return []turn{
		{"no_left_turn", crossing(16, 13), crossing(16, 12), crossing(17, 12)},
		{"no_right_turn", crossing(8, 15), crossing(8, 16), crossing(9, 16)},
		{"only_straight_on", crossing(15, 8), crossing(16, 8), crossing(17, 8)},
	}
}

func (x *extract) restrictions() {
	for i, t := range forbidden() {
		x.relations = append(x.relations, osmpbf.Relation{
			ID: int64(i + 1), Tags: pairs("type", "restriction", "restriction", t.kind),
			Members: []osmpbf.Member{
				{Ref: x.wayFrom(t.via, t.from), Role: "from", Type: osmpbf.Ways},
				{Ref: int64(x.net.junction(t.via) + 1), Role: "via", Type: osmpbf.Nodes},
				{Ref: x.wayFrom(t.via, t.to), Role: "to", Type: osmpbf.Ways},
			},
		})
	}
}

// wayFrom returns the way that ends at a crossing and leads towards a spot from there.
func (x *extract) wayFrom(via, towards spot) int64 {
	node := int64(x.net.junction(via) + 1)
	best, least := int64(0), math.Inf(1)
	for _, way := range x.ways {
		next := int64(0)
		switch last := len(way.Refs) - 1; node {
		case way.Refs[0]:
			next = way.Refs[1]
		case way.Refs[last]:
			next = way.Refs[last-1]
		default:
			continue
		}
		at := x.spots[next-1]
		straight := via.to(towards, at.distance(via)/via.distance(towards))
		if d := straight.distance(at) / at.distance(via); d < least {
			best, least = way.ID, d
		}
	}
	return best
}
