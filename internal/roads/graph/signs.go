package graph

import (
	"cmp"
	"slices"
	"strings"

	"wayside/internal/roads/car"
	"wayside/internal/roads/osmpbf"
)

// wayTexts are the texts of a way, in the order in which they are stored.
type wayTexts struct{ name, ref, destination, exit, pronunciation string }

// wayLanes are the lanes of a way by direction, and how many lists of lanes were left out.
type wayLanes struct {
	lanes                [2][]car.Lane
	invalid, disagreeing int
}

// textsOf reads the texts of a way. It reads a destination only if the direction is known: on a two-way road, a tag
// without a direction is ambiguous.
func textsOf(tags car.Tags, drive *car.Way) wayTexts {
	t := wayTexts{name: tags.Value("name"), ref: list(tags.Value("ref"), "; "), pronunciation: tags.Value("name:pronunciation")}
	if !hasSigns(tags) {
		return t
	}
	along := ":forward"
	if drive.Forward.Access == car.Closed {
		along = ":backward"
	}
	value := func(key string) string { return cmp.Or(tags.Value(key+along), tags.Value(key)) }
	t.exit = list(value("junction:ref"), "; ")
	if isOneway(drive) {
		refs, places := list(value("destination:ref"), ", "), list(value("destination"), ", ")
		if places == "" {
			places = list(value("destination:street"), ", ")
		}
		t.destination = refs
		if t.destination != "" && places != "" {
			t.destination += ": "
		}
		t.destination += places
	}
	return t
}

func isOneway(drive *car.Way) bool {
	return (drive.Forward.Access == car.Closed) != (drive.Backward.Access == car.Closed)
}

// hasSigns reports whether a way has signs. It is a quick first test, because most ways have none.
func hasSigns(tags car.Tags) bool {
	return slices.ContainsFunc(tags, func(t car.Tag) bool {
		return strings.HasPrefix(t.Key, "destination") || strings.HasPrefix(t.Key, "junction:ref")
	})
}

// list replaces the separator ; of a value by another one, and drops empty parts.
func list(value, separator string) string {
	if !strings.Contains(value, ";") {
		return strings.TrimSpace(value)
	}
	var parts []string
	for part := range strings.SplitSeq(value, ";") {
		if part = strings.TrimSpace(part); part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, separator)
}

// lanesOf reads the lanes of both directions.
func lanesOf(tags car.Tags, drive *car.Way) (l wayLanes) {
	if !slices.ContainsFunc(tags, func(t car.Tag) bool { return strings.HasPrefix(t.Key, "turn:lanes") }) {
		return l
	}
	oneway := isOneway(drive)
	for _, d := range [...]car.Direction{car.Forward, car.Backward} {
		if drive.Direction(d).Access == car.Closed {
			continue
		}
		var outcome car.LaneOutcome
		switch l.lanes[d], outcome = car.Lanes(nil, tags, d, oneway); outcome {
		case car.LanesInvalid:
			l.invalid++
		case car.LanesDisagree:
			l.disagreeing++
		case car.NoLanes, car.LanesRead:
		}
	}
	return l
}

// signTable collects the distinct signs of ways, and their lanes.
type signTable struct {
	signs []Signs
	lanes []car.Lane
	known map[Signs]uint32
	lists map[string]LaneRange // by the lanes as text
	key   []byte
}

func newSignTable() signTable {
	return signTable{known: map[Signs]uint32{}, lists: map[string]LaneRange{}}
}

// add returns the value of Way.Signs for these signs, adding them if necessary.
func (t *signTable) add(s Signs, lanes *[2][]car.Lane) uint32 {
	for d := range lanes {
		s.Lanes[d] = t.list(lanes[d])
	}
	if s == (Signs{}) {
		return 0
	}
	number, ok := t.known[s]
	if !ok {
		t.signs = append(t.signs, s)
		number = uint32(len(t.signs))
		t.known[s] = number
	}
	return number
}

func (t *signTable) list(lanes []car.Lane) LaneRange {
	if len(lanes) == 0 {
		return LaneRange{}
	}
	t.key = t.key[:0]
	for _, lane := range lanes {
		t.key = append(t.key, byte(lane), byte(lane>>8))
	}
	r, ok := t.lists[string(t.key)]
	if !ok {
		r = LaneRange{uint32(len(t.lanes)), uint32(len(lanes))}
		t.lanes = append(t.lanes, lanes...)
		t.lists[string(t.key)] = r
	}
	return r
}

// exit is the sign at a node of the extract.
type exit struct {
	index     uint32
	ref, name string
}

// exitOf reads the sign of a node, and returns false if it has none.
func exitOf(tags osmpbf.Tags) (exit, bool) {
	if kind, _ := tags.Get("highway"); kind != "motorway_junction" {
		return exit{}, false
	}
	ref, _ := tags.Get("ref")
	name, _ := tags.Get("name")
	e := exit{ref: list(ref, "; "), name: strings.TrimSpace(name)}
	return e, e.ref != "" || e.name != ""
}

// exits stores the signs at nodes where pieces end.
func (b *builder) exits() {
	for _, e := range b.nodes.exits {
		if b.nodeOf[e.index] == None {
			continue
		}
		stored := Exit{Node: b.nodeOf[e.index]}
		b.store(e.ref, &stored.Ref)
		b.store(e.name, &stored.Name)
		if stored.Ref.Length > 0 || stored.Name.Length > 0 {
			b.graph.Exits = append(b.graph.Exits, stored)
		}
	}
}
