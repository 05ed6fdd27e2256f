package geocode

import (
	"cmp"
	"encoding/binary"
	"errors"
	"math"
	"unsafe"

	"wayside/internal/roads/graph"
)

// ErrBadSections is returned for sections that are not those of an index.
var ErrBadSections = errors.New("the place search is damaged")

// FirstSection is the name of one of the sections. A file that has it contains a place search.
const FirstSection = "search.about"

// none is an invalid index.
const none = 1<<32 - 1

// summary is the header of the index.
type summary struct {
	Version  uint32
	Features uint32 // number of documents before the first street
}

// version changes with the meaning of the sections.
const version = 3

// document is something that can be found: a feature or a street.
type document struct {
	Lng, Lat   int32  // 1e-7 degrees
	OSM        uint32 // lower part of its osmID
	Name       uint32 // offset in the graph's texts, or in the index's own if ownText is set
	Place      uint32 // what it lies in
	NameLength uint16
	Kind       uint16
	OSMHigh    uint8
	Importance uint8 // 255: maximum
	Words      uint8 // number of words of its shortest name
	Bits       flags // flags and its layer
}

func (d *document) osm() osmID { return osmID(d.OSM) | osmID(d.OSMHigh)<<32 }

func (d *document) setOSM(o osmID) { d.OSM, d.OSMHigh = uint32(o), uint8(o>>32) }

func (d *document) has(f flags) bool { return d.Bits&f != 0 }

func (d *document) layer() Layer { return Layer(d.Bits >> layerShift) }

func (d *document) at() graph.Position { return graph.Position{Lng: d.Lng, Lat: d.Lat} }

// ownText marks names in the index's own texts.
const ownText = 1 << 31

type flags uint8

const (
	hidden     flags = 1 << iota // never a result: only a place or street that others refer to
	hasExtent                    // of a feature: it has an entry in featureExtents
	hasAddress                   // of a feature: it has an entry in addresses
	private                      // of a feature: not everybody may go there, so that no search by kind finds it

	layerShift = 4
)

// osmID is an object's id, with its type in the lowest two bits. It has idBits bits, of which ids of OpenStreetMap need
// 34 today.
type osmID uint64

const idBits = 40

const (
	osmNone = iota
	osmNode
	osmWay
	osmRelation
)

func newOSMID(kind, id int64) osmID { return osmID((uint64(id)<<2 | uint64(kind)) & (1<<idBits - 1)) }

func (o osmID) id() int64 { return int64(o) << (64 - idBits) >> (64 - idBits + 2) }

// kind returns the letter of the object's type that Photon uses.
func (o osmID) kind() string { return [...]string{"", "N", "W", "R"}[o&3] }

// place is the surroundings of something: documents, and texts of its own.
type place struct {
	City, District, County, State, Country uint32 // documents, or none
	Postcode                               uint32 // text
	Code                                   [2]byte
	_                                      [2]byte
}

// extent is a box: west, south, east, north in 1e-7 degrees. The east of a box that crosses the antimeridian exceeds 180
// degrees.
type extent struct{ West, South, East, North int32 }

// with returns the extent that includes a box, too.
func (e extent) with(o box) extent {
	all := box{int64(e.West), int64(e.South), int64(e.East), int64(e.North)}
	all.with(o)
	return all.extent()
}

// streetExtent is the extent of a street: the distances from its position to each side, in extentUnit.
type streetExtent struct{ West, South, East, North uint16 }

// extentUnit is some 1.1 m, in units of 1e-7 degrees. Extents are cut at more than 70 km from the position.
const extentUnit = 100

func newStreetExtent(at graph.Position, b *box) streetExtent {
	reach := func(units int64) uint16 { return uint16(max(0, min((units+extentUnit-1)/extentUnit, math.MaxUint16))) }
	lng := int64(at.Lng)
	if lng < b.west {
		lng += fullTurn
	}
	return streetExtent{reach(lng - b.west), reach(int64(at.Lat) - b.south), reach(b.east - lng), reach(b.north - int64(at.Lat))}
}

func (e *streetExtent) box(at graph.Position) box {
	return box{
		int64(at.Lng) - int64(e.West)*extentUnit, max(int64(at.Lat)-int64(e.South)*extentUnit, -fullTurn/4),
		int64(at.Lng) + int64(e.East)*extentUnit, min(int64(at.Lat)+int64(e.North)*extentUnit, fullTurn/4),
	}
}

// housesOf is the index of the first house of a street. The houses end at the first one of the next entry.
type housesOf struct{ Street, First uint32 }

// featureExtent is the extent of a feature.
type featureExtent struct {
	Document uint32
	extent
}

// house is a number on a street.
type house struct {
	Lng, Lat int32
	OSM      [2]uint32 // lower half first; 0: interpolated along a line
	Number   uint32
	Text     uint32 // as it is written; 0: the number itself
	Place    uint32
}

func (h *house) osm() osmID { return osmID(h.OSM[0]) | osmID(h.OSM[1])<<32 }

// address is the address of a feature.
type address struct{ Document, Street, Number uint32 }

// translation is the name of a document in another language.
type translation struct {
	Document uint32
	Language uint32 // index in Languages
	Text     uint32
}

// spelling is another name of roads of a street, which differs only in case and accents.
type spelling struct {
	Name   uint32 // offset in the graph's texts
	Street uint32
}

func compareSpellings(a, b spelling) int {
	return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Street, b.Street))
}

// openingHours is when a feature is open.
type openingHours struct {
	Document uint32
	Text     uint32 // as OpenStreetMap writes it
}

// sample is a place on a street that is not a road for cars.
type sample struct {
	Lng, Lat int32
	Street   uint32
}

// arrays are all data of an index.
type arrays struct {
	about          []summary
	documents      []document
	places         []place
	kinds          []byte // key=value, each followed by a line feed
	texts          []byte // each preceded by its length
	words          []byte // sorted and concatenated
	wordStarts     []uint32
	lists          []byte // the documents of each word: differences as varints
	listStarts     []uint32
	streetExtents  []streetExtent
	featureExtents []featureExtent
	firstHouse     []housesOf // of the streets with houses
	houses         []house
	addresses      []address
	translations   []translation
	spellings      []spelling
	hours          []openingHours
	samples        []sample
	tree           []uint32 // features, houses and samples by place
}

// array binds a section to its array.
type array struct {
	name string
	data []byte                       // to be written
	read func(r *graph.SectionReader) // sets the array from the section
}

func (a *arrays) all() []array {
	return []array{
		bind(FirstSection, &a.about), bind("search.documents", &a.documents), bind("search.places", &a.places), bind("search.kinds", &a.kinds),
		bind("search.texts", &a.texts), bind("search.words", &a.words), bind("search.word_starts", &a.wordStarts), bind("search.lists", &a.lists),
		bind("search.list_starts", &a.listStarts), bind("search.streets", &a.streetExtents), bind("search.extents", &a.featureExtents),
		bind("search.first_house", &a.firstHouse), bind("search.houses", &a.houses), bind("search.addresses", &a.addresses),
		bind("search.translations", &a.translations), bind("search.spellings", &a.spellings), bind("search.hours", &a.hours),
		bind("search.samples", &a.samples), bind("search.tree", &a.tree),
	}
}

// plain are the types of the arrays. None has pointers or gaps.
type plain interface {
	summary | document | place | byte | uint32 | streetExtent | featureExtent | housesOf | house | address | translation | spelling | openingHours | sample
}

func bind[T plain](name string, into *[]T) array {
	return array{name: name, data: bytesOf(*into), read: func(r *graph.SectionReader) {
		var one T
		size := unsafe.Sizeof(one)
		if raw := r.Bytes(name, size, unsafe.Alignof(one)); len(raw) > 0 {
			*into = unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(raw))), len(raw)/int(size))
		}
	}}
}

func bytesOf[T plain](values []T) []byte {
	if len(values) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), len(values)*int(unsafe.Sizeof(values[0])))
}

// text returns one of the index's own texts by the offset of its length; offset 0 is the empty text.
func (a *arrays) text(at uint32) []byte {
	if at == 0 {
		return nil
	}
	length, n := binary.Uvarint(a.texts[at:])
	return a.texts[int(at)+n : int(at)+n+int(length)]
}
