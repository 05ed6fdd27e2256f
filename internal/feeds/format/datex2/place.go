package datex2

import (
	"iter"
	"strings"

	"wayside/internal/feeds/format"
	"wayside/internal/feeds/format/geometry"
	"wayside/internal/feeds/format/xmldoc"
	"wayside/internal/ground/geo"
)

// location is the elements of a record's position. Other places in a record, such as alternative routes, are not part
// of it.
type location []xmldoc.Node

func locationOf(n xmldoc.Node) location {
	var l location
	for child := range n.Children() {
		if name := child.Name(); name == "groupOfLocations" || name == "locationReference" {
			l = append(l, child)
		}
	}
	return l
}

// find returns the first element with the name.
func (l location) find(name string) xmldoc.Node {
	for _, n := range l {
		if found := n.Find(name); found.Exists() {
			return found
		}
	}
	return xmldoc.Node{}
}

// placeOf returns the place of a record (D17.23).
func placeOf(n xmldoc.Node) geometry.Place {
	l := locationOf(n)
	var parts geometry.List
	for _, one := range l {
		for line := range one.Topmost("gmlLineString") {
			for list := range line.Within("posList") {
				if isWGS(line.Attr("srsName")) && isWGS(list.Attr("srsName")) {
					parts.Add(positions(list), false)
				}
			}
		}
	}
	if place := geometry.OfLine(parts.Parts, isBoth(l)); place.Skip == "" {
		return place
	}
	for _, path := range [...][2]string{{"pointByCoordinates", "pointCoordinates"}, {"from", "pointCoordinates"}, {"pointCoordinates"}, {"locationForDisplay"}, {"coordinatesForDisplay"}} {
		found := l.find(path[0])
		if path[1] != "" {
			found = found.Find(path[1])
		}
		lat, goodLat := number(found.First("latitude"))
		lng, goodLng := number(found.First("longitude"))
		if goodLat && goodLng {
			return geometry.Place{Point: geo.Point{Lat: lat, Lng: lng}}
		}
	}
	if l.isArea() {
		return geometry.Place{Skip: format.Area}
	}
	return geometry.Place{Skip: format.NoPosition}
}

// isWGS reports whether coordinates are in WGS 84; an absent name counts as WGS 84.
func isWGS(name string) bool {
	return name == "" || strings.Contains(name, "4326") || strings.Contains(strings.ToUpper(name), "WGS")
}

// positions yields the latitudes and longitudes of a list, without the heights where the list has three dimensions.
func positions(list xmldoc.Node) iter.Seq[string] {
	words := strings.FieldsSeq(list.Text())
	if list.Attr("srsDimension") != "3" {
		return words
	}
	return func(yield func(string) bool) {
		var group [3]string
		n := 0
		for word := range words {
			group[n] = word
			if n = (n + 1) % 3; n == 0 && (!yield(group[0]) || !yield(group[1])) {
				return
			}
		}
	}
}

// isArea reports whether a location is an area.
func (l location) isArea() bool {
	for _, n := range l {
		if strings.Contains(n.Type(), "Area") {
			return true
		}
		for child := range n.Children() {
			if strings.Contains(child.Name(), "rea") && strings.Contains(strings.ToLower(child.Name()), "area") || strings.Contains(child.Name(), "olygon") || strings.Contains(child.Type(), "Area") {
				return true
			}
		}
	}
	return false
}

// isBoth reports whether a direction element of the location begins with "both".
func isBoth(l location) bool {
	for _, n := range l {
		if anyBoth(n) {
			return true
		}
	}
	return false
}

func anyBoth(n xmldoc.Node) bool {
	for child := range n.Children() {
		if strings.Contains(strings.ToLower(child.Name()), "direction") && strings.HasPrefix(child.Text(), "both") || anyBoth(child) {
			return true
		}
	}
	return false
}

// street returns the name of the road, otherwise its number.
func street(l location) string {
	for _, name := range [...]string{"roadName", "roadNumber"} {
		found := l.find(name)
		if text := found.Text(); text != "" {
			return text
		}
		if text := found.Find("value").Text(); text != "" {
			return text
		}
	}
	return ""
}
