package region

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
	"wayside/internal/roads/osmpbf"
)

// chargerFinder finds the charging stations in extracts.
type chargerFinder struct {
	*source
	known map[objectID]bool
	rows  []row
	areas []chargerArea
	nodes map[int64]geo.Point // of areas
}

// chargerArea is a station that is mapped as a way.
type chargerArea struct {
	row  row
	refs []int64
}

// Bounds of a station's way. OpenStreetMap allows 2 000 nodes.
const maxStationNodes = 2000

// makeChargers finds the charging stations in the extracts.
func makeChargers(ctx context.Context, s *source) ([]content, error) {
	c := &chargerFinder{source: s, known: map[objectID]bool{}, nodes: map[int64]geo.Point{}}
	for _, f := range s.files {
		if err := f.Scan(ctx, osmpbf.Options{Want: osmpbf.Ways | osmpbf.Relations}, c.readAreas); err != nil {
			return nil, err
		}
	}
	for _, f := range s.files {
		if err := f.Scan(ctx, osmpbf.Options{Want: osmpbf.Nodes}, c.readNodes); err != nil {
			return nil, err
		}
	}
	for _, a := range c.areas {
		at, ok := c.middle(a.refs)
		if !ok {
			c.leave("chargers_without_place", 1)
			continue
		}
		a.row.at = at
		c.rows = append(c.rows, a.row)
	}
	s.about.Chargers = int64(len(c.rows))
	text, err := encodeRows(c.rows)
	return []content{{section: chargersSection, data: text}}, err
}

func (c *chargerFinder) readAreas(b *osmpbf.Block) error {
	for i := range b.Ways {
		w := &b.Ways[i]
		one, ok := c.station(objectID{osmpbf.Ways, w.ID}, w.Tags)
		if !ok {
			continue
		}
		if len(w.Refs) == 0 || len(w.Refs) > maxStationNodes {
			c.leave("chargers_without_place", 1)
			continue
		}
		c.areas = append(c.areas, chargerArea{one, slices.Clone(w.Refs)})
		for _, ref := range w.Refs {
			c.nodes[ref] = geo.Point{Lat: math.NaN()}
		}
	}
	for i := range b.Relations {
		if is, _ := b.Relations[i].Tags.Get("amenity"); is == "charging_station" {
			c.leave("chargers_as_relations", 1)
		}
	}
	return nil
}

func (c *chargerFinder) readNodes(b *osmpbf.Block) error {
	for i := range b.Nodes {
		n := &b.Nodes[i]
		at := n.Point()
		if before, wanted := c.nodes[n.ID]; wanted && math.IsNaN(before.Lat) && at.Valid() {
			c.nodes[n.ID] = at
		}
		if len(n.Tags) == 0 {
			continue
		}
		one, ok := c.station(objectID{osmpbf.Nodes, n.ID}, n.Tags)
		if !ok {
			continue
		}
		if !at.Valid() {
			c.leave("chargers_without_place", 1)
			continue
		}
		one.at = at
		c.rows = append(c.rows, one)
	}
	return nil
}

// middle returns the middle of the box around the known nodes. For a station, other definitions of a middle differ by
// some metres only.
func (c *chargerFinder) middle(refs []int64) (geo.Point, bool) {
	south, north, west, east := math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	for _, ref := range refs {
		at, ok := c.nodes[ref]
		if !ok || math.IsNaN(at.Lat) {
			continue
		}
		south, north, west, east = min(south, at.Lat), max(north, at.Lat), min(west, at.Lng), max(east, at.Lng)
	}
	if south > north || east-west > 1 { // no node is known, or they lie on both sides of the antimeridian
		return geo.Point{}, false
	}
	round := func(degrees float64) float64 { return math.Round(degrees*1e7) / 1e7 }
	return geo.Point{Lat: round((south + north) / 2), Lng: round((west + east) / 2)}, true
}

// station returns the row of a charging station for cars that is open to everyone, without its position. It returns
// false for other objects.
func (c *chargerFinder) station(id objectID, tags osmpbf.Tags) (row, bool) {
	if is, _ := tags.Get("amenity"); is != "charging_station" || c.known[id] {
		return row{}, false
	}
	c.known[id] = true
	access, _ := tags.Get("access")
	cars, _ := tags.Get("motorcar")
	if access == "no" || access == "private" || cars == "no" {
		c.leave("chargers_not_public", 1)
		return row{}, false
	}
	properties := map[string]any{}
	c.texts(properties, tags,
		"name", "name", "operator", "operator", "operator", "network", "operator", "brand",
		"city", "addr:city", "postcode", "addr:postcode", "country", "addr:country",
		"price", "charge", "opening_hours", "opening_hours", "url", "website", "url", "contact:website")
	c.address(properties, tags)
	if network := networkOf(tags); network != "" {
		properties["network"] = network
	}
	power, plugs, direct := sockets(tags)
	if power > 0 {
		properties["max_kw"] = power
	}
	if len(plugs) > 0 {
		properties["plugs"] = plugs
	}
	capacity, _ := tags.Get("capacity")
	if n, unit, ok := quantity(capacity); ok && unit == "" && n >= 1 && n <= maxStalls && n == math.Trunc(n) {
		properties["evses"] = n
	}
	kind := mapdata.SlowCharger
	if power >= fastPower || power == 0 && direct {
		kind = mapdata.FastCharger
	}
	return row{object: id, kind: kind, properties: properties}, true
}

// address sets the street with the house number.
func (c *chargerFinder) address(properties map[string]any, tags osmpbf.Tags) {
	street, _ := tags.Get("addr:street")
	number, _ := tags.Get("addr:housenumber")
	if street = plain(street); street == "" {
		return
	}
	if number = plain(number); number != "" {
		street = plain(street + " " + number)
	}
	properties["street"] = street
}

// networkOf returns the operator's id by which readers choose chargers: the operator, otherwise the network or the
// brand, in lower case with one hyphen for each run of characters other than letters and digits (D17.10, D15.24).
func networkOf(tags osmpbf.Tags) string {
	for _, key := range []string{"operator", "network", "brand"} {
		name, _ := tags.Get(key)
		id := strings.Join(strings.FieldsFunc(strings.ToLower(plain(name)), func(r rune) bool {
			return (r < 'a' || r > 'z') && (r < '0' || r > '9')
		}), "-")
		if id != "" {
			return id[:min(len(id), maxNetwork)]
		}
	}
	return ""
}

const (
	fastPower  = 50   // kW, from which a charger counts as fast (D17.10)
	maxPower   = 5000 // kW
	maxStalls  = 10_000
	maxNetwork = 64 // bytes
)

// plugsOf returns the name of a plug for a socket of OpenStreetMap, as bridges use it (D17); unknown ones are "other".
// direct reports whether it supplies direct current.
func plugsOf(socket string) (plug string, direct bool) {
	switch socket {
	case "type2", "type2_cable":
		return "type2", false
	case "type2_combo":
		return "ccs", true
	case "type1", "type1_cable":
		return "type1", false
	case "type1_combo":
		return "ccs1", true
	case "chademo":
		return "chademo", true
	case "tesla_supercharger":
		return "tesla", true
	case "tesla_destination", "tesla_standard", "tesla_roadster":
		return "tesla", false
	case "nacs":
		return "nacs", true
	case "schuko", "typee":
		return "schuko", false
	}
	return "other", false
}

// sockets returns the greatest power in kW, the distinct plugs, sorted, and whether there is direct current.
func sockets(tags osmpbf.Tags) (power float64, plugs []string, direct bool) {
	for _, t := range tags {
		if strings.HasSuffix(t.Key, ":output") {
			power = max(power, kilowatts(t.Value))
			continue
		}
		socket, ok := strings.CutPrefix(t.Key, "socket:")
		if !ok || strings.Contains(socket, ":") || t.Value == "" || t.Value == "no" || t.Value == "0" {
			continue
		}
		plug, current := plugsOf(socket)
		plugs, direct = append(plugs, plug), direct || current
	}
	slices.SortFunc(plugs, cmp.Compare[string])
	return power, slices.Compact(plugs), direct
}

// kilowatts returns the greatest power in a text, in kW with one decimal, or 0.
func kilowatts(text string) (most float64) {
	for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ';' || r == '/' }) {
		power, unit, ok := quantity(part)
		switch {
		case !ok:
			continue
		case unit == "w" || unit == "va":
			power /= 1000
		case unit != "" && unit != "kw" && unit != "kva":
			continue
		}
		if power = math.Round(power*10) / 10; power <= maxPower {
			most = max(most, power)
		}
	}
	return most
}
