package nearby

import (
	"context"
	"math"
	"slices"
	"time"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// Limits of a view.
const (
	// MaxPins is the largest number of entities that a view shows one by one.
	MaxPins = 500
	// MaxZoom is the closest zoom of a view.
	MaxZoom = 22
	// maxTiles bounds the tiles of a view, and so its clusters.
	maxTiles = 1024
	// tilesPerSide is the number of levels by which the tiles of clusters are finer than a map's tiles of 512 pixels: 64 pixels.
	tilesPerSide = 3
	// closeLevel is the level of tiles from which on a view shows pins however many there are: its tiles are 76 m wide at most.
	closeLevel = 19
)

// View is one read of the contents of a part of the map.
type View struct {
	Query // without Center, Radius, Since and Limit
	Box   geo.Box
	Zoom  int // of a map with tiles of 512 pixels, 0 to MaxZoom
}

// ViewAnswer is the result of a View: pins or clusters. It may be reused for the next one.
type ViewAnswer struct {
	Answer
	Clustered bool // Overview applies; otherwise Hits
	Overview  mapdata.Overview
}

// View answers a view into a, with pins if the tiles that it touches contain MaxPins at most, or it is a close one, and with clusters
// otherwise. Pins include live incidents if the view lies within a circle of MaxRadius; clusters do not count them. It fails with
// *UnknownSourcesError.
func (r *Reader) View(ctx context.Context, v *View, a *ViewAnswer) error {
	level := v.Zoom + tilesPerSide
	for level > 0 && v.Box.Tiles(level).Count() > maxTiles {
		level--
	}
	s, err := r.selection(&v.Query, &a.Answer)
	if err != nil {
		return err
	}
	r.Index.Overview(&s, v.Box, level, r.Law, &a.Overview)
	if a.Clustered = a.Overview.Count > MaxPins && level < closeLevel; !a.Clustered {
		return r.pins(ctx, v, &a.Answer)
	}
	a.Hits, a.Truncated, a.At = a.Hits[:0], false, s.Now
	a.Sources = r.Catalog.Health(a.Overview.Feeds, s.Now)
	a.Hidden = 0
	return nil
}

// selection returns a search for all entities that a query selects, wherever they are and whatever their votes. It sets Live, Reports and Networks of a.
func (r *Reader) selection(q *Query, a *Answer) (mapdata.Search, error) {
	s := mapdata.Search{Kinds: q.Kinds, Suppressed: q.Curator && !q.Driving, Now: r.Now(), Limit: 1, Viewer: q.Account}
	a.Live = false
	a.Networks, s.AllNetworks = r.networks(q, a.Networks[:0])
	s.Networks = a.Networks
	_, err := r.selectSources(q, &s)
	a.Reports = r.includesReports(q, &s)
	return s, err
}

// pins answers a view with the entities in it, at most MaxPins, nearest to its middle first.
func (r *Reader) pins(ctx context.Context, v *View, a *Answer) error {
	q := v.Query
	// An entity outside the box may be merged into one inside, and be shown there.
	wider := v.Box.Grown(maxMergeDistance + r.Law.Drift())
	q.Center, q.Radius = circleOf(&wider)
	q.Within, q.Limit = &wider, MaxLimit
	if err := r.Near(ctx, &q, a); err != nil {
		return err
	}
	a.Hits = slices.DeleteFunc(a.Hits, func(h mapdata.Hit) bool { return !v.Box.Contains(h.Point) })
	if len(a.Hits) > MaxPins {
		a.Hits, a.Truncated = a.Hits[:MaxPins], true
	}
	return nil
}

// globe is the radius of a circle that covers the whole globe, in metres.
const globe = math.Pi * geo.EarthRadius

// circleOf returns a circle around a box. For a large box it is the whole globe, because the box bounds the search anyway.
func circleOf(b *geo.Box) (center geo.Point, radius float64) {
	const small = 60 // degrees
	c := geo.Circle{Center: geo.Point{Lat: (b.South + b.North) / 2, Lng: (b.West + b.East) / 2}, Radius: globe}
	if b.East-b.West <= small {
		c = b.Circle()
		c.Radius++
	}
	c.Center.Lng = math.Remainder(c.Center.Lng, 360)
	return c.Center, c.Radius
}

// nearestMargin widens the search for the nearest entity, in metres, because entities shown as zones move when they change.
const nearestMargin = 1000

// Nearest finds the entity that is nearest to the query's center, wherever it is; the query's radius and limit do not apply. It sets at
// most one hit in a. It does not find live incidents beyond MaxRadius, and calls no upstream. It fails with *UnknownSourcesError.
func (r *Reader) Nearest(ctx context.Context, q *Query, a *Answer) error {
	s, err := r.selection(q, a)
	if err != nil {
		return err
	}
	s.Center = q.Center
	a.Hits, a.At = a.Hits[:0], s.Now
	near := *q
	near.Limit, near.Driver = 1, ""
	reach := r.Index.Reach(&s, r.Law)
	// The nearest entity may be expired or hidden by votes; then the search continues beyond it.
	for range nearestAttempts {
		if reach < 0 {
			return nil
		}
		near.Radius = min(reach+nearestMargin, globe)
		if err := r.Near(ctx, &near, a); err != nil || len(a.Hits) > 0 {
			return err
		}
		reach *= nearestGrowth
	}
	return nil
}

const (
	nearestAttempts = 3
	nearestGrowth   = 4 // factor of the radius
)

// extentAge is how long an extent is reused, because it changes slowly, and every user who opens the map requests it.
const extentAge = 10 * time.Second

// extent is an extent at a time.
type extent struct {
	box   geo.Box
	found bool
	at    time.Time
}

// Extent returns a box around all entities that guests may read, except live incidents, and false if there are none.
func (r *Reader) Extent() (geo.Box, bool) {
	now := r.Now()
	if last := r.extent.Load(); last != nil && now.Sub(last.at) < extentAge && !now.Before(last.at) {
		return last.box, last.found
	}
	s := mapdata.Search{Served: true, Kinds: mapdata.AllKinds, Networks: []string{r.Primary}, Now: now, Limit: 1}
	next := &extent{at: now}
	next.box, next.found = r.Index.Extent(&s, r.Law)
	r.extent.Store(next)
	return next.box, next.found
}
