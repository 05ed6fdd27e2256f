package tilemaker

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"wayside/internal/roads/basemap/mvt"
	"wayside/internal/roads/osmpbf"
)

// layerID is a layer of the tiles.
type layerID uint8

// The layers, in the order of the tile.
const (
	earthLayer layerID = iota
	landuseLayer
	waterLayer
	boundariesLayer
	roadsLayer
	buildingsLayer
	placesLayer
	poisLayer
	layerCount
)

func (l layerID) name() string {
	return [layerCount]string{"earth", "landuse", "water", "boundaries", "roads", "buildings", "places", "pois"}[l]
}

// tag is a member of a feature, and the lowest zoom that shows it.
type tag struct {
	mvt.Tag
	from uint8
}

// attributes are the common members of features of one kind and name. Equal attributes are the same pointer.
type attributes struct {
	layer layerID
	tags  []tag
}

// at returns the members at a zoom.
func (a *attributes) at(zoom uint8) []mvt.Tag {
	out := make([]mvt.Tag, 0, len(a.tags))
	for _, t := range a.tags {
		if t.from <= zoom {
			out = append(out, t.Tag)
		}
	}
	return out
}

// interner holds one copy of equal texts and of equal attributes.
type interner struct {
	texts map[string]string
	known map[string]*attributes
	key   []byte
}

func newInterner() *interner {
	return &interner{texts: make(map[string]string), known: make(map[string]*attributes)}
}

func (n *interner) text(s string) string {
	kept, ok := n.texts[s]
	if !ok {
		kept = strings.Clone(s) // a copy, because a block's strings keep the whole block in memory
		n.texts[kept] = kept
	}
	return kept
}

// intern returns the shared attributes with these tags.
func (n *interner) intern(layer layerID, tags []tag) *attributes {
	n.key = append(n.key[:0], byte(layer))
	for _, t := range tags {
		n.key = append(n.key, t.Name...)
		n.key = append(n.key, 0, t.from)
		n.key = append(n.key, t.Text...)
		n.key = append(n.key, 0, byte(t.Number), byte(t.Number>>8), byte(t.Number>>16))
	}
	found := n.known[string(n.key)]
	if found == nil {
		found = &attributes{layer: layer, tags: make([]tag, len(tags))}
		for i, t := range tags {
			t.Name, t.Text = n.text(t.Name), n.text(t.Text)
			found.tags[i] = t
		}
		n.known[string(n.key)] = found
	}
	return found
}

// maxText is the maximum length of a text in bytes. OpenStreetMap allows 255 characters; a longer text is not a name.
const maxText = 1020

// languages are the languages of names in tiles besides the local one: those of the page for cars, and Arabic.
var languages = [...]string{"name:en", "name:de", "name:fr", "name:nl", "name:es", "name:it", "name:ar"}

// clean returns a text in a form that a map may show: without characters that are invisible or change the direction of
// others. ok is false if the text is invalid.
func clean(text string) (string, bool) {
	if len(text) > maxText || !utf8.ValidString(text) {
		return "", false
	}
	plain := true
	for i := range len(text) {
		if c := text[i]; c < ' ' || c >= 0x7f {
			plain = false
			break
		}
	}
	if !plain {
		text = strings.Map(func(r rune) rune {
			switch {
			case unicode.IsControl(r), r == '\u2028', r == '\u2029':
				return ' '
			case unicode.In(r, unicode.Cf, unicode.Co, unicode.Cs):
				return -1
			}
			return r
		}, text)
	}
	return strings.TrimSpace(text), true
}

// facts are the tags of an object that determine its drawing.
type facts struct {
	highway, railway, waterway, natural, landuse, leisure, building, place, boundary string
	area, service, tunnel, water, adminLevel, maritime, kind, route, network         string
	amenity, shop, tourism, aeroway, access, bridge, oneway, junction                string
	name, ref, houseNumber, population                                               string
	names                                                                            [len(languages)]string

	badTexts int // left out
}

// read reads the tags. The first of equal keys counts.
func (f *facts) read(tags osmpbf.Tags) {
	*f = facts{}
	for _, t := range tags {
		if to := f.member(t.Key); to != nil && *to == "" {
			*to = t.Value
		}
	}
	for _, text := range []*string{&f.name, &f.ref, &f.houseNumber, &f.network} {
		f.clean(text)
	}
	for i := range f.names {
		if f.clean(&f.names[i]); f.names[i] == f.name {
			f.names[i] = ""
		}
	}
}

func (f *facts) clean(text *string) {
	if *text == "" {
		return
	}
	cleaned, ok := clean(*text)
	if !ok {
		f.badTexts++
	}
	*text = cleaned
}

// member returns the field for the value of a key, or nil.
func (f *facts) member(key string) *string {
	switch key {
	case "highway":
		return &f.highway
	case "railway":
		return &f.railway
	case "waterway":
		return &f.waterway
	case "natural":
		return &f.natural
	case "landuse":
		return &f.landuse
	case "leisure":
		return &f.leisure
	case "building":
		return &f.building
	case "place":
		return &f.place
	case "boundary":
		return &f.boundary
	case "area":
		return &f.area
	case "service":
		return &f.service
	case "tunnel":
		return &f.tunnel
	case "amenity":
		return &f.amenity
	case "shop":
		return &f.shop
	case "tourism":
		return &f.tourism
	case "aeroway":
		return &f.aeroway
	case "access":
		return &f.access
	case "bridge":
		return &f.bridge
	case "oneway":
		return &f.oneway
	case "junction":
		return &f.junction
	case "water":
		return &f.water
	case "admin_level":
		return &f.adminLevel
	case "maritime":
		return &f.maritime
	case "type":
		return &f.kind
	case "route":
		return &f.route
	case "network":
		return &f.network
	case "name":
		return &f.name
	case "ref":
		return &f.ref
	case "addr:housenumber":
		return &f.houseNumber
	case "population":
		return &f.population
	}
	if strings.HasPrefix(key, "name:") {
		for i, l := range languages {
			if key == l {
				return &f.names[i]
			}
		}
	}
	return nil
}

// named appends the names.
func (f *facts) named(tags []tag, from uint8) []tag {
	tags = appendText(tags, "name", f.name, from)
	for i, name := range f.names {
		tags = appendText(tags, languages[i], name, from)
	}
	return tags
}

func appendText(tags []tag, name, text string, from uint8) []tag {
	if text == "" {
		return tags
	}
	return append(tags, tag{mvt.Tag{Name: name, Text: text}, from})
}

func appendNumber(tags []tag, name string, number int, from uint8) []tag {
	return append(tags, tag{mvt.Tag{Name: name, Number: number}, from})
}
