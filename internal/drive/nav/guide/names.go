package guide

import (
	"bytes"

	"wayside/internal/roads/graph"
)

// sameRoad reports whether two ways have the same name or, without names, the same references. Equal names are stored
// once.
func (n *Network) sameRoad(a, b *graph.Way) bool {
	if a == b {
		return true
	}
	if a.Name.Length > 0 || b.Name.Length > 0 {
		return a.Name.Length > 0 && b.Name.Length > 0 && n.alike(a.Name, b.Name)
	}
	return a.Ref.Length > 0 && b.Ref.Length > 0 && sameRefs(n.bytes(a.Ref), n.bytes(b.Ref))
}

// keepsRef reports whether a road without a name goes on under its reference, and perhaps others.
func (n *Network) keepsRef(a, b *graph.Way) bool {
	return a.Name.Length == 0 && b.Name.Length == 0 && a.Ref.Length > 0 && b.Ref.Length > 0 && containsRefs(n.bytes(b.Ref), n.bytes(a.Ref))
}

// sameName reports whether two ways have the same name, which must not be empty.
func (n *Network) sameName(a, b *graph.Way) bool {
	return a.Name.Length > 0 && b.Name.Length > 0 && n.alike(a.Name, b.Name)
}

func (n *Network) bytes(r graph.TextRange) []byte {
	return n.graph.Texts[r.Start : r.Start+r.Length]
}

// renamed reports whether a driver who goes from one way onto another notices another name. Where the name stays, a
// change of the reference is none: on a ring road it goes to and fro.
func (n *Network) renamed(a, b *graph.Way) bool {
	if a.Name == b.Name && (a.Ref == b.Ref || a.Name.Length > 0) {
		return false
	}
	named, nowNamed := a.Name.Length > 0, b.Name.Length > 0
	numbered, nowNumbered := a.Ref.Length > 0, b.Ref.Length > 0
	switch {
	case !named && numbered && nowNamed && !nowNumbered, named && !numbered && !nowNamed && nowNumbered:
		return true // from a name to a number, or the reverse
	case named && nowNamed && n.alike(a.Name, b.Name):
		return false // such as 42 N and 42 S
	}
	if !named && nowNamed && numbered && nowNumbered && sameRefs(n.bytes(a.Ref), n.bytes(b.Ref)) {
		return false // the road that the driver is on has a name from here on
	}
	refs := numbered && nowNumbered && !nestedRefs(n.bytes(a.Ref), n.bytes(b.Ref))
	if !named && !nowNamed {
		return refs
	}
	return nowNamed || refs
}

// alike reports whether two names are equal except for the part that distinguishes sections of a road: a direction of
// the compass at the beginning or end, or something in brackets.
func (n *Network) alike(x, y graph.TextRange) bool {
	if x == y {
		return true
	}
	a, b := n.bytes(x), n.bytes(y)
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	if bytes.HasPrefix(a, b) && bytes.HasPrefix(a[len(b):], []byte(" (")) || bytes.HasPrefix(b, a) && bytes.HasPrefix(b[len(a):], []byte(" (")) {
		return true
	}
	return bytes.Equal(trimCompass(a), trimCompass(b))
}

// trimCompass removes a direction of the compass from the beginning or end of a name.
func trimCompass(name []byte) []byte {
	if at := bytes.LastIndexByte(name, ' '); at > 0 && isCompass(name[at+1:]) {
		return name[:at]
	}
	if at := bytes.IndexByte(name, ' '); at > 0 && isCompass(name[:at]) {
		return name[at+1:]
	}
	return name
}

// isCompass reports whether a word is a direction of the compass, in a form used in names.
func isCompass(word []byte) bool {
	var lower [len("northbound")]byte
	if len(word) > len(lower) {
		return false
	}
	for i, c := range word {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		lower[i] = c
	}
	switch string(lower[:len(word)]) {
	case "n", "ne", "e", "se", "s", "sw", "w", "nw", "nb", "sb", "eb", "wb",
		"north", "south", "west", "east", "northeast", "northwest", "southeast", "southwest",
		"northbound", "southbound", "eastbound", "westbound", "nord", "süd", "ost":
		return true
	}
	return false
}
