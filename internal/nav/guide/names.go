package guide

import (
	"strings"

	"wayside/internal/roads/graph"
)

// sameRoad says whether two ways have the same name, and the same reference where there is no name.
func (n *Network) sameRoad(a, b *graph.Way) bool {
	if a == b {
		return true
	}
	if a.Name.Length > 0 || b.Name.Length > 0 {
		return a.Name.Length > 0 && b.Name.Length > 0 && n.alike(n.graph.Text(a.Name), n.graph.Text(b.Name))
	}
	return a.Ref.Length > 0 && a.Ref == b.Ref
}

// sameName says whether two ways have one name, and have one.
func (n *Network) sameName(a, b *graph.Way) bool {
	return a.Name.Length > 0 && (a.Name == b.Name || n.alike(n.graph.Text(a.Name), n.graph.Text(b.Name)))
}

// renamed says whether a driver who goes from one way onto another notices another name.
func (n *Network) renamed(a, b *graph.Way) bool {
	if a.Name == b.Name && a.Ref == b.Ref {
		return false
	}
	from, to := n.graph.Text(a.Name), n.graph.Text(b.Name)
	fromRef, toRef := n.graph.Text(a.Ref), n.graph.Text(b.Ref)
	switch {
	case from == "" && fromRef != "" && to != "" && toRef == "", from != "" && fromRef == "" && to == "" && toRef != "":
		return true // from a name to a number, or the other way round
	case from != "" && to != "" && n.alike(from, to) && from != to:
		return false // 42 N, 42 S
	}
	names := from == to || n.alike(from, to)
	refs := fromRef == "" || toRef == "" || strings.Contains(fromRef, toRef) || strings.Contains(toRef, fromRef)
	return !names && (to != "" || !refs) || names && !refs && toRef != ""
}

// alike says whether two names are one but for what says which part of the road it is: a direction of the compass before or behind.
func (n *Network) alike(a, b string) bool {
	if a == b {
		return true
	}
	if a == "" || b == "" {
		return false
	}
	if strings.HasPrefix(a, b) && strings.HasPrefix(a[len(b):], " (") || strings.HasPrefix(b, a) && strings.HasPrefix(b[len(a):], " (") {
		return true
	}
	return trimCompass(a) == trimCompass(b)
}

// trimCompass removes a direction of the compass from the beginning or end of a name.
func trimCompass(name string) string {
	if at := strings.LastIndexByte(name, ' '); at > 0 && isCompass(name[at+1:]) {
		return name[:at]
	}
	if at := strings.IndexByte(name, ' '); at > 0 && isCompass(name[:at]) {
		return name[at+1:]
	}
	return name
}

// isCompass says whether a word is a direction of the compass.
func isCompass(word string) bool {
	if len(word) > len("southeast") {
		return false
	}
	switch strings.ToLower(word) {
	case "n", "ne", "e", "se", "s", "sw", "w", "nw", "north", "south", "west", "east", "northeast", "northwest", "southeast", "southwest",
		"northbound", "southbound", "eastbound", "westbound", "nb", "sb", "eb", "wb", "nord", "süd", "ost":
		return true
	}
	return false
}
