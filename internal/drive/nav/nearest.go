package nav

import (
	"context"
	"strconv"

	"wayside/internal/roads/match"
)

// NearestRequest asks for the roads nearest to a coordinate.
type NearestRequest struct {
	Places
	Number int
}

// NearestAnswer are places on roads, the nearest first.
type NearestAnswer struct {
	Network *Network
	Places  []match.Place
}

// Check refuses requests beyond the bounds, before any work.
func (q *NearestRequest) Check() error {
	if q.Number > MaxNearest {
		return &Error{TooBig, "Number of results " + strconv.Itoa(q.Number) + " is higher than current maximum (" + strconv.Itoa(MaxNearest) + ")"}
	}
	return q.Places.check()
}

// Nearest finds the nearest roads.
func (s *Service) Nearest(ctx context.Context, q *NearestRequest, a *NearestAnswer) error {
	if err := q.Check(); err != nil {
		return err
	}
	n, err := s.Current()
	if err != nil {
		return err
	}
	defer n.Release()
	snapper := snapper{Roads: n.Roads, places: &q.Places}
	a.Network, a.Places = n, a.Places[:0]
	for _, place := range snapper.nearest(0, snapper.within(0, maxSnap), q.Number, nil) {
		if len(snapper.appendCandidates(nil, 0, &place, 0)) > 0 {
			a.Places = append(a.Places, place)
		}
	}
	if len(a.Places) == 0 {
		return &Error{NoSegment, "Could not find a matching segments for coordinate"}
	}
	return nil
}
