package geocode

import (
	"context"
	"slices"
	"strings"

	"wayside/internal/roads/graph"
	"wayside/internal/roads/match"
	"wayside/internal/roads/osmpbf"
)

// Built is an index, with statistics of its making.
type Built struct {
	Sections  []graph.Section
	Places    int // features, streets and postcodes that can be found
	Addresses int // house numbers
	LeftOut   map[string]int
}

// Build makes the index of extracts. g and roads must be built from the same extracts.
func Build(ctx context.Context, files []*osmpbf.File, g *graph.Graph, roads *match.Index) (*Built, error) {
	c, err := collect(ctx, files)
	if err != nil {
		return nil, err
	}
	c.locate()
	b := newBuilder(c, g, roads)
	b.addFeatures()
	b.addTaggedCities()
	b.findPlaces()
	b.addPostcodes()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	b.addStreets()
	b.addHouses()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	b.writeWords()
	b.writeTree()
	out := &Built{Addresses: len(b.houses), LeftOut: c.leftOut}
	for i := range b.documents {
		if !b.documents[i].has(hidden) {
			out.Places++
		}
	}
	b.about = []summary{{version, b.features}}
	b.arrays.texts = b.own.all
	for _, a := range b.arrays.all() {
		out.Sections = append(out.Sections, graph.Section{Name: a.name, Bytes: a.data})
	}
	return out, nil
}

// builder makes the arrays.
type builder struct {
	arrays
	c       *collector
	g       *graph.Graph
	roads   *match.Index
	fold    folder
	own     *texts
	named   map[string]uint32 // the offset of each name in the graph's texts
	kindsOf map[kind]uint16
	rows    map[place]uint32

	features   uint32   // number of features
	documentOf []uint32 // of each object, or none
	placeOf    []place  // of each object
	around     surroundings
	cities     map[string][]uint32 // by their folded names
	postings   map[string][]uint32
	streets    []street
	virtual    map[virtualKey]int
}

func newBuilder(c *collector, g *graph.Graph, roads *match.Index) *builder {
	b := &builder{
		c: c, g: g, roads: roads, own: newTexts(), named: map[string]uint32{}, kindsOf: map[kind]uint16{}, rows: map[place]uint32{},
		documentOf: make([]uint32, len(c.objects)), placeOf: make([]place, len(c.objects)),
		cities: map[string][]uint32{}, postings: map[string][]uint32{}, virtual: map[virtualKey]int{},
	}
	for i := range b.documentOf {
		b.documentOf[i] = none
	}
	for i := range g.Ways {
		if r := g.Ways[i].Name; r.Length > 0 && r.Start < ownText {
			b.named[string(g.Texts[r.Start:r.Start+r.Length])] = r.Start
		}
	}
	return b
}

// key returns a name in the form in which names are compared.
func (b *builder) key(name string) string {
	b.fold.fold(name, maxWords)
	words := make([]string, len(b.fold.words))
	for i := range words {
		words[i] = string(b.fold.word(i))
	}
	return strings.Join(words, " ")
}

// maxWords is how many words of a name count.
const maxWords = 16

// maxKinds is the maximum number of kinds; further ones become "yes".
const maxKinds = 4000

func (b *builder) kindNumber(k kind) uint16 {
	n, ok := b.kindsOf[k]
	if ok {
		return n
	}
	if len(b.kindsOf) >= maxKinds {
		if k.value = "yes"; len(b.kindsOf) >= 2*maxKinds {
			return 0
		}
		if n, ok := b.kindsOf[k]; ok {
			return n
		}
	}
	n = uint16(len(b.kindsOf))
	b.kindsOf[k] = n
	b.kinds = append(b.kinds, k.key+"="+k.value+"\n"...)
	return n
}

// row returns the index of a place in places, adding it if necessary.
func (b *builder) row(p place) uint32 {
	n, ok := b.rows[p]
	if !ok {
		n = uint32(len(b.places))
		b.rows[p] = n
		b.places = append(b.places, p)
	}
	return n
}

// add adds a document with its names.
func (b *builder) add(d document, osm osmID, n *names) uint32 {
	d.setOSM(osm)
	id := uint32(len(b.documents))
	if start, ok := b.named[n.name]; ok {
		d.Name = start
	} else {
		d.Name = b.own.start(b.own.add(n.name)) | ownText
	}
	d.NameLength = uint16(len(n.name))
	d.Words = b.addWords(id, n.name)
	for _, t := range n.further().translations {
		if t.text != n.name {
			d.Words = min(d.Words, b.addWords(id, t.text))
			b.translations = append(b.translations, translation{id, uint32(t.language), b.own.add(t.text)})
		}
	}
	for _, other := range n.further().others {
		if words := b.addWords(id, other); d.layer() != LayerStreet { // the other names of a street are road numbers
			d.Words = min(d.Words, words)
		}
	}
	b.documents = append(b.documents, d)
	return id
}

// addWords lists a document under the words of a name, and returns the number of words, at least 1.
func (b *builder) addWords(id uint32, name string) uint8 {
	b.fold.fold(name, maxWords)
	for i := range b.fold.words {
		b.addWord(id, b.fold.word(i))
	}
	for _, s := range b.fold.joined {
		b.addWord(id, b.fold.text[s.start:s.end])
	}
	return uint8(max(len(b.fold.words), 1))
}

func (b *builder) addWord(id uint32, word []byte) {
	list := b.postings[string(word)]
	if len(list) == 0 || list[len(list)-1] != id {
		b.postings[string(word)] = append(list, id)
	}
}

// addFeatures makes documents of places, boundaries and points of interest. A boundary and a place inside it with the
// same name become one document.
func (b *builder) addFeatures() {
	c := b.c
	placesNamed := map[string][]int{}
	for i := range c.objects {
		o := &c.objects[i]
		if o.role != isPlace {
			continue
		}
		b.addFeature(i, o.kind.layer())
		if rank := o.kind.layer(); rank >= LayerDistrict && rank != LayerOther {
			key := b.key(o.name)
			placesNamed[key] = append(placesNamed[key], i)
			if rank == LayerCity {
				b.cities[key] = append(b.cities[key], b.documentOf[i])
			}
		}
	}
	areas := c.areas()
	complete := map[int]bool{}
	for i := range areas {
		complete[areas[i].object] = true
	}
	for i := range c.objects {
		o := &c.objects[i]
		rank := layerOfLevel(o.rare.level)
		if o.role != isBoundary || rank == LayerOther {
			continue
		}
		key := b.key(o.name)
		for _, k := range placesNamed[key] {
			if p := &c.objects[k]; p.osm&3 == osmNode && (p.osm.id() == o.rare.label || o.around.contains(p.at, 0)) {
				b.documentOf[i] = b.documentOf[k]
				b.setExtent(b.documentOf[k], o)
				break
			}
		}
		if b.documentOf[i] != none {
			continue
		}
		b.addFeature(i, rank)
		if rank == LayerCity {
			b.cities[key] = append(b.cities[key], b.documentOf[i])
		}
		if !complete[i] && o.at == o.around.middle() {
			b.documents[b.documentOf[i]].Bits |= hidden // the middle of such a boundary is unknown
		}
	}
	for i := range areas {
		b.around.areas = append(b.around.areas, areas[i])
		b.around.document = append(b.around.document, b.documentOf[areas[i].object])
	}
	b.addCentres()
}

func (b *builder) addFeature(i int, layer Layer) {
	o := &b.c.objects[i]
	importance := o.kind.importance(o.rare.population)
	if o.role == isBoundary {
		importance = [layers]float64{LayerDistrict: 0.4, LayerCity: 0.5, LayerCounty: 0.6, LayerState: 0.85, LayerCountry: 1}[layer]
	}
	b.documentOf[i] = b.add(document{
		Lng: o.at.Lng, Lat: o.at.Lat, Kind: b.kindNumber(o.kind), Place: none, Importance: uint8(255 * importance), Bits: flags(layer) << layerShift,
	}, o.osm, &o.names)
	if o.osm&3 != osmNode && o.name != "" {
		b.setExtent(b.documentOf[i], o)
	}
	if o.private {
		b.documents[b.documentOf[i]].Bits |= private
	}
	if o.rare.hours != "" {
		b.hours = append(b.hours, openingHours{b.documentOf[i], b.own.add(o.rare.hours)})
	}
}

func (b *builder) setExtent(id uint32, o *object) {
	if !b.documents[id].has(hasExtent) {
		b.documents[id].Bits |= hasExtent
		b.featureExtents = append(b.featureExtents, featureExtent{id, o.around.extent()})
	}
}

// addCentres records the radius of each place that is a node.
func (b *builder) addCentres() {
	for i := range b.c.objects {
		o := &b.c.objects[i]
		radius := placeRadius(o.kind.value)
		if o.role != isPlace || o.kind.key != "place" || o.osm&3 != osmNode || radius == 0 {
			continue
		}
		b.around.centres = append(b.around.centres, centre{o.at, b.documentOf[i], o.kind.layer(), radius})
	}
	slices.SortStableFunc(b.around.centres, func(x, y centre) int { return int(int64(x.at.Lat) - int64(y.at.Lat)) })
}

// addTaggedCities makes documents of cities that occur only in addresses. They are never results.
func (b *builder) addTaggedCities() {
	for i := range b.c.objects {
		o := &b.c.objects[i]
		if o.address.city == "" {
			continue
		}
		key := b.key(o.address.city)
		if key == "" || len(b.cities[key]) > 0 {
			continue
		}
		id := b.add(document{
			Lng: o.at.Lng, Lat: o.at.Lat, Kind: b.kindNumber(kind{"place", "yes"}), Place: none, Bits: flags(LayerCity)<<layerShift | hidden,
		}, o.osm, &names{name: o.address.city})
		b.cities[key] = []uint32{id}
	}
}

// farthestCity is the maximum distance in metres from an address to the middle of the city that it names.
const farthestCity = 40_000

// city returns the nearest city with a name, or none if there is none within farthestCity. Cities that occur only in
// addresses count at any distance.
func (b *builder) city(name string, at graph.Position) uint32 {
	best, least := uint32(none), 0.0
	for _, id := range b.cities[b.key(name)] {
		d := &b.documents[id]
		if away := metres(at, d.at()); best == none || away < least {
			best, least = id, away
		}
	}
	if best != none && least > farthestCity && !b.documents[best].has(hidden) {
		return none
	}
	return best
}

// findPlaces determines what each object lies in, by its own address first.
func (b *builder) findPlaces() {
	codes := map[uint32]map[[2]byte]int{}
	count := func(city uint32, code [2]byte) {
		if codes[city] == nil {
			codes[city] = map[[2]byte]int{}
		}
		codes[city][code]++
	}
	code := map[uint32]string{}
	for i := range b.c.objects {
		if o := &b.c.objects[i]; o.role == isBoundary && o.rare.code != "" {
			code[b.documentOf[i]] = o.rare.code
		}
	}
	for i := range b.c.objects {
		o, p := &b.c.objects[i], &b.placeOf[i]
		*p = b.around.at(o.at)
		if own := b.documentOf[i]; own != none {
			p.forget(own, b.documents[own].layer(), o.kind.value)
		}
		if o.address.city != "" && o.role != isBoundary {
			if city := b.city(o.address.city, o.at); city != none && city != b.documentOf[i] {
				p.City = city
			}
		}
		p.Postcode = b.own.add(plainPostcode(o.address.postcode))
		switch {
		case o.address.country != "":
			p.Code = [2]byte([]byte(o.address.country))
			count(p.City, p.Code)
			count(none, p.Code)
		case p.Country != none && code[p.Country] != "":
			p.Code = [2]byte([]byte(code[p.Country]))
		}
	}
	b.fillCountries(codes, code)
	for i := range b.c.objects {
		if id := b.documentOf[i]; id != none && b.c.objects[i].role == isPlace || id != none && b.documents[id].Place == none {
			b.documents[id].Place = b.row(b.placeOf[i])
		}
	}
	empty := b.row(place{City: none, District: none, County: none, State: none, Country: none})
	for i := range b.documents {
		if b.documents[i].Place == none {
			b.documents[i].Place = empty
		}
	}
}

// forget removes a document from its own place and, for a large document, the smaller layers.
func (p *place) forget(own uint32, layer Layer, kind string) {
	if layer >= LayerCity || kind == "island" || kind == "archipelago" {
		p.District = none
	}
	if layer > LayerCity || kind == "island" || kind == "archipelago" {
		p.City = none
	}
	for _, into := range []*uint32{&p.City, &p.District, &p.County, &p.State, &p.Country} {
		if *into == own {
			*into = none
		}
	}
}

// fillCountries sets the missing countries: to that of most addresses of the same city or, if nearly all addresses are
// in one country, to that.
func (b *builder) fillCountries(codes map[uint32]map[[2]byte]int, code map[uint32]string) {
	documents := map[string]uint32{}
	for id, c := range code {
		if before, ok := documents[c]; !ok || id < before {
			documents[c] = id
		}
	}
	most := func(counts map[[2]byte]int) (best [2]byte) {
		all := 0
		for c, n := range counts {
			all += n
			if n > counts[best] || n == counts[best] && string(c[:]) < string(best[:]) {
				best = c
			}
		}
		if counts[best]*10 < all*9 {
			return [2]byte{}
		}
		return best
	}
	whole := most(codes[none])
	for i := range b.placeOf {
		p := &b.placeOf[i]
		if p.Code == [2]byte{} {
			if p.Code = most(codes[p.City]); p.Code == [2]byte{} {
				p.Code = whole
			}
		}
		if id, ok := documents[string(p.Code[:])]; ok && p.Country == none && id != b.documentOf[i] {
			p.Country = id
		}
	}
}

// plainPostcode returns the first of a list of postcodes, or "" if it is not a postcode.
func plainPostcode(text string) string {
	text, _, _ = strings.Cut(text, ";")
	text = strings.TrimSpace(text)
	if len(text) > 12 || !strings.ContainsAny(text, "0123456789") {
		return ""
	}
	return text
}

// postcodeArea is a postcode in a city.
type postcodeArea struct {
	postcode, city uint32
}

// addPostcodes makes a document of each postcode of each city, in the middle of the objects that have it.
func (b *builder) addPostcodes() {
	found := map[postcodeArea]int{}
	var order []postcodeArea
	var around []box
	var first []int
	for i := range b.c.objects {
		o := &b.c.objects[i]
		if o.role == isBoundary || b.placeOf[i].Postcode == 0 {
			continue
		}
		key := postcodeArea{b.placeOf[i].Postcode, b.placeOf[i].City}
		k, ok := found[key]
		if !ok {
			found[key] = len(order)
			order, around, first = append(order, key), append(around, boxAt(o.at)), append(first, i)
			continue
		}
		around[k].add(o.at)
	}
	for k, key := range order {
		at, place := around[k].middle(), b.placeOf[first[k]]
		place.District = none
		k0 := kind{"place", "postcode"}
		id := b.add(document{
			Lng: at.Lng, Lat: at.Lat, Kind: b.kindNumber(k0), Place: b.row(place), Importance: uint8(255 * k0.importance("")),
		}, b.c.objects[first[k]].osm, &names{name: string(b.arraysText(key.postcode))})
		b.documents[id].Bits |= hasExtent
		b.featureExtents = append(b.featureExtents, featureExtent{id, around[k].extent()})
	}
	b.features = uint32(len(b.documents))
	slices.SortFunc(b.featureExtents, func(x, y featureExtent) int { return int(x.Document) - int(y.Document) })
}

// arraysText returns one of the index's own texts while the index is being built.
func (b *builder) arraysText(at uint32) []byte {
	b.arrays.texts = b.own.all
	return b.arrays.text(at)
}
