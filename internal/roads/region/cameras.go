package region

import (
	"context"
	"math"
	"slices"
	"strings"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
	"wayside/internal/roads/match"
	"wayside/internal/roads/osmpbf"
)

// enforcements returns the kinds of enforcement that drivers are warned of, the most important first: a device that
// enforces two things is a camera of the first (D17.31).
func enforcements() []enforcement {
	return []enforcement{
		{"average_speed", mapdata.AverageSpeedCamera},
		{"maxspeed", mapdata.SpeedCamera},
		{"traffic_signals", mapdata.RedLightCamera},
	}
}

type enforcement struct {
	value string
	kind  mapdata.Kind
}

// enforcing returns the index in enforcements of what a relation or node enforces, and false if it is none of them.
func enforcing(tags osmpbf.Tags) (rank int, ok bool) {
	values, _ := tags.Get("enforcement")
	for rank, e := range enforcements() {
		for value := range strings.SplitSeq(values, ";") {
			if strings.TrimSpace(value) == e.value {
				return rank, true
			}
		}
	}
	return 0, false
}

// Bounds of relations. The longest real ones have some ten members.
const maxEnforcementMembers = 1000

// cameraRelation is a relation that enforces something.
type cameraRelation struct {
	id                int64
	rank              int
	limit             float64 // km/h; 0: unknown
	bearing           float64 // NaN: unknown
	name              string
	devices, from, to []int64 // nodes
	others            []int64 // further nodes
}

// cameraFinder finds the cameras in extracts.
type cameraFinder struct {
	*source
	relations []cameraRelation
	known     map[int64]bool      // relations
	wanted    map[int64]bool      // nodes whose position or tags are needed
	devices   map[int64]int       // index of the relation whose camera a node is
	nodes     map[int64]geo.Point // positions of the wanted nodes
	tagged    map[int64]osmpbf.Tags
}

// makeCameras finds the cameras in the extracts.
func makeCameras(ctx context.Context, s *source) ([]content, error) {
	c := &cameraFinder{
		source: s, known: map[int64]bool{}, wanted: map[int64]bool{}, devices: map[int64]int{},
		nodes: map[int64]geo.Point{}, tagged: map[int64]osmpbf.Tags{},
	}
	for _, f := range s.files {
		if err := f.Scan(ctx, osmpbf.Options{Want: osmpbf.Relations}, c.readRelations); err != nil {
			return nil, err
		}
	}
	for _, f := range s.files {
		if err := f.Scan(ctx, osmpbf.Options{Want: osmpbf.Nodes}, c.readNodes); err != nil {
			return nil, err
		}
	}
	rows := c.rows()
	s.about.Cameras = int64(len(rows))
	text, err := encodeRows(rows)
	return []content{{section: camerasSection, data: text}}, err
}

func (c *cameraFinder) readRelations(b *osmpbf.Block) error {
	for i := range b.Relations {
		r := &b.Relations[i]
		if is, _ := r.Tags.Get("type"); is != "enforcement" || c.known[r.ID] {
			continue
		}
		c.known[r.ID] = true
		rank, ok := enforcing(r.Tags)
		if !ok || len(r.Members) > maxEnforcementMembers {
			c.leave("enforcement_other", 1)
			continue
		}
		one := cameraRelation{id: r.ID, rank: rank, limit: speedLimit(r.Tags), bearing: facing(r.Tags)}
		one.name, _ = r.Tags.Get("name")
		one.name = plain(one.name)
		for _, m := range r.Members {
			if m.Type != osmpbf.Nodes {
				continue
			}
			switch m.Role {
			case "device":
				one.devices = append(one.devices, m.Ref)
			case "from":
				one.from = append(one.from, m.Ref)
			case "to":
				one.to = append(one.to, m.Ref)
			default:
				one.others = append(one.others, m.Ref)
			}
			c.wanted[m.Ref] = true
		}
		for _, id := range one.devices {
			if before, taken := c.devices[id]; !taken || c.relations[before].rank > rank {
				c.devices[id] = len(c.relations)
			}
		}
		c.relations = append(c.relations, one)
	}
	return nil
}

func (c *cameraFinder) readNodes(b *osmpbf.Block) error {
	for i := range b.Nodes {
		n := &b.Nodes[i]
		is, _ := n.Tags.Get("highway")
		if is != "speed_camera" && !c.wanted[n.ID] {
			continue
		}
		if _, twice := c.nodes[n.ID]; twice {
			continue
		}
		if !n.Point().Valid() {
			c.leave("cameras_without_place", 1)
			continue
		}
		c.nodes[n.ID] = n.Point()
		if _, device := c.devices[n.ID]; is == "speed_camera" || device {
			tags := make(osmpbf.Tags, len(n.Tags))
			for i, t := range n.Tags {
				tags[i] = osmpbf.Tag{Key: strings.Clone(t.Key), Value: strings.Clone(t.Value)}
			}
			c.tagged[n.ID] = tags
		}
	}
	return nil
}

// rows returns all cameras, in no particular order.
func (c *cameraFinder) rows() []row {
	var rows []row
	for id, tags := range c.tagged {
		if relation, device := c.devices[id]; device {
			if r := &c.relations[relation]; enforcements()[r.rank].kind != mapdata.AverageSpeedCamera {
				rows = append(rows, c.row(objectID{osmpbf.Nodes, id}, c.nodes[id], r, tags))
			}
			continue
		}
		rank, ok := enforcing(tags)
		if !ok {
			rank = slices.IndexFunc(enforcements(), func(e enforcement) bool { return e.kind == mapdata.SpeedCamera })
		}
		rows = append(rows, c.row(objectID{osmpbf.Nodes, id}, c.nodes[id], &cameraRelation{rank: rank, bearing: math.NaN()}, tags))
	}
	for i := range c.relations {
		r := &c.relations[i]
		if len(r.devices) > 0 && enforcements()[r.rank].kind != mapdata.AverageSpeedCamera {
			continue
		}
		at, ok := c.place(slices.Concat(r.from, r.devices, r.others, r.to))
		if !ok {
			c.leave("cameras_without_place", 1)
			continue
		}
		rows = append(rows, c.row(objectID{osmpbf.Relations, r.id}, at, r, nil))
	}
	return rows
}

// place returns the position of the first of the nodes whose position is known.
func (c *cameraFinder) place(nodes []int64) (geo.Point, bool) {
	for _, id := range nodes {
		if at, ok := c.nodes[id]; ok {
			return at, true
		}
	}
	return geo.Point{}, false
}

// row returns the row of a camera. tags are those of its node.
func (c *cameraFinder) row(id objectID, at geo.Point, r *cameraRelation, tags osmpbf.Tags) row {
	properties := map[string]any{}
	kind := enforcements()[r.rank].kind
	limit := r.limit
	if limit == 0 {
		limit = speedLimit(tags)
	}
	if limit > 0 && kind != mapdata.RedLightCamera {
		properties["maxspeed_kmh"] = limit
	}
	street, oneway, hasWay := c.road(at)
	if street != "" {
		properties["street"] = street
	}
	if bearing, ok := c.bearing(at, r, tags, oneway, hasWay); ok {
		properties["bearing"] = math.Mod(math.Round(bearing), 360)
	}
	if r.name != "" {
		properties["description"] = r.name
	} else {
		c.texts(properties, tags, "description", "name")
	}
	if kind == mapdata.AverageSpeedCamera {
		from, begins := c.place(slices.Concat(r.from, r.devices))
		to, ends := c.place(slices.Concat(r.to, reversed(r.devices)))
		if begins && ends && from != to {
			properties["section"] = map[string]any{"from": position(from), "to": position(to)}
		}
	}
	return row{id, kind, at, properties}
}

func reversed(ids []int64) []int64 {
	ids = slices.Clone(ids)
	slices.Reverse(ids)
	return ids
}

// position returns a point in the form that rows use.
func position(p geo.Point) [2]float64 { return [2]float64{p.Lng, p.Lat} }

// minBearingDistance is the minimum distance of two places, in metres, whose direction counts as that of the traffic.
const minBearingDistance = 10

// bearing returns the direction of the traffic that a camera concerns: from the beginning of its enforcement to its end;
// otherwise as tagged; otherwise that of the one-way road on which it stands.
func (c *cameraFinder) bearing(at geo.Point, r *cameraRelation, tags osmpbf.Tags, oneway float64, hasWay bool) (float64, bool) {
	from, begins := c.place(r.from)
	to, ends := c.place(r.to)
	if !begins {
		from = at
	}
	if !ends {
		to = at
	}
	if (begins || ends) && geo.Distance(from, to) >= minBearingDistance {
		return geo.Bearing(from, to), true
	}
	if !math.IsNaN(r.bearing) {
		return r.bearing, true
	}
	if tagged := facing(tags); !math.IsNaN(tagged) {
		return tagged, true
	}
	return oneway, hasWay
}

// roadside is the maximum distance of a camera from its road, in metres.
const roadside = 30

// road finds the road on which a camera stands: its name, otherwise its number, and its direction if it is one-way.
func (c *cameraFinder) road(at geo.Point) (street string, bearing float64, oneway bool) {
	places := c.index.Nearest(nil, at, match.Nearest{Within: roadside, Count: 1})
	if len(places) == 0 {
		return "", 0, false
	}
	piece := &c.graph.Pieces[places[0].Piece]
	way := &c.graph.Ways[piece.Way]
	if street = plain(c.graph.Text(way.Name)); street == "" {
		street = plain(c.graph.Text(way.Ref))
	}
	forward, backward := int64(piece.Forward) < int64(len(c.graph.Arcs)), int64(piece.Backward) < int64(len(c.graph.Arcs))
	switch {
	case forward && !backward:
		return street, c.index.Bearing(places[0], piece.Forward), true
	case backward && !forward:
		return street, c.index.Bearing(places[0], piece.Backward), true
	}
	return street, 0, false
}

// Bounds of a limit in a property, in km/h.
const (
	kmhPerMile = 1.609344
	minLimit   = 5
	maxLimit   = 200
)

// speedLimit returns the value of maxspeed in km/h, or 0.
func speedLimit(tags osmpbf.Tags) float64 {
	text, _ := tags.Get("maxspeed")
	limit, unit, ok := quantity(text)
	switch {
	case !ok:
		return 0
	case strings.HasPrefix(unit, "mph"):
		limit *= kmhPerMile
	case unit != "" && !strings.HasPrefix(unit, "km/h") && !strings.HasPrefix(unit, "kmh") && !strings.HasPrefix(unit, ";"):
		return 0
	}
	if limit = math.Round(limit); limit < minLimit || limit > maxLimit {
		return 0
	}
	return limit
}

// facing returns the value of direction in degrees, or NaN.
func facing(tags osmpbf.Tags) float64 {
	text, _ := tags.Get("direction")
	degrees, unit, ok := quantity(text)
	if !ok || unit != "" && unit != "°" || degrees < 0 || degrees > 360 {
		return math.NaN()
	}
	return degrees
}
