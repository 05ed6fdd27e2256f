package geocode

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"wayside/internal/roads/graph"
	"wayside/internal/roads/hours"
	"wayside/internal/roads/osmpbf"
)

// role is the meaning of an object for the index.
type role uint8

const (
	isHighway       role = iota // a way that is a street, or a part of one
	isPlace                     // a feature: something that can be found
	isHouse                     // an address without a name
	isInterpolation             // a line along which house numbers are interpolated
	isBoundary                  // of an administrative area or of postcodes
)

// object is the kept part of an object of an extract.
type object struct {
	osm  osmID
	role role
	kind kind
	names
	address *tagged   // never nil
	rare    *rareTags // never nil

	firstRef, refs uint32 // its nodes
	at             graph.Position
	around         box
	located        bool
	private        bool // not everybody may go there
}

// rareTags are tags that few objects have.
type rareTags struct {
	population string
	level      int    // of an administrative boundary
	code       string // of a country
	hours      string // when it is open
	members    []int64
	label      int64 // node that represents a relation; 0: none
}

// names are the names of an object.
type names struct {
	name string
	more *moreNames // nil: none
}

// moreNames are names that few objects have.
type moreNames struct {
	translations []translated
	others       []string // by which it can also be found
}

// further returns the names besides the first.
func (n *names) further() moreNames {
	if n.more == nil {
		return moreNames{}
	}
	return *n.more
}

// change returns a copy of the names besides the first that is not shared and may be modified.
func (n *names) change() *moreNames {
	more := new(moreNames)
	if n.more != nil {
		*more = *n.more
	}
	n.more = more
	return more
}

type translated struct {
	language int
	text     string
}

// tagged holds the values of the tags addr:*.
type tagged struct {
	number, street, city, postcode, country, interpolation string
}

// Bounds against files that become far larger in memory than on disk.
const (
	referencesPerByte = 2
	freeReferences    = 1 << 20
)

// collector keeps the needed parts of extracts.
type collector struct {
	objects []object
	refs    []int64             // of all kept ways
	lines   map[int64][2]uint32 // ways that are members of relations: first and count of refs
	texts   map[string]string
	leftOut map[string]int
	allowed int

	associated []associatedStreet
	houses     []associatedHouse // sorted by house after the relations were read

	// Shared by objects without an address or without rare tags.
	noAddress tagged
	noRare    rareTags

	vocabulary *vocabulary

	nodes     []int64 // ids, ascending
	positions []graph.Position
	known     []bool
}

// collect reads relations, then ways, then nodes.
func collect(ctx context.Context, files []*osmpbf.File) (*collector, error) {
	c := &collector{lines: map[int64][2]uint32{}, texts: map[string]string{}, leftOut: map[string]int{}, allowed: freeReferences, vocabulary: newVocabulary()}
	for _, f := range files {
		c.allowed += int(f.Size()) * referencesPerByte
	}
	for _, pass := range []struct {
		want osmpbf.Types
		use  func(*osmpbf.Block) error
	}{{osmpbf.Relations, c.relations}, {osmpbf.Ways, c.ways}, {osmpbf.Nodes, c.nodesOf}} {
		switch pass.want {
		case osmpbf.Ways:
			c.sortAssociated()
		case osmpbf.Nodes:
			c.wantNodes()
		}
		for _, f := range files {
			if err := f.Scan(ctx, osmpbf.Options{Want: pass.want}, pass.use); err != nil {
				return nil, err
			}
		}
	}
	slices.SortStableFunc(c.objects, func(a, b object) int { return compareOSM(a.osm, b.osm) })
	c.objects = slices.CompactFunc(c.objects, func(a, b object) bool { return a.osm == b.osm }) // extracts overlap
	c.nameAssociated()
	return c, nil
}

// keep returns a copy of a text that does not keep the block in memory.
func (c *collector) keep(text string) string {
	if text == "" {
		return ""
	}
	kept, ok := c.texts[text]
	if !ok {
		kept = strings.Clone(text)
		c.texts[kept] = kept
	}
	return kept
}

// name returns a name in a form that can be shown, or "".
func (c *collector) name(text string) string {
	clean := cleanName(text)
	if clean == "" && text != "" {
		c.leftOut["unusable_names"]++
	}
	return c.keep(clean)
}

// Languages returns the languages in which names are kept besides the default names.
func Languages() []string { return []string{"en", "de", "fr", "nl", "es", "it", "ar"} }

// ownAddress returns an object's address for modification.
func (c *collector) ownAddress(o *object) *tagged {
	if o.address == &c.noAddress {
		o.address = new(tagged)
	}
	return o.address
}

// ownRare returns an object's rare tags for modification.
func (c *collector) ownRare(o *object) *rareTags {
	if o.rare == &c.noRare {
		o.rare = new(rareTags)
	}
	return o.rare
}

// spare holds texts of an object that only some kinds use.
type spare struct{ highway, boundary, ref, brand, operator, access, hours string }

// parse reads the tags of an object, and returns false if the index does not need the object.
func (c *collector) parse(o *object, tags osmpbf.Tags) bool {
	o.address, o.rare = &c.noAddress, &c.noRare
	f := c.readTags(o, tags)
	if translations := o.further().translations; o.name == "" && len(translations) > 0 {
		o.name = translations[0].text
	}
	switch osm := o.osm & 3; {
	case osm == osmWay && o.address.interpolation != "":
		o.role = isInterpolation
		return true
	case osm == osmWay && isStreet(f.highway) && c.isNamedStreet(o, &f):
		return true
	case osm == osmRelation && f.boundary == "administrative":
		o.role, o.kind = isBoundary, kind{"boundary", "administrative"}
		return o.name != ""
	case osm == osmRelation && f.boundary == "postal_code":
		return false // the addresses in it have the code
	}
	if k, ok := kindOf(tags, featureKeys()); ok && c.isKnownFeature(o, k, &f) {
		return true
	}
	o.role, o.kind = isHouse, kind{"place", "house"}
	return o.address.number != ""
}

// readTags reads names and addresses.
func (c *collector) readTags(o *object, tags osmpbf.Tags) (f spare) {
	for _, t := range tags {
		switch t.Key {
		case "highway":
			f.highway = t.Value
		case "boundary":
			f.boundary = t.Value
		case "ref":
			f.ref = t.Value
		case "brand":
			f.brand = t.Value
		case "operator":
			f.operator = t.Value
		case "access":
			f.access = t.Value
		case "opening_hours":
			f.hours = t.Value
		case "population":
			c.ownRare(o).population = c.keep(t.Value)
		case "name":
			o.name = c.name(t.Value)
		case "postal_code":
			if o.address.postcode == "" {
				c.ownAddress(o).postcode = c.name(t.Value)
			}
		case "admin_level":
			if level, plain := leadingNumber(t.Value); plain && level < 20 {
				c.ownRare(o).level = int(level)
			}
		case "ISO3166-1", "ISO3166-1:alpha2":
			c.ownRare(o).code = c.keep(countryCode(t.Value))
		case "alt_name", "old_name", "short_name", "official_name", "int_name", "loc_name":
			c.addNames(o, t.Value)
		default:
			if rest, ok := strings.CutPrefix(t.Key, "addr:"); ok {
				c.parseAddress(o, rest, t.Value)
			} else if language, ok := strings.CutPrefix(t.Key, "name:"); ok {
				c.parseTranslation(o, language, t.Value)
			}
		}
	}
	return f
}

// isNamedStreet makes the object a street and reports true if the way has a name, or is a large road known by its
// number.
func (c *collector) isNamedStreet(o *object, f *spare) bool {
	ref := f.ref
	if o.name == "" && hasNumber(f.highway) {
		o.name, ref = c.name(ref), ""
	}
	if o.name == "" {
		return false
	}
	if ref != "" && len(ref) < maxWordBytes {
		c.addNames(o, ref)
	}
	o.role, o.kind = isHighway, kind{"highway", c.keep(f.highway)}
	return true
}

// isKnownFeature makes the object a feature and reports true if it has a name or a brand, or is of a kind that drivers
// look for without a name.
func (c *collector) isKnownFeature(o *object, k kind, f *spare) bool {
	if o.name == "" && hasBrand(k.key) {
		if o.name = c.name(f.brand); o.name == "" {
			o.name = c.name(f.operator)
		}
	} else if f.brand != "" && f.brand != o.name {
		c.addNames(o, f.brand)
	}
	isPrivate := f.access == "private" || f.access == "no"
	if o.name == "" {
		named := c.vocabulary.kindOf(k.key, k.value)
		if isPrivate || named < 0 || !c.vocabulary.kinds[named].unnamed {
			return false
		}
	}
	o.role, o.kind, o.private = isPlace, kind{c.keep(k.key), c.keep(k.value)}, isPrivate
	if text := hours.Text(f.hours); text != "" {
		c.ownRare(o).hours = c.keep(text)
	}
	return true
}

// hasNumber reports whether roads of a highway value without a name are known by their number.
func hasNumber(highway string) bool {
	switch highway {
	case "motorway", "trunk", "primary", "secondary":
		return true
	}
	return false
}

// maxOtherNames is the maximum number of other names of an object.
const maxOtherNames = 12

// addNames adds names separated by semicolons.
func (c *collector) addNames(o *object, text string) {
	for one := range strings.SplitSeq(text, ";") {
		if len(o.further().others) >= maxOtherNames {
			c.leftOut["more_names"]++
			break
		}
		if name := c.name(one); name != "" {
			more := o.change()
			more.others = append(more.others, name)
		}
	}
}

func (c *collector) parseTranslation(o *object, language, text string) {
	i := slices.Index(Languages(), language)
	if i < 0 || slices.ContainsFunc(o.further().translations, func(t translated) bool { return t.language == i }) {
		return
	}
	if name := c.name(text); name != "" {
		more := o.change()
		more.translations = append(more.translations, translated{i, name})
		slices.SortFunc(more.translations, func(a, b translated) int { return a.language - b.language })
	}
}

func (c *collector) parseAddress(o *object, key, value string) {
	a := o.address
	switch key {
	case "housenumber", "street", "place", "city", "postcode", "country", "interpolation":
		a = c.ownAddress(o)
	}
	switch key {
	case "housenumber":
		a.number = c.name(value)
	case "street":
		a.street = c.name(value)
	case "place":
		if a.street == "" {
			a.street = c.name(value)
		}
	case "city":
		a.city = c.name(value)
	case "postcode":
		a.postcode = c.name(value)
	case "country":
		a.country = c.keep(countryCode(value))
	case "interpolation":
		a.interpolation = c.keep(value)
	}
}

// countryCode returns a code of two letters in upper case, or "".
func countryCode(text string) string {
	text = strings.ToUpper(text)
	if len(text) != 2 || text[0] < 'A' || text[0] > 'Z' || text[1] < 'A' || text[1] > 'Z' {
		return ""
	}
	return text
}

func (c *collector) relations(b *osmpbf.Block) error {
	for i := range b.Relations {
		r := &b.Relations[i]
		switch kind, _ := r.Tags.Get("type"); kind {
		case "multipolygon", "boundary", "site":
		case "associatedStreet", "street":
			if err := c.associate(r); err != nil {
				return err
			}
			continue
		default:
			continue
		}
		o := object{osm: newOSMID(osmRelation, r.ID)}
		if !c.parse(&o, r.Tags) {
			continue
		}
		for _, m := range r.Members {
			switch {
			case m.Type == osmpbf.Ways && (m.Role == "outer" || m.Role == "inner" || m.Role == ""):
				rare := c.ownRare(&o)
				rare.members = append(rare.members, m.Ref)
				c.lines[m.Ref] = [2]uint32{}
			case m.Type == osmpbf.Nodes && (m.Role == "label" || m.Role == "admin_centre" && o.rare.label == 0):
				c.ownRare(&o).label = m.Ref
			}
		}
		c.objects = append(c.objects, o)
	}
	return nil
}

func (c *collector) ways(b *osmpbf.Block) error {
	for i := range b.Ways {
		w := &b.Ways[i]
		line, member := c.lines[w.ID]
		if member && line[1] > 0 {
			continue // the way was in an earlier extract
		}
		o := object{osm: newOSMID(osmWay, w.ID)}
		wanted := len(w.Refs) > 0 && c.parse(&o, w.Tags)
		if !wanted && !member {
			continue
		}
		first := uint32(len(c.refs))
		c.refs = append(c.refs, w.Refs...)
		if len(c.refs) > c.allowed {
			return fmt.Errorf("the ways that place search needs have more than %d nodes, which is more than the extracts can mean", c.allowed)
		}
		if member {
			c.lines[w.ID] = [2]uint32{first, uint32(len(w.Refs))}
		}
		if wanted {
			o.firstRef, o.refs = first, uint32(len(w.Refs))
			c.objects = append(c.objects, o)
		}
	}
	return nil
}

// wantNodes lists the nodes whose positions are needed.
func (c *collector) wantNodes() {
	c.nodes = slices.Clone(c.refs)
	for i := range c.objects {
		if label := c.objects[i].rare.label; label != 0 {
			c.nodes = append(c.nodes, label)
		}
	}
	slices.Sort(c.nodes)
	c.nodes = slices.Compact(c.nodes)
	c.positions, c.known = make([]graph.Position, len(c.nodes)), make([]bool, len(c.nodes))
}

func (c *collector) nodesOf(b *osmpbf.Block) error {
	for i := range b.Nodes {
		n := &b.Nodes[i]
		if !n.Point().Valid() {
			continue
		}
		at := graph.Position{Lng: int32(n.Lng / 100), Lat: int32(n.Lat / 100)}
		if k, ok := slices.BinarySearch(c.nodes, n.ID); ok && !c.known[k] {
			c.positions[k], c.known[k] = at, true
		}
		if len(n.Tags) == 0 {
			continue
		}
		o := object{osm: newOSMID(osmNode, n.ID), at: at, around: boxAt(at), located: true}
		if c.parse(&o, n.Tags) {
			c.objects = append(c.objects, o)
		}
	}
	return nil
}

// position returns the position of a node, and false if no extract has the node.
func (c *collector) position(node int64) (graph.Position, bool) {
	if k, ok := slices.BinarySearch(c.nodes, node); ok && c.known[k] {
		return c.positions[k], true
	}
	return graph.Position{}, false
}

// locate determines the positions of ways and relations: streets in the middle of their nodes, relations at their label,
// areas and others in the middle of their box. It drops objects without a position.
func (c *collector) locate() {
	for i := range c.objects {
		o := &c.objects[i]
		if o.located {
			continue
		}
		switch o.osm & 3 {
		case osmWay:
			c.boxOf(o, o.firstRef, o.refs)
		case osmRelation:
			for _, way := range o.rare.members {
				if line := c.lines[way]; line[1] > 0 {
					c.boxOf(o, line[0], line[1])
				}
			}
		}
		if !o.located {
			continue
		}
		o.at = o.around.middle()
		if at, ok := c.position(o.rare.label); ok && o.rare.label != 0 {
			o.at = at
		} else if o.role == isHighway {
			a, okA := c.position(c.refs[o.firstRef+(o.refs-1)/2])
			b, okB := c.position(c.refs[o.firstRef+o.refs/2])
			if okA && okB {
				o.at = between(a, b, 0.5)
			}
		}
	}
	c.objects = slices.DeleteFunc(c.objects, func(o object) bool {
		if !o.located {
			c.leftOut["without_place"]++
		}
		return !o.located
	})
}

// boxOf adds a line to the box of an object.
func (c *collector) boxOf(o *object, first, count uint32) {
	for _, node := range c.refs[first : first+count] {
		at, ok := c.position(node)
		if !ok {
			continue
		}
		if !o.located {
			o.around, o.located = boxAt(at), true
		} else {
			o.around.add(at)
		}
	}
}
