package feed

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"wayside/internal/ground/mapdata"
)

// Sketch summarizes the contents of a served feed, from a sample of its first entities.
type Sketch struct {
	Kinds     []mapdata.Kind  // the most frequent first
	Middle    *mapdata.Entity // the one nearest to the median position; nil for an empty feed
	Truncated bool            // the feed has more entities than were sampled
}

const (
	maxSketchEntities = 1000 // sample size
	sketchLifetime    = time.Minute
)

// Sketch summarizes the contents of a served feed, without entities that curators hide; the result may be a minute old. It needs no
// account. It fails with mapdata.ErrNotFound for a feed that is not served.
func (s *Service) Sketch(ctx context.Context, id mapdata.FeedID) (*Sketch, error) {
	f, err := s.Store.Feed(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("read feed: %w", err)
	}
	if !f.Served() {
		return nil, mapdata.ErrNotFound
	}
	if id == mapdata.DriversID { // some entities are for their authors alone
		return &Sketch{Kinds: kindsOf(f.BuiltinKinds())}, nil
	}
	now := s.now()
	return s.sketches.get(ctx, id, now, func() (*Sketch, time.Time, error) {
		hidden, err := s.Store.HiddenPins(ctx, id.SourceID(), now, maxSketchEntities)
		if err != nil {
			return nil, time.Time{}, fmt.Errorf("read hidden pins: %w", err)
		}
		var all []mapdata.Entity
		err = s.Store.FeedEntities(ctx, id, now, maxSketchEntities+1, func(e *mapdata.Entity) {
			if slices.ContainsFunc(hidden, func(h mapdata.HiddenPin) bool { return h.ExternalID == e.ExternalID }) {
				return
			}
			all = append(all, mapdata.Entity{Feed: e.Feed, ExternalID: e.ExternalID, Kind: e.Kind, Point: e.Point})
		})
		if err != nil {
			return nil, time.Time{}, fmt.Errorf("read entities: %w", err)
		}
		made := &Sketch{Truncated: len(all) > maxSketchEntities}
		made.summarize(all[:min(len(all), maxSketchEntities)])
		return made, now.Add(sketchLifetime), nil
	})
}

// summarize sets Kinds and Middle. Middle is the entity nearest to the median latitude and longitude, so that outliers do not
// move it.
func (k *Sketch) summarize(all []mapdata.Entity) {
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
	distance := func(e mapdata.Entity) float64 {
		dLat, dLng := e.Point.Lat-lat, e.Point.Lng-lng
		return dLat*dLat + dLng*dLng
	}
	middle := slices.MinFunc(all, func(a, b mapdata.Entity) int { return cmp.Compare(distance(a), distance(b)) })
	k.Middle = &middle
}

// kindsOf lists the kinds of a set.
func kindsOf(set mapdata.KindSet) (kinds []mapdata.Kind) {
	for k := range mapdata.Kind(mapdata.KindCount) {
		if set.Has(k) {
			kinds = append(kinds, k)
		}
	}
	return kinds
}
