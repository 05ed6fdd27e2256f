package nav

import (
	"cmp"
	"context"

	"wayside/internal/ground/geo"
)

// Bounds of StreetAt.
const (
	streetWithin = 50 // metres between a position and its road: the accuracy of positions in cars is 5 to 30
	streetTurned = 45 // degrees between a heading and its road
)

// StreetAt returns the name of the road on which a car is, otherwise the road's number. A car with a heading is on a road that it may
// drive in this direction. It returns "" if there is no road, no name and no number, or no region.
func (s *Service) StreetAt(ctx context.Context, at geo.Point, heading *float64) string {
	places := Places{Coordinates: []geo.Point{at}, Radiuses: []float64{streetWithin}, AnyRoad: true}
	if heading != nil {
		places.Bearings = []Bearing{{Given: true, Value: *heading, Range: streetTurned}}
	}
	var found NearestAnswer
	if err := s.Nearest(ctx, &NearestRequest{Places: places, Number: 1}, &found); err != nil {
		return "" // no road, or no region
	}
	return found.Network.street(found.Places[0].Piece)
}

// street returns the name of a piece of road, otherwise its number; "" if it has neither.
func (r *Roads) street(piece uint32) string {
	way := &r.Graph.Ways[r.Graph.Pieces[piece].Way]
	return cmp.Or(r.Graph.Text(way.Name), r.Graph.Text(way.Ref))
}
