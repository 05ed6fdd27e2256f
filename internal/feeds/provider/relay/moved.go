package relay

import (
	"context"
	"fmt"

	"wayside/internal/entities/live"
	"wayside/internal/ground/geo"
)

// maxMoves is the largest number of changed positions of an answer that are reported one by one; beyond it, the whole
// circle counts as changed.
const maxMoves = 64

// moves returns the positions where an answer differs from the upstream's previous pins. An answer that repeats them
// yields none: with many drivers there are thousands of those.
func (s *Service) moves(ctx context.Context, a *live.Answer) ([]geo.Circle, error) {
	before, err := s.Pins.Near(ctx, []string{a.Upstream}, a.Center, a.Radius, nil)
	if err != nil {
		return nil, fmt.Errorf("read what was said before: %w", err)
	}
	known := make(map[string]*live.Pin, len(before))
	for _, pin := range before {
		known[pin.ExternalID] = pin
	}
	var moved []geo.Circle
	for i := range a.Pins {
		pin := &a.Pins[i]
		if geo.Distance(pin.Point, a.Center) > a.Radius {
			continue // it will not be stored
		}
		was := known[pin.ExternalID]
		delete(known, pin.ExternalID)
		if was == nil {
			moved = append(moved, at(pin))
		} else if was.Digest != pin.Digest {
			moved = append(moved, at(pin), at(was))
		}
	}
	for _, gone := range known {
		moved = append(moved, at(gone))
	}
	if len(moved) > maxMoves {
		moved = []geo.Circle{{Center: a.Center, Radius: a.Radius}}
	}
	return moved, nil
}

// at returns a pin's position as a circle of one metre.
func at(pin *live.Pin) geo.Circle { return geo.Circle{Center: pin.Point, Radius: 1} }

// take stores an answer and notifies watchers of the positions where it differs.
func (s *Service) take(ctx context.Context, a *live.Answer) error {
	var moved []geo.Circle
	if s.Moved != nil || s.MovedLive != nil {
		var err error
		if moved, err = s.moves(ctx, a); err != nil {
			return err
		}
	}
	if err := s.Pins.Take(ctx, a); err != nil {
		return fmt.Errorf("keep pins: %w", err)
	}
	if len(moved) > 0 {
		s.Moved.NotifyAreas(moved)
		s.MovedLive.NotifyAreas(moved)
	}
	return nil
}
