package nav

import (
	"cmp"
	"fmt"
	"math"
)

const (
	// movedMetres is the minimum distance between a coordinate and the route of which drivers are warned.
	movedMetres = 100
	// maxMovedWarnings bounds how many places a route names.
	maxMovedWarnings = 5
)

// appendMoved appends a warning for each place that was moved far to a road.
func (n *Network) appendMoved(texts []string, ways []way, spots []Spot) []string {
	count := 0
	for i := range spots {
		what, candidate := "The start", ways[max(0, i-1)].to
		switch {
		case i == 0:
			candidate = ways[0].from
		case i == len(spots)-1:
			what = "The destination"
		default:
			what = fmt.Sprintf("Stop %d", i)
		}
		spot := &spots[i]
		at := &spot.Places[spot.Candidates[candidate].Place]
		if at.Distance <= movedMetres || count == maxMovedWarnings {
			continue
		}
		count++
		street := cmp.Or(n.street(at.Piece), "a road without a name")
		texts = append(texts, fmt.Sprintf("%s was moved %.0f m to a road: %s, at %.5f, %.5f.", what, math.Round(at.Distance), street, at.Point.Lat, at.Point.Lng))
	}
	return texts
}
