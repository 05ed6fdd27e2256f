package graph

import (
	_ "embed" // for go:embed
	"fmt"
	"math"
	"strconv"
	"strings"
)

// leftDriving lists the areas where traffic drives on the left, each with a name and the corners of a polygon.
//
//go:embed left-driving.txt
var leftDriving string

// leftDrivingAreas are the areas where traffic drives on the left unless a way is tagged otherwise.
type leftDrivingAreas []leftDrivingArea

type leftDrivingArea struct {
	west, south, east, north float64
	corners                  [][2]float64 // lng, lat
}

// parseLeftDriving parses lines of a name, a colon, and positions lng,lat separated by spaces. Lines that begin with #
// are comments. No area crosses the antimeridian.
func parseLeftDriving(text string) (leftDrivingAreas, error) {
	var all leftDrivingAreas
	for number, line := range strings.Split(text, "\n") {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		a := leftDrivingArea{west: 180, south: 90, east: -180, north: -90}
		_, corners, _ := strings.Cut(line, ":")
		for _, corner := range strings.Fields(corners) {
			first, second, _ := strings.Cut(corner, ",")
			lng, badLng := strconv.ParseFloat(first, 64)
			lat, badLat := strconv.ParseFloat(second, 64)
			if badLng != nil || badLat != nil || math.Abs(lng) > 180 || math.Abs(lat) > 90 {
				return nil, fmt.Errorf("areas of driving on the left, line %d: %q is no position", number+1, corner)
			}
			a.corners = append(a.corners, [2]float64{lng, lat})
			a.west, a.east = min(a.west, lng), max(a.east, lng)
			a.south, a.north = min(a.south, lat), max(a.north, lat)
		}
		if len(a.corners) < 3 {
			return nil, fmt.Errorf("areas of driving on the left, line %d: a polygon has at least 3 corners", number+1)
		}
		all = append(all, a)
	}
	return all, nil
}

func (areas leftDrivingAreas) contain(p Position) bool {
	at := p.Point()
	for i := range areas {
		if areas[i].contains(at.Lng, at.Lat) {
			return true
		}
	}
	return false
}

// contains reports whether a place is inside the area: whether an odd number of edges lie east of it.
func (a *leftDrivingArea) contains(lng, lat float64) bool {
	if lng < a.west || lng > a.east || lat < a.south || lat > a.north {
		return false
	}
	inside := false
	p := a.corners[len(a.corners)-1]
	for _, q := range a.corners {
		if (p[1] > lat) != (q[1] > lat) && lng < p[0]+(lat-p[1])/(q[1]-p[1])*(q[0]-p[0]) {
			inside = !inside
		}
		p = q
	}
	return inside
}
