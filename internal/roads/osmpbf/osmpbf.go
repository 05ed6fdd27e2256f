// Package osmpbf reads and writes OpenStreetMap extracts in the PBF format: nodes, dense or plain, ways and relations. A
// File can be read in several passes, each on all cores, and each yields blocks of decoded objects in the order of the
// file; parts that a pass does not need are skipped early. Reading takes some tens of megabytes whatever the size of the
// file, even for a hostile file, and reports a fault with one Error that names the byte.
//
// Everything that the format allows is passed on unchanged, and the caller must judge it: objects in any order, ids that
// repeat or are negative, references to objects that the file lacks, positions outside the globe, texts that are not
// UTF-8, empty keys. Metadata (version, time, user) is not read. Files with history are refused, because a reader that
// ignores which version is deleted would see removed roads.
package osmpbf

import (
	"fmt"

	"wayside/internal/ground/geo"
)

// Types is a set of types of objects.
type Types uint8

// The types of objects.
const (
	Nodes Types = 1 << iota
	Ways
	Relations

	all = Nodes | Ways | Relations
)

// Tag is a key with its value.
type Tag struct{ Key, Value string }

// Tags are the tags of one object, in the order of the file.
type Tags []Tag

// Get returns the value of the first tag with the key, and whether there is one.
func (t Tags) Get(key string) (string, bool) {
	for i := range t {
		if t[i].Key == key {
			return t[i].Value, true
		}
	}
	return "", false
}

// Node is a point. Its position is in nanodegrees, exactly as in the file; a position beyond int64 becomes the smallest
// or largest int64.
type Node struct {
	ID       int64
	Lat, Lng int64
	Tags     Tags
}

// Point returns the position in degrees, which may lie outside the globe: see geo.Point.Valid.
func (n Node) Point() geo.Point {
	return geo.Point{Lat: float64(n.Lat) / 1e9, Lng: float64(n.Lng) / 1e9}
}

// Way is a line or an area, by the ids of its nodes.
type Way struct {
	ID   int64
	Refs []int64
	Tags Tags
}

// Relation is a list of objects with their roles.
type Relation struct {
	ID      int64
	Members []Member
	Tags    Tags
}

// Member is an object in a relation.
type Member struct {
	Ref  int64
	Role string
	Type Types // one of Nodes, Ways, Relations
}

// Block is some of the objects of a file, in the file's order. A block of the file that is very large becomes several
// Blocks. Its slices, and those of its objects, are only valid until the function that received the block returns.
// Strings stay valid, but keep all texts of their block in memory: clone strings that are kept for long.
type Block struct {
	Offset    int64 // of the block in the file
	Nodes     []Node
	Ways      []Way
	Relations []Relation

	// Memory for the objects' slices.
	tags    []Tag
	refs    []int64
	members []Member
	items   int // number of objects, tags, references and members
}

// reset empties the block and releases all strings.
func (b *Block) reset() {
	clear(b.tags)
	clear(b.members)
	*b = Block{
		Nodes: b.Nodes[:0], Ways: b.Ways[:0], Relations: b.Relations[:0],
		tags: b.tags[:0], refs: b.refs[:0], members: b.members[:0],
	}
}

// defaultGranularity is the granularity of positions in nanodegrees, if a block does not state it.
const defaultGranularity = 100

// Error describes a fault in a file. Errors of reading its bytes have other types.
type Error struct {
	Offset int64 // of the faulty block in the file
	Reason string
}

func (e *Error) Error() string { return fmt.Sprintf("block at byte %d: %s", e.Offset, e.Reason) }

// Bounds. Those of headers and blobs are the format's. Those within a block prevent a small part of the file, or one
// object, from becoming many times larger in memory.
const (
	maxHeader   = 64 << 10 // bytes of a block's header
	maxBlob     = 32 << 20 // bytes of a block, as stored and inflated
	maxFeatures = 1000     // in a header
	maxStrings  = 1 << 21  // in a block's table
	maxItems    = 1 << 18  // tags, references or members of one object; OpenStreetMap allows 2 000 references and 32 000 members
	blockItems  = 1 << 15  // after which a Block is passed on; most writers put 8 000 objects into a block
)
