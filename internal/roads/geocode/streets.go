package geocode

import (
	"cmp"
	"maps"
	"slices"

	"wayside/internal/roads/graph"
)

// street is the ways with one name in one city that are connected, or close to each other.
type street struct {
	names
	spellings []string // variants of the name on its ways, with another case or without accents
	kind      kind
	ways      []int // indexes in the collector's objects
	around    box
	at        graph.Position
	osm       osmID
	place     place
	postcode  map[uint32]int
	houses    []house
	hidden    bool
}

// streetCell is the size in units of the cells by which ways with one name are joined: ways in neighbouring cells are
// one street.
const streetCell = 40_000 // some 400 m

type cell struct{ x, y int32 }

// addStreets joins ways to streets.
func (b *builder) addStreets() {
	type named struct {
		key string // their names without case and accents
		way int
	}
	var ways []named
	keys := map[string]string{}
	for i := range b.c.objects {
		if o := &b.c.objects[i]; o.role == isHighway {
			key, ok := keys[o.name]
			if !ok {
				if key = b.key(o.name); key == "" {
					key = o.name
				}
				keys[o.name] = key
			}
			ways = append(ways, named{key, i})
		}
	}
	compare := func(x, y named) int {
		return cmp.Or(cmp.Compare(x.key, y.key), cmp.Compare(b.placeOf[x.way].City, b.placeOf[y.way].City))
	}
	slices.SortStableFunc(ways, compare)
	var group []int
	for i := range ways {
		group = append(group, ways[i].way)
		if i+1 == len(ways) || compare(ways[i], ways[i+1]) != 0 {
			b.joinStreets(group)
			group = nil
		}
	}
	graphFirst := func(s *street) uint32 {
		if start, ok := b.named[s.name]; ok {
			return start
		}
		return ownText
	}
	slices.SortStableFunc(b.streets, func(x, y street) int {
		return cmp.Or(cmp.Compare(graphFirst(&x), graphFirst(&y)), cmp.Compare(x.name, y.name), cmp.Compare(x.osm, y.osm))
	})
}

// joinStreets makes streets of the ways with one name in one city.
func (b *builder) joinStreets(ways []int) {
	parent := make([]int, len(ways))
	for i := range parent {
		parent[i] = i
	}
	root := func(i int) int {
		for parent[i] != i {
			parent[i] = parent[parent[i]]
			i = parent[i]
		}
		return i
	}
	if len(ways) > 1 {
		cells := map[cell]int{}
		for i, way := range ways {
			o := &b.c.objects[way]
			for _, node := range b.c.refs[o.firstRef : o.firstRef+o.refs] {
				at, ok := b.c.position(node)
				if !ok {
					continue
				}
				x, y := at.Lng/streetCell, at.Lat/streetCell
				for dx := int32(-1); dx <= 1; dx++ {
					for dy := int32(-1); dy <= 1; dy++ {
						if other, ok := cells[cell{x + dx, y + dy}]; ok {
							if p, q := root(i), root(other); p != q {
								parent[max(p, q)] = min(p, q)
							}
						}
					}
				}
				cells[cell{x, y}] = i
			}
		}
	}
	groups := map[int][]int{}
	for i, way := range ways {
		groups[root(i)] = append(groups[root(i)], way)
	}
	for i := range ways {
		if group := groups[i]; len(group) > 0 && root(i) == i {
			b.streets = append(b.streets, b.streetOf(group))
		}
	}
}

// streetOf returns the street made of some ways: with the most important kind, at the way nearest to the middle.
func (b *builder) streetOf(ways []int) street {
	s := street{ways: ways}
	s.names, s.spellings = b.mostWritten(ways)
	for i, way := range ways {
		o := &b.c.objects[way]
		if i == 0 {
			s.kind, s.around = o.kind, o.around
		} else {
			s.around.with(o.around)
		}
		s.names.merge(&o.names)
		if o.kind.importance("") > s.kind.importance("") {
			s.kind = o.kind
		}
		s.countPostcode(b.placeOf[way].Postcode)
	}
	middle, least := s.around.middle(), 0.0
	for i, way := range ways {
		o := &b.c.objects[way]
		if away := metres(middle, o.at); i == 0 || away < least {
			s.at, s.osm, s.place, least = o.at, o.osm, b.placeOf[way], away
		}
	}
	return s
}

// mostWritten returns the names of the first way with the most frequent spelling of the name, and the other spellings.
func (b *builder) mostWritten(ways []int) (most names, others []string) {
	counts := map[string]int{}
	for _, way := range ways {
		counts[b.c.objects[way].name]++
	}
	for _, way := range ways {
		if o := &b.c.objects[way]; most.name == "" || counts[o.name] > counts[most.name] {
			most = o.names
		}
	}
	for name := range maps.Keys(counts) {
		if name != most.name {
			others = append(others, name)
		}
	}
	slices.Sort(others)
	return most, others
}

// merge adds the names that are missing.
func (n *names) merge(o *names) {
	if o.more == nil || o.more == n.more {
		return
	}
	own := n.further()
	for _, t := range o.more.translations {
		if !slices.ContainsFunc(own.translations, func(known translated) bool { return known.language == t.language }) {
			own.translations = append(slices.Clip(own.translations), t)
		}
	}
	for _, other := range o.more.others {
		if len(own.others) < maxOtherNames && !slices.Contains(own.others, other) {
			own.others = append(slices.Clip(own.others), other)
		}
	}
	own.translations = slices.Clone(own.translations)
	slices.SortFunc(own.translations, func(a, b translated) int { return a.language - b.language })
	n.more = &own
}

// countPostcode counts something on the street with a postcode.
func (s *street) countPostcode(postcode uint32) {
	if postcode == 0 {
		return
	}
	if s.postcode == nil {
		s.postcode = map[uint32]int{}
	}
	s.postcode[postcode]++
}

// mostUsed returns the key with the highest count, the lowest of several, or 0 if there is none.
func mostUsed(counts map[uint32]int) (best uint32) {
	for key, n := range counts {
		if n > counts[best] || n == counts[best] && key < best {
			best = key
		}
	}
	return best
}

// writeStreets makes documents of the streets.
func (b *builder) writeStreets() {
	inGraph := make(map[int64]bool, len(b.g.Ways))
	for i := range b.g.Ways {
		inGraph[b.g.Ways[i].OSM] = true
	}
	for i := range b.streets {
		s := &b.streets[i]
		if postcode := mostUsed(s.postcode); postcode != 0 {
			s.place.Postcode = postcode
		}
		d := document{
			Lng: s.at.Lng, Lat: s.at.Lat, Kind: b.kindNumber(s.kind), Place: b.row(s.place), Importance: uint8(255 * s.kind.importance("")),
			Bits: flags(LayerStreet) << layerShift,
		}
		if s.hidden {
			d.Bits |= hidden
		}
		id := b.add(d, s.osm, &s.names)
		for _, other := range s.spellings {
			if start, ok := b.named[other]; ok {
				b.spellings = append(b.spellings, spelling{start, id})
			}
		}
		b.streetExtents = append(b.streetExtents, newStreetExtent(s.at, &s.around))
		if len(s.houses) > 0 {
			b.firstHouse = append(b.firstHouse, housesOf{uint32(i), uint32(len(b.houses))})
			b.houses = append(b.houses, s.houses...)
		}
		for _, way := range s.ways {
			if o := &b.c.objects[way]; !inGraph[o.osm.id()] {
				b.addSamples(o, id)
			}
		}
	}
	slices.SortFunc(b.spellings, compareSpellings)
}

// Minimum and maximum distance in metres between two samples of a way.
const (
	sampleAfter = 22
	sampleEvery = 30
)

// maxSamples is the maximum number of samples between two nodes.
const maxSamples = 1000

// addSamples adds places on a way that is not in the graph.
func (b *builder) addSamples(o *object, id uint32) {
	var before, sampled graph.Position
	have := false
	refs := b.c.refs[o.firstRef : o.firstRef+o.refs]
	for i, node := range refs {
		at, ok := b.c.position(node)
		if !ok {
			continue
		}
		steps := 1
		if have {
			if metres(sampled, at) < sampleAfter && i < len(refs)-1 {
				before = at
				continue
			}
			steps = min(int(metres(before, at)/sampleEvery)+1, maxSamples)
		} else {
			before = at
		}
		for k := 1; k <= steps; k++ {
			p := between(before, at, float64(k)/float64(steps))
			b.samples = append(b.samples, sample{p.Lng, p.Lat, id})
		}
		before, sampled, have = at, at, true
	}
}

// between returns the place at a share of the way from a to b.
func between(a, b graph.Position, share float64) graph.Position {
	lng := int64(a.Lng) + int64(share*float64(shorter(int64(b.Lng)-int64(a.Lng))))
	if lng < -fullTurn/2 {
		lng += fullTurn
	}
	return graph.Position{Lng: wrapped(lng), Lat: a.Lat + int32(share*float64(int64(b.Lat)-int64(a.Lat)))}
}
