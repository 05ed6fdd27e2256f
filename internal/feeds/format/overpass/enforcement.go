package overpass

import (
	"strconv"

	"wayside/internal/feeds/format"
	"wayside/internal/feeds/format/jsondoc"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// Bounds of the parts of a document that are held.
const (
	maxMembers   = 200_000 // enforcement relations and their members
	maxPositions = 400_000 // of ways among them

	maxWay      = 2000    // nodes of a way, the maximum in OpenStreetMap, because any number of relations may name a way
	maxSections = 200_000 // positions of the sections of one relation, because it may name one way often

	// Memory of each, in bytes.
	relationSize = 160
	memberSize   = 200 // of lists and maps
	positionSize = 24
	nodeSize     = 70

	sectionWork = 20 // nanoseconds of a position each time that a relation names its way
)

// ref names an element.
type ref struct {
	kind byte // n, w or r
	id   int64
}

// String returns the element's external id.
func (r ref) String() string {
	id := strconv.FormatInt(r.id, 10)
	switch r.kind {
	case 'n':
		return "node/" + id
	case 'w':
		return "way/" + id
	case 'r':
		return "relation/" + id
	}
	return ""
}

// refOf returns the reference to an element by its type and by the member that holds its id.
func refOf(v jsondoc.Value, number string) (ref, bool) {
	id, ok := v.Get(number).Integer()
	if !ok {
		return ref{}, false
	}
	switch typ := v.Get("type"); {
	case typ.Is("node"):
		return ref{'n', id}, true
	case typ.Is("way"):
		return ref{'w', id}, true
	case typ.Is("relation"):
		return ref{'r', id}, true
	}
	return ref{}, false
}

// elements holds the enforcement relations of a document and the elements that they name.
type elements struct {
	relations []relation
	members   map[ref]bool
	devices   map[int64]*device // of relations that have a kind
	places    map[ref]geo.Point
	ways      map[int64]*way // members
	positions map[int64]geo.Point
	held      int // of maxMembers
	heldNodes int // of maxPositions
}

type relation struct {
	ref            ref
	good           bool // it has an id
	kind, word     string
	speed, bearing float64
	members        []member
}

type member struct {
	ref  ref
	role string // device, from or section; empty for any other role
}

// device is a node that enforces something. It becomes one row, however many relations name it.
type device struct {
	kind                   string
	speed, bearing         float64 // of relations
	nodeSpeed, nodeBearing float64
	made                   bool
}

type way struct {
	nodes []int64
	line  []geo.Point
}

// enforcement reports whether an element is an enforcement relation.
func enforcement(v jsondoc.Value) bool {
	return v.Get("type").Is("relation") && v.Get("tags", "type").Is("enforcement")
}

// findRelations gathers the enforcement relations, in the first pass.
func (c *converter) findRelations() error {
	k := &c.known
	k.members, k.devices = make(map[ref]bool), make(map[int64]*device)
	k.places, k.ways, k.positions = make(map[ref]geo.Point), make(map[int64]*way), make(map[int64]geo.Point)
	return c.each(func(v jsondoc.Value) error {
		if !enforcement(v) {
			return nil
		}
		tags := v.Get("tags")
		one := relation{word: format.Text(tags.Get("enforcement").Text()), speed: speed(tags), bearing: bearing(tags)}
		if k.held++; k.held > maxMembers || !c.o.Budget.Keep(relationSize+len(one.word)) {
			return &format.Error{Fault: format.TooMany}
		}
		one.ref, one.good = refOf(v, "id")
		one.kind = c.words.Overpass.Enforcement.Kind(one.word, "")
		for m := range v.Get("members").Elements() {
			if err := c.member(&one, m); err != nil {
				return err
			}
		}
		k.relations = append(k.relations, one)
		return nil
	})
}

func (c *converter) member(one *relation, v jsondoc.Value) error {
	self, ok := refOf(v, "ref")
	if !ok {
		return nil
	}
	k := &c.known
	if k.held++; k.held > maxMembers || !c.o.Budget.Keep(memberSize) {
		return &format.Error{Fault: format.TooMany}
	}
	m := member{ref: self}
	switch role := v.Get("role").Text(); role {
	case "device", "from", "section":
		m.role = role
	}
	one.members = append(one.members, m)
	k.members[self] = true
	if point, ok := placeOf(v); ok {
		k.places[self] = point
	}
	if self.kind == 'w' && one.kind != "" {
		if err := c.geometry(self.id, v); err != nil {
			return err
		}
	}
	if m.role == "device" && self.kind == 'n' && one.good && one.kind != "" {
		c.device(self.id, one)
	}
	return nil
}

// device adds a device. Several relations may name it, in any order: the kind of the highest rank counts, and the lower
// numbers.
func (c *converter) device(id int64, by *relation) {
	d := c.known.devices[id]
	if d == nil {
		d = new(device)
		c.known.devices[id] = d
	}
	if by.kind == mapdata.AverageSpeedCamera.ID() {
		return // a zone has a row of its own, where it begins
	}
	if c.words.Graver(by.kind, d.kind) {
		d.kind = by.kind
	}
	d.speed, d.bearing = lower(d.speed, by.speed), lower(d.bearing, by.bearing)
}

// lower returns the lower of two numbers, of which 0 means that it is not known.
func lower(a, b float64) float64 {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// geometry stores the line of a way: its positions, or the nodes that have them.
func (c *converter) geometry(id int64, v jsondoc.Value) error {
	k := &c.known
	w := k.ways[id]
	if w == nil {
		w = new(way)
		k.ways[id] = w
	}
	if len(w.line) > 0 {
		return nil
	}
	nodes := len(w.nodes)
	for position := range v.Get("geometry").Elements() {
		if point, ok := pointOf(position); ok && len(w.line) < maxWay {
			w.line = append(w.line, point)
		}
	}
	if len(w.line) == 0 && len(w.nodes) == 0 {
		for node := range v.Get("nodes").Elements() {
			if number, ok := node.Integer(); ok && len(w.nodes) < maxWay {
				w.nodes = append(w.nodes, number)
				k.positions[number] = geo.Point{}
			}
		}
	}
	nodes = len(w.nodes) - nodes
	if k.heldNodes += len(w.line) + nodes; k.heldNodes > maxPositions || !c.o.Budget.Keep(positionSize*len(w.line)+nodeSize*nodes) {
		return &format.Error{Fault: format.TooMany}
	}
	return nil
}

// findWays reads ways that relations name without their geometry, in the second pass.
func (c *converter) findWays() error {
	missing := false
	for _, w := range c.known.ways {
		missing = missing || len(w.line) == 0
	}
	if !missing {
		return nil
	}
	return c.each(func(v jsondoc.Value) error {
		self, ok := refOf(v, "id")
		if !ok || self.kind != 'w' || c.known.ways[self.id] == nil {
			return nil
		}
		if point, ok := placeOf(v); ok {
			c.known.places[self] = point
		}
		return c.geometry(self.id, v)
	})
}

// findNodes reads positions of nodes, and their own tags, in the third pass, which is needed where there are
// relations.
func (c *converter) findNodes() error {
	k := &c.known
	if len(k.members) == 0 {
		return nil
	}
	err := c.each(func(v jsondoc.Value) error {
		self, ok := refOf(v, "id")
		if !ok || self.kind == 'w' || enforcement(v) {
			return nil
		}
		if point, ok := placeOf(v); ok {
			if k.members[self] {
				k.places[self] = point
			}
			if _, needed := k.positions[self.id]; needed && self.kind == 'n' {
				k.positions[self.id] = point
			}
		}
		if d := k.devices[self.id]; d != nil && self.kind == 'n' {
			// An answer may contain a node twice, with its tags and as a bare skeleton.
			d.nodeSpeed, d.nodeBearing = lower(d.nodeSpeed, speed(v.Get("tags"))), lower(d.nodeBearing, bearing(v.Get("tags")))
		}
		return nil
	})
	for id, w := range k.ways {
		if len(w.line) > 0 {
			w.nodes = nil // the answer has the way twice, with its nodes and with its geometry
		}
		for _, node := range w.nodes {
			if point := k.positions[node]; point != (geo.Point{}) {
				w.line = append(w.line, point)
			}
		}
		if _, has := k.places[ref{'w', id}]; !has && len(w.line) > 0 {
			k.places[ref{'w', id}] = w.line[0]
		}
	}
	return err
}

// enforce yields the rows of a relation.
func (c *converter) enforce(one *relation) error {
	switch {
	case !one.good:
		return c.yield(format.Item{Skip: format.NoID})
	case one.kind == "":
		return c.yield(format.Item{ID: one.ref.String(), Skip: format.NoKind, Word: one.word})
	}
	devices := 0
	for _, m := range one.members {
		if one.kind == mapdata.AverageSpeedCamera.ID() || m.role != "device" || m.ref.kind != 'n' {
			continue
		}
		devices++
		if err := c.yield(c.deviceRow(m.ref)); err != nil {
			return err
		}
	}
	if devices > 0 {
		return nil
	}
	return c.yield(c.relationRow(one))
}

func (c *converter) deviceRow(self ref) format.Item {
	item := format.Item{ID: self.String()}
	d := c.known.devices[self.id]
	point, ok := c.known.places[self]
	switch {
	case d.made:
		item.Skip = format.Joined
		return item
	case !ok:
		item.Skip = format.NoPosition
		return item
	}
	d.made = true
	speed, bearing := d.speed, d.bearing
	if speed == 0 {
		speed = d.nodeSpeed
	}
	if bearing == 0 {
		bearing = d.nodeBearing
	}
	row := format.Row{ID: item.ID, Kind: d.kind, Point: point, Properties: format.Properties{MaxspeedKmh: known(speed), Bearing: known(bearing)}}
	c.row = row.Append(c.row[:0])
	item.Row = c.row
	return item
}

// relationRow returns the row of a relation itself, at its first "from" member, otherwise at the first member that has
// a position.
func (c *converter) relationRow(one *relation) format.Item {
	item := format.Item{ID: one.ref.String()}
	var at, from *geo.Point
	var parts [][]geo.Point
	held := 0
	for _, m := range one.members {
		if m.role == "section" && m.ref.kind == 'w' && held < maxSections {
			line := c.known.ways[m.ref.id].line
			if held += len(line); c.o.Budget.Spend(sectionWork * (1 + len(line))) {
				parts = append(parts, line)
			}
		}
		point, ok := c.known.places[m.ref]
		if ok && at == nil {
			at = &point
		}
		if ok && from == nil && m.role == "from" {
			from = &point
		}
	}
	if from != nil {
		at = from
	}
	if at == nil {
		item.Skip = format.NoPosition
		return item
	}
	row := format.Row{ID: item.ID, Kind: one.kind, Point: *at, Properties: format.Properties{MaxspeedKmh: known(one.speed), Bearing: known(one.bearing)}}
	c.row = row.Append(c.row[:0])
	item.Row, item.Line = c.row, format.Line(parts...)
	return item
}
