package geocode

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"wayside/internal/roads/graph"
)

// The tag of house numbers in results, as in Photon's.
const (
	houseKey   = "place"
	houseValue = "house"
)

// findHouse looks for a house number of the query on a street, and returns its weight. It interpolates a missing number
// between two known ones, on the same side of the street if odd and even numbers are separate.
func (x *Index) findHouse(s *scratch, h *hit, t int) float32 {
	begin, houses := x.housesOn(h.id)
	number := s.tokens[t].number
	first, found := slices.BinarySearchFunc(houses, number, func(o house, number uint32) int { return cmp.Compare(o.Number, number) })
	after := t + 1 // a letter that is in the name of the street does not belong to the number
	for after < len(s.tokens) && s.tokens[after].run == s.tokens[t].run && s.masks[after][exact]>>(h.id%64)&1 == 0 {
		after++
	}
	best, most := -1, -1
	for k := first; found && k < len(houses) && houses[k].Number == number; k++ {
		if houses[k].OSM == [2]uint32{} {
			continue
		}
		if fit := s.fitNumber(x.number(&houses[k], s.number[:0]), t, after); fit > most {
			best, most = k, fit
		}
	}
	if best >= 0 {
		o := &houses[best]
		h.house, h.at = begin+uint32(best), graph.Position{Lng: o.Lng, Lat: o.Lat}
		if most == 0 {
			return nearHouse
		}
		return houseWeight
	}
	if at, ok := interpolate(houses, first, number); ok {
		h.interpolated, h.at = number, at
		return nearHouse
	}
	return noHouseWeight
}

// houseNumber returns the number at the beginning of a word of a query, and whether the word can be a house number:
// "12", "12a" and "12bis", but not "9th".
func houseNumber(word string) (uint32, bool) {
	number, _ := leadingNumber(word)
	switch suffix := strings.TrimLeft(word, "0123456789"); suffix {
	case "bis", "ter", "quater":
		return number, number > 0
	default:
		return number, number > 0 && utf8.RuneCountInString(suffix) <= 1
	}
}

// isSuffix reports whether a word can follow a house number: "12 a", "12 bis".
func isSuffix(word []byte) bool {
	switch string(word) {
	case "bis", "ter", "quater":
		return true
	}
	return utf8.RuneCount(word) == 1
}

// fitNumber returns how many tokens of the query, from t on and before after, make up a house number, or 0 if they do
// not. "12a" equals "12 A" and "12/a".
func (s *scratch) fitNumber(number []byte, t, after int) int {
	s.other.fold(string(number), maxWords)
	for last := t; last < after && s.tokens[last].run == s.tokens[t].run; last++ {
		if bytes.Equal(s.other.text, s.fold.text[s.tokens[t].span.start:s.tokens[last].span.end]) {
			return last - t + 1
		}
	}
	return 0
}

// inNumber reports whether a token belongs to the given house number somewhere in the query.
func (s *scratch) inNumber(number []byte, t int) bool {
	for first := s.tokens[t].run; first <= t; first++ {
		if s.tokens[first].house && first+s.fitNumber(number, first, len(s.tokens)) > t {
			return true
		}
	}
	return false
}

// number appends the number of a house as it is written.
func (x *Index) number(o *house, dst []byte) []byte {
	if o.Text == 0 {
		return strconv.AppendUint(dst, uint64(o.Number), 10)
	}
	return append(dst, x.text(o.Text)...)
}

// housesOn returns the houses of a street, and the index of the first.
func (x *Index) housesOn(id uint32) (begin uint32, houses []house) {
	street := id - uint32(x.features)
	i, ok := slices.BinarySearchFunc(x.firstHouse, street, func(h housesOf, street uint32) int { return cmp.Compare(h.Street, street) })
	if !ok {
		return 0, nil
	}
	begin = x.firstHouse[i].First
	if i+1 < len(x.firstHouse) {
		return begin, x.houses[begin:x.firstHouse[i+1].First]
	}
	return begin, x.houses[begin:]
}

// streetOfHouse returns the street of a house.
func (x *Index) streetOfHouse(house uint32) uint32 {
	i, ok := slices.BinarySearchFunc(x.firstHouse, house, func(h housesOf, house uint32) int { return cmp.Compare(h.First, house) })
	if !ok {
		i--
	}
	return uint32(x.features) + x.firstHouse[i].Street
}

// Bounds of interpolation.
const (
	widestGap  = 60  // difference between two known numbers
	longestGap = 800 // metres
)

// interpolate returns the position of a missing number: between those of the same parity if there is one on each side,
// otherwise between any two.
func interpolate(houses []house, first int, number uint32) (graph.Position, bool) {
	side := func(step int, same bool) *house {
		for k, from := first, first; ; k += step {
			if step < 0 && k == from {
				continue
			}
			if k < 0 || k >= len(houses) {
				return nil
			}
			if o := &houses[k]; o.Number != 0 && (!same || o.Number%2 == number%2) {
				return o
			}
		}
	}
	for _, same := range []bool{true, false} {
		a, z := side(-1, same), side(1, same)
		if a == nil || z == nil || z.Number-a.Number > widestGap || z.Number == a.Number {
			continue
		}
		p, q := graph.Position{Lng: a.Lng, Lat: a.Lat}, graph.Position{Lng: z.Lng, Lat: z.Lat}
		if metres(p, q) > longestGap {
			continue
		}
		return between(p, q, float64(number-a.Number)/float64(z.Number-a.Number)), true
	}
	return graph.Position{}, false
}

// result describes a hit.
func (x *Index) result(h *hit, q *Query) Result {
	d := &x.documents[h.id]
	k := &x.kindList[d.Kind]
	r := Result{OSMType: d.osm().kind(), OSMID: d.osm().id(), Key: k.key, Value: k.value, Layer: d.layer(), At: h.at}
	in := d.Place
	switch {
	case h.other != none:
		r.OSMType, r.OSMID, r.Key, r.Value, r.Layer = h.node.kind(), h.node.id(), "junction", "yes", LayerOther
		r.Name, r.Other = x.nameIn(h.id, q.Language), x.nameIn(h.other, q.Language)
	case h.house != none:
		o := &x.houses[h.house]
		in, r.Layer, r.Key, r.Value = o.Place, LayerHouse, houseKey, houseValue
		r.OSMType, r.OSMID = o.osm().kind(), o.osm().id()
		r.Street = x.nameIn(h.id, q.Language)
		if r.Number = x.text(o.Text); o.Text == 0 {
			r.Number = x.number(o, nil)
		}
	case h.interpolated != 0:
		r.Layer, r.Key, r.Value = LayerHouse, houseKey, houseValue
		r.Street, r.Number = x.nameIn(h.id, q.Language), strconv.AppendUint(nil, uint64(h.interpolated), 10)
	default:
		r.Name = x.nameIn(h.id, q.Language)
		x.describe(&r, h.id, d, q)
		x.describeKind(&r, h.id, d, q.Language)
	}
	x.describePlace(&r, in, q.Language)
	if h.house != none && x.places[in].Postcode == 0 {
		r.Postcode = x.text(x.places[d.Place].Postcode)
	}
	return r
}

// describe adds extent and address.
func (x *Index) describe(r *Result, id uint32, d *document, q *Query) {
	switch {
	case x.isStreet(id):
		around := x.streetExtents[int(id)-x.features].box(d.at())
		r.Extent, r.HasExtent = around.extent(), true
	case d.has(hasExtent):
		if i, ok := slices.BinarySearchFunc(x.featureExtents, id, func(e featureExtent, id uint32) int { return cmp.Compare(e.Document, id) }); ok {
			r.Extent, r.HasExtent = x.featureExtents[i].extent, true
		}
	}
	if !d.has(hasAddress) {
		return
	}
	if i, ok := slices.BinarySearchFunc(x.addresses, id, func(a address, id uint32) int { return cmp.Compare(a.Document, id) }); ok {
		r.Street, r.Number = x.nameIn(x.addresses[i].Street, q.Language), x.text(x.addresses[i].Number)
	}
}

// describeKind adds what a feature is, and when it is open.
func (x *Index) describeKind(r *Result, id uint32, d *document, language int) {
	if x.isStreet(id) {
		return
	}
	if k := x.named[d.Kind]; k >= 0 {
		r.Kind = x.vocabulary.kinds[k].name
		r.KindName = x.vocabulary.kinds[k].labels[max(language, 0)]
	}
	if i, ok := slices.BinarySearchFunc(x.hours, id, func(h openingHours, id uint32) int { return cmp.Compare(h.Document, id) }); ok {
		r.Hours = x.text(x.hours[i].Text)
	}
}

// describePlace adds what a result lies in.
func (x *Index) describePlace(r *Result, row uint32, language int) {
	p := &x.places[row]
	for _, one := range []struct {
		id   uint32
		into *[]byte
	}{{p.City, &r.City}, {p.District, &r.District}, {p.County, &r.County}, {p.State, &r.State}, {p.Country, &r.Country}} {
		if one.id != none {
			*one.into = x.nameIn(one.id, language)
		}
	}
	r.Postcode = x.text(p.Postcode)
	if p.Code != [2]byte{} {
		r.Code = p.Code[:]
	}
}
