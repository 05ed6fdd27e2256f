package feed

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"wayside/internal/mapdata"
)

// Sketch is what a served feed holds, in a few words: from the first of its entities.
type Sketch struct {
	Kinds     []mapdata.Kind  // most frequent first
	Middle    *mapdata.Entity // in the middle of the others; nil: there is none
	Truncated bool            // there are more entities than were looked at
}

const (
	sketched   = 1000 // entities that are looked at
	sketchRest = time.Minute
)

// Sketch tells what a served feed holds, as it was up to a minute ago. It is for everybody: of a feed that is not served
// it fails with mapdata.ErrNotFound.
func (s *Service) Sketch(ctx context.Context, id mapdata.FeedID) (*Sketch, error) {
	f, err := s.Store.Feed(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("read feed: %w", err)
	}
	if !f.Served() {
		return nil, mapdata.ErrNotFound
	}
	now := s.now()
	return s.sketches.get(ctx, id, now, func() (*Sketch, time.Time, error) {
		var all []mapdata.Entity
		err := s.Store.FeedEntities(ctx, id, now, sketched+1, func(e *mapdata.Entity) {
			all = append(all, mapdata.Entity{Feed: e.Feed, ExternalID: e.ExternalID, Kind: e.Kind, Point: e.Point})
		})
		if err != nil {
			return nil, time.Time{}, fmt.Errorf("read entities: %w", err)
		}
		made := &Sketch{Truncated: len(all) > sketched}
		made.draw(all[:min(len(all), sketched)])
		return made, now.Add(sketchRest), nil
	})
}

// draw finds kinds and middle. The middle is the entity nearest to the medians: one far away, or written wrongly, does
// not move it.
func (k *Sketch) draw(all []mapdata.Entity) {
	counts := make(map[mapdata.Kind]int)
	lats, lngs := make([]float64, len(all)), make([]float64, len(all))
	for i := range all {
		counts[all[i].Kind]++
		lats[i], lngs[i] = all[i].Point.Lat, all[i].Point.Lng
	}
	for kind := range counts {
		k.Kinds = append(k.Kinds, kind)
	}
	slices.SortFunc(k.Kinds, func(a, b mapdata.Kind) int { return cmp.Or(counts[b]-counts[a], int(a)-int(b)) })
	if len(all) == 0 {
		return
	}
	slices.Sort(lats)
	slices.Sort(lngs)
	lat, lng := lats[len(lats)/2], lngs[len(lngs)/2]
	away := func(e mapdata.Entity) float64 {
		dLat, dLng := e.Point.Lat-lat, e.Point.Lng-lng
		return dLat*dLat + dLng*dLng
	}
	middle := slices.MinFunc(all, func(a, b mapdata.Entity) int { return cmp.Compare(away(a), away(b)) })
	k.Middle = &middle
}
