// Package roadtest draws small extracts for tests: nodes are letters on a map of text, ways are words of these letters.
//
//	roadtest.Map(t, 100, `
//		a----b----c
//		     |
//		  1  d
//	`,
//		roadtest.Way("abc", "highway=primary, name=High Street"),
//		roadtest.Way("bd", "highway=residential, oneway=yes"),
//		roadtest.Node("b", "highway=traffic_signals"),
//		roadtest.Restriction("no_right_turn", "abc b bd"),
//	)
//
// A character is the given metres wide and high. Digits are places without a node, at which routes can begin.
// All other characters on the map are ignored.
package roadtest

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode"

	"wayside/internal/ground/geo"
	"wayside/internal/roads/osmpbf"
)

// Network is the objects of an extract. Tests may change and reorder them.
type Network struct {
	Nodes     []osmpbf.Node // the id of a node is its letter
	Ways      []osmpbf.Way  // ids count up from FirstWay
	Relations []osmpbf.Relation

	places map[string]geo.Point
	named  map[string]int64 // ways by their letters
}

// The first ids of ways and relations.
const (
	FirstWay      = 1001
	FirstRelation = 5001
)

// Object is something on the map.
type Object func(t testing.TB, n *Network)

// Map draws a map at the equator, in the Gulf of Guinea, where traffic drives on the right.
func Map(t testing.TB, metres float64, drawing string, objects ...Object) *Network {
	t.Helper()
	return MapAt(t, geo.Point{}, metres, drawing, objects...)
}

// MapAt draws a map whose upper left corner lies at a place, with characters of the given width and height in metres.
// Tabs at the beginning of a line are ignored. Objects are added in their order.
func MapAt(t testing.TB, corner geo.Point, metres float64, drawing string, objects ...Object) *Network {
	t.Helper()
	n := &Network{places: map[string]geo.Point{}, named: map[string]int64{}}
	degrees := metres / geo.EarthRadius * 180 / math.Pi
	for row, line := range strings.Split(strings.Trim(drawing, "\n"), "\n") {
		for column, letter := range []rune(strings.TrimLeft(line, "\t")) {
			if !unicode.IsLetter(letter) && !unicode.IsDigit(letter) {
				continue
			}
			lat := corner.Lat - float64(row)*degrees
			lng := math.Remainder(corner.Lng+float64(column)*degrees/math.Cos(corner.Lat*math.Pi/180), 360)
			node := osmpbf.Node{ID: int64(letter), Lat: nanodegrees(lat), Lng: nanodegrees(lng)}
			if _, twice := n.places[string(letter)]; twice {
				t.Fatalf("%c stands twice on the map", letter)
			}
			n.places[string(letter)] = node.Point()
			if unicode.IsLetter(letter) {
				n.Nodes = append(n.Nodes, node)
			}
		}
	}
	for _, add := range objects {
		add(t, n)
	}
	return n
}

// nanodegrees rounds to the precision of OpenStreetMap.
func nanodegrees(degrees float64) int64 { return int64(math.Round(degrees*1e7)) * 100 }

// Way returns a way over nodes, with tags such as "highway=primary, oneway=yes". Letters that are not on the map become
// references to nodes that the extract lacks.
func Way(nodes, tags string) Object {
	return func(_ testing.TB, n *Network) {
		w := osmpbf.Way{ID: FirstWay + int64(len(n.Ways)), Tags: Tags(tags)}
		for _, letter := range nodes {
			w.Refs = append(w.Refs, int64(letter))
		}
		n.Ways = append(n.Ways, w)
		if _, taken := n.named[nodes]; !taken {
			n.named[nodes] = w.ID
		}
	}
}

// Ways returns several ways with the same tags, each a word.
func Ways(words, tags string) Object {
	return func(t testing.TB, n *Network) {
		for nodes := range strings.FieldsSeq(words) {
			Way(nodes, tags)(t, n)
		}
	}
}

// Node returns an object that adds tags to a node.
func Node(node, tags string) Object {
	return func(t testing.TB, n *Network) {
		t.Helper()
		id := n.NodeID(t, node)
		at := slices.IndexFunc(n.Nodes, func(one osmpbf.Node) bool { return one.ID == id })
		n.Nodes[at].Tags = append(n.Nodes[at].Tags, Tags(tags)...)
	}
}

// Restriction returns a relation with a restriction and its members from, via and to, separated by spaces: "abc b bd"
// over the node b, "ab bc cd" over the way bc, "ab bc,cd de" over two ways. Several from or to are separated by commas
// too.
func Restriction(value, members string) Object {
	return Relation("type=restriction, restriction="+value, members)
}

// Relation returns a relation with tags, and with members in the form of Restriction. A way that does not exist becomes
// a member that the extract lacks.
func Relation(tags, members string) Object {
	return func(_ testing.TB, n *Network) {
		r := osmpbf.Relation{ID: FirstRelation + int64(len(n.Relations)), Tags: Tags(tags)}
		for i, names := range strings.Fields(members) {
			role := [...]string{"from", "via", "to"}[min(i, 2)]
			for name := range strings.SplitSeq(names, ",") {
				m := osmpbf.Member{Role: role, Type: osmpbf.Ways, Ref: n.named[name]}
				if letters := []rune(name); role == "via" && len(letters) == 1 {
					m.Type, m.Ref = osmpbf.Nodes, int64(letters[0])
				}
				r.Members = append(r.Members, m)
			}
		}
		n.Relations = append(n.Relations, r)
	}
}

// Tags parses tags written as "highway=primary, name=High Street".
func Tags(text string) osmpbf.Tags {
	var tags osmpbf.Tags
	for one := range strings.SplitSeq(text, ", ") {
		if key, value, ok := strings.Cut(one, "="); ok {
			tags = append(tags, osmpbf.Tag{Key: key, Value: value})
		}
	}
	return tags
}

// Place returns the position of a letter or a digit.
func (n *Network) Place(t testing.TB, name string) geo.Point {
	t.Helper()
	at, ok := n.places[name]
	if !ok {
		t.Fatalf("%q is not on the map", name)
	}
	return at
}

// Places returns the positions of letters and digits.
func (n *Network) Places(t testing.TB, names string) (places []geo.Point) {
	t.Helper()
	for _, name := range strings.Split(names, "") {
		places = append(places, n.Place(t, name))
	}
	return places
}

// NodeID returns the id of a node on the map.
func (n *Network) NodeID(t testing.TB, node string) int64 {
	t.Helper()
	if _, ok := n.places[node]; !ok {
		t.Fatalf("node %q is not on the map", node)
	}
	return int64([]rune(node)[0])
}

// WayID returns the id of the first way over these nodes.
func (n *Network) WayID(t testing.TB, nodes string) int64 {
	t.Helper()
	id, ok := n.named[nodes]
	if !ok {
		t.Fatalf("there is no way %q", nodes)
	}
	return id
}

// PBF returns the extract, in the usual order: nodes, ways, relations.
func (n *Network) PBF(t testing.TB) []byte {
	t.Helper()
	return n.Encoded(t, osmpbf.WriterOptions{}, osmpbf.Nodes, osmpbf.Ways, osmpbf.Relations)
}

// Encoded returns the extract with its types of objects in a given order.
func (n *Network) Encoded(t testing.TB, o osmpbf.WriterOptions, order ...osmpbf.Types) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := osmpbf.NewWriter(&out, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range order {
		for i := 0; err == nil && kind == osmpbf.Nodes && i < len(n.Nodes); i++ {
			err = w.Node(n.Nodes[i])
		}
		for i := 0; err == nil && kind == osmpbf.Ways && i < len(n.Ways); i++ {
			err = w.Way(n.Ways[i])
		}
		for i := 0; err == nil && kind == osmpbf.Relations && i < len(n.Relations); i++ {
			err = w.Relation(n.Relations[i])
		}
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// File returns the extract, opened.
func (n *Network) File(t testing.TB) *osmpbf.File {
	t.Helper()
	return Open(t, n.PBF(t))
}

// Open opens an extract in memory.
func Open(t testing.TB, content []byte) *osmpbf.File {
	t.Helper()
	f, err := osmpbf.Open(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	return f
}
