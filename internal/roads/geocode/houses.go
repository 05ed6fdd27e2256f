package geocode

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"wayside/internal/ground/geo"
	"wayside/internal/roads/graph"
	"wayside/internal/roads/match"
)

const (
	farthestStreet = 3000 // metres from a house to the box of the street that its address names
	nearestRoad    = 80   // metres within which a house without a street belongs to the nearest named road
	maxNumbers     = 20   // in one address
	maxNumberBytes = 20   // of a house number
)

// virtualKey identifies a street that exists only in addresses, near a place.
type virtualKey struct {
	name string
	cell cell
}

// virtualCell is the size in units of the cells in which such addresses belong to one street.
const virtualCell = 200_000 // some 2 km

// addHouses adds house numbers to streets, and makes documents of the streets and the addresses of features.
func (b *builder) addHouses() {
	h := &houseFinder{b: b, named: map[string][]int{}, ofWay: map[int64]int{}}
	for i := range b.streets {
		key := b.key(b.streets[i].name)
		h.named[key] = append(h.named[key], i)
		for _, way := range b.streets[i].ways {
			h.ofWay[b.c.objects[way].osm.id()] = i
		}
	}
	type feature struct {
		object, street int
	}
	var features []feature
	for i := range b.c.objects {
		o := &b.c.objects[i]
		switch o.role {
		case isHouse, isPlace:
			if o.address.number == "" && o.address.street == "" || o.role == isPlace && o.kind.key == "place" {
				continue
			}
			s := h.street(o)
			if s < 0 {
				if o.address.number != "" {
					b.c.leftOut["houses_without_street"]++
				}
				continue
			}
			b.addNumbers(s, o, b.placeOf[i])
			if o.role == isPlace {
				features = append(features, feature{i, s})
			}
		case isInterpolation:
			h.interpolate(i, o)
		}
	}
	for i := range b.streets {
		b.streets[i].sortHouses()
	}
	b.writeStreets()
	for _, f := range features {
		id := b.documentOf[f.object]
		b.documents[id].Bits |= hasAddress
		b.addresses = append(b.addresses, address{id, b.features + uint32(f.street), b.own.add(b.c.objects[f.object].address.number)})
	}
	slices.SortFunc(b.addresses, func(x, y address) int { return cmp.Compare(x.Document, y.Document) })
}

// houseFinder finds the streets of houses.
type houseFinder struct {
	b     *builder
	named map[string][]int // streets by their folded names
	ofWay map[int64]int
}

// street returns the street of an address: the nearest with that name, or the nearest road if the address has no street.
// It returns -1 if there is none.
func (h *houseFinder) street(o *object) int {
	if o.address.street == "" {
		return h.nearest(o.at)
	}
	b, key := h.b, h.b.key(o.address.street)
	best, least := -1, float64(farthestStreet)
	for _, i := range h.named[key] {
		if away := b.streets[i].around.distance(o.at); away <= least {
			if away == least && best >= 0 && metres(b.streets[best].at, o.at) < metres(b.streets[i].at, o.at) {
				continue
			}
			best, least = i, away
		}
	}
	if best >= 0 || key == "" {
		return best
	}
	virtual := virtualKey{key, cell{o.at.Lng / virtualCell, o.at.Lat / virtualCell}}
	i, ok := b.virtual[virtual]
	if !ok {
		i = len(b.streets)
		b.virtual[virtual] = i
		place := b.around.at(o.at)
		b.streets = append(b.streets, street{
			names: names{name: o.address.street}, kind: kind{"place", "yes"}, around: o.around, at: o.at, osm: o.osm, place: place, hidden: true,
		})
	}
	b.streets[i].around.add(o.at)
	return i
}

// nearest returns the street of the nearest named road, or -1.
func (h *houseFinder) nearest(at graph.Position) int {
	g := h.b.g
	found := h.b.roads.Nearest(nil, geo.Point{Lat: float64(at.Lat) / 1e7, Lng: float64(at.Lng) / 1e7}, match.Nearest{
		Within: nearestRoad, Count: 1, Accept: func(piece uint32) bool {
			_, ok := h.ofWay[g.Ways[g.Pieces[piece].Way].OSM]
			return ok
		},
	})
	if len(found) == 0 {
		return -1
	}
	return h.ofWay[g.Ways[g.Pieces[found[0].Piece].Way].OSM]
}

// addNumbers adds the numbers of an address to a street.
func (b *builder) addNumbers(s int, o *object, in place) {
	target := &b.streets[s]
	target.countPostcode(in.Postcode)
	if target.hidden && target.place.Code == [2]byte{} {
		target.place = in
		target.place.Postcode = 0
	}
	added := 0
	for text := range strings.FieldsFuncSeq(o.address.number, func(r rune) bool { return r == ';' || r == ',' }) {
		text = strings.TrimSpace(text)
		if text == "" || len(text) > maxNumberBytes || added == maxNumbers {
			b.c.leftOut["unusable_house_numbers"]++
			continue
		}
		added++
		target.houses = append(target.houses, b.house(text, o.at, o.osm, b.row(in)))
	}
}

func (b *builder) house(text string, at graph.Position, osm osmID, row uint32) house {
	number, plain := leadingNumber(text)
	h := house{Lng: at.Lng, Lat: at.Lat, OSM: [2]uint32{uint32(osm), uint32(osm >> 32)}, Number: number, Place: row}
	if !plain {
		h.Text = b.own.add(text)
	}
	return h
}

// leadingNumber returns the number at the beginning of a house number, and whether the house number is just that.
func leadingNumber(text string) (number uint32, plain bool) {
	digits := 0
	for digits < len(text) && digits < 7 && text[digits] >= '0' && text[digits] <= '9' {
		digits++
	}
	if digits == 0 {
		return 0, false
	}
	n, err := strconv.ParseUint(text[:digits], 10, 32)
	return uint32(n), err == nil && digits == len(text) && text[0] != '0'
}

// sortHouses sorts the houses of a street by number.
func (s *street) sortHouses() {
	slices.SortStableFunc(s.houses, func(x, y house) int { return cmp.Or(cmp.Compare(x.Number, y.Number), cmp.Compare(x.Text, y.Text)) })
}

// interpolate adds the numbers at the corners of a line of addr:interpolation. Searches interpolate the numbers between
// them.
func (h *houseFinder) interpolate(i int, o *object) {
	b := h.b
	refs := b.c.refs[o.firstRef : o.firstRef+o.refs]
	type corner struct {
		at     graph.Position
		along  float64
		number uint32
		house  *object
	}
	var corners []corner
	for _, node := range refs {
		at, ok := b.c.position(node)
		if !ok {
			b.c.leftOut["interpolations"]++
			return
		}
		one := corner{at: at}
		if len(corners) > 0 {
			one.along = corners[len(corners)-1].along + metres(corners[len(corners)-1].at, at)
		}
		if house := b.c.house(node); house != nil {
			if n, plain := leadingNumber(house.address.number); plain {
				one.number, one.house = n, house
			}
		}
		corners = append(corners, one)
	}
	s, step := -1, uint32(2)
	if o.address.interpolation == "all" {
		step = 1
	}
	if o.address.street != "" {
		s = h.street(o)
	}
	last := -1
	for k := range corners {
		if corners[k].number == 0 {
			continue
		}
		if s < 0 {
			s = h.street(corners[k].house)
		}
		if last >= 0 && s >= 0 {
			a, z := &corners[last], &corners[k]
			for m := last + 1; m < k; m++ {
				share := (corners[m].along - a.along) / max(z.along-a.along, 1)
				number := a.number + step*uint32(share*float64(int64(z.number)-int64(a.number))/float64(step)+0.5)
				if z.number < a.number {
					number = a.number - step*uint32(share*float64(a.number-z.number)/float64(step)+0.5)
				}
				if number == a.number || number == z.number {
					continue
				}
				b.streets[s].houses = append(b.streets[s].houses, house{
					Lng: corners[m].at.Lng, Lat: corners[m].at.Lat, Number: number, Place: b.row(b.placeOf[i]),
				})
			}
		}
		if s >= 0 && corners[k].house.address.street == "" && o.address.street != "" {
			b.streets[s].houses = append(b.streets[s].houses, b.house(corners[k].house.address.number, corners[k].at, corners[k].house.osm, b.row(b.placeOf[i])))
		}
		last = k
	}
}

// house returns the object of a node with a house number, or nil.
func (c *collector) house(node int64) *object {
	o := c.object(newOSMID(osmNode, node))
	if o == nil || o.address.number == "" {
		return nil
	}
	return o
}
