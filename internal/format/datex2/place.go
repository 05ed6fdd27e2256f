package datex2

import (
	"strings"

	"wayside/internal/format"
	"wayside/internal/format/geometry"
	"wayside/internal/format/xmldoc"
	"wayside/internal/geo"
)

// location is where a record is: the elements of its position. What else of a record has places, such as other ways, is not part of it.
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

// find is the first element of a name.
func (l location) find(name string) xmldoc.Node {
	for _, n := range l {
		if found := n.Find(name); found.Exists() {
			return found
		}
	}
	return xmldoc.Node{}
}

// placeOf reads the place of a record (D17.23).
func placeOf(n xmldoc.Node) geometry.Place {
	l := locationOf(n)
	var parts [][]geo.Point
	for _, one := range l {
		for line := range one.Within("gmlLineString") {
			for list := range line.Within("posList") {
				if isWGS(line.Attr("srsName")) && isWGS(list.Attr("srsName")) {
					parts = append(parts, positions(list))
				}
			}
		}
	}
	if place := geometry.OfLine(parts, isBoth(l)); place.Skip == "" {
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

// isWGS says whether coordinates are those of GPS, as far as the name of their system says it.
func isWGS(name string) bool {
	return name == "" || strings.Contains(name, "4326") || strings.Contains(strings.ToUpper(name), "WGS")
}

// positions reads a list of latitudes and longitudes. What is no number ends it.
func positions(list xmldoc.Node) []geo.Point {
	size := 2
	if list.Attr("srsDimension") == "3" {
		size = 3
	}
	words := strings.Fields(list.Text())
	if size == 3 {
		flat := words[:0:0]
		for i := 0; i+size <= len(words); i += size {
			flat = append(flat, words[i], words[i+1])
		}
		words = flat
	}
	return geometry.Positions(words, false)
}

// isArea says whether a location is told as an area.
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

// isBoth says whether a direction element of the location begins with "both".
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

// street is the name of the road, otherwise its number.
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
