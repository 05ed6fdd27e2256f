// Package osm keeps the built-in sources osm-cameras and osm-chargers up to date with the current region (D15.24). Each is a feed whose
// rows go through ingest like those of a provider, as one exact snapshot: entities that the region lacks are removed. Votes, rules of areas
// and streams therefore treat them like any others. Without a region, or where a product was left out or is empty, its source is not
// active.
//
// Of several nodes, those with the newest region act. Acting at the same time does no harm, since the second node finds the rows that it
// brings. A source that has the rows already is not written to, so that a restart costs only a digest of them.
package osm

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"time"

	"github.com/google/uuid"

	"wayside/internal/feeds/ingest"
	"wayside/internal/ground/mapdata"
	"wayside/internal/roads/region"
)

// Store keeps feeds.
type Store interface {
	CreateFeed(ctx context.Context, f *mapdata.Feed, limit int, audit ...mapdata.AuditEntry) error
	Feed(ctx context.Context, id mapdata.FeedID) (*mapdata.Feed, error)
	UpdateFeed(ctx context.Context, id mapdata.FeedID, edit func(*mapdata.Feed) (mapdata.Side, error)) (*mapdata.Feed, error)
}

// Options are the parameters of Sources.
type Options struct {
	Store  Store
	Ingest *ingest.Ingester
	Region func() *region.Region // the current one; nil: none
	// Newest is the greatest data version of all nodes' regions; nil: there is one node.
	Newest       func() string
	StoreChanged interface{ Notify() }
	Now          func() time.Time
	Log          *slog.Logger
}

const (
	// lookEvery is the interval at which Run checks for work, in addition to changes of the region.
	lookEvery = 5 * time.Second
	// settleAfter is how long a node that starts leaves the sources unchanged, because it may not know the other nodes' regions yet.
	settleAfter = 25 * time.Second
)

// Sources are the built-in sources of a region.
type Sources struct {
	Options
	changed chan struct{}

	// These fields are used by Run alone.
	done  *state // the state that was applied last; nil: none yet
	since time.Time
}

// state is the input on which the sources depend.
type state struct {
	region *region.Region
	newest string
}

// New returns Sources.
func New(o Options) *Sources { return &Sources{Options: o, changed: make(chan struct{}, 1)} }

// Changed signals that the region changed. It never blocks.
func (s *Sources) Changed() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// Run keeps the sources up to date until ctx ends.
func (s *Sources) Run(ctx context.Context) error {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	s.since = s.Now()
	for {
		if err := s.look(ctx); err != nil && ctx.Err() == nil {
			s.Log.Warn("the cameras and chargers of the region cannot be stored; it is tried again", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-s.changed:
			s.since = time.Time{} // an import must become visible immediately
		case <-tick.C:
		}
	}
}

// look brings the sources up to date with the region, if this node must act.
func (s *Sources) look(ctx context.Context) error {
	now := state{region: s.Region()}
	own := ""
	if now.region != nil {
		own = now.region.DataVersion
	}
	now.newest = own
	if s.Newest != nil {
		if s.Now().Sub(s.since) < settleAfter {
			return nil
		}
		now.newest = slices.MaxFunc([]string{own, s.Newest()}, region.CompareVersions)
	}
	if s.done != nil && *s.done == now {
		return nil
	}
	if now.newest == own {
		var cameras, chargers *region.Rows
		if now.region != nil {
			cameras, chargers = now.region.CameraRows, now.region.ChargerRows
		}
		err := errors.Join(
			s.keep(ctx, mapdata.OSMCamerasID, "Cameras of OpenStreetMap", now.region, cameras),
			s.keep(ctx, mapdata.OSMChargersID, "Chargers of OpenStreetMap", now.region, chargers),
		)
		runtime.KeepAlive(now.region) // the rows lie in its mapping
		if err != nil {
			return err
		}
	}
	s.done = &now
	return nil
}

// noRows is the body of a source without rows.
var noRows = []byte("[]")

// keep makes one source hold the rows of a region; nil: none.
func (s *Sources) keep(ctx context.Context, id mapdata.FeedID, name string, r *region.Region, rows *region.Rows) error {
	body, active := noRows, false
	if rows != nil && rows.Len() > 0 {
		body, active = rows.JSON(), true
	}
	f, err := s.Store.Feed(ctx, id)
	if errors.Is(err, mapdata.ErrNotFound) {
		if !active {
			return nil
		}
		f, err = s.create(ctx, id, name)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", id.SourceID(), err)
	}
	if !active {
		// Hidden first, so that nobody reads a partial state.
		if f, err = s.edit(ctx, f, func(f *mapdata.Feed) { f.Active = false }); err != nil {
			return err
		}
	}
	report, replaced, err := s.Ingest.Replace(ctx, f, body, s.Now())
	if err != nil {
		return fmt.Errorf("%s: %w", id.SourceID(), err)
	}
	if active {
		_, err = s.edit(ctx, f, func(f *mapdata.Feed) {
			f.Active, f.Attribution, f.Licence = true, r.Attribution, r.Licence
		})
	}
	if err == nil && replaced {
		s.Log.Info("a built-in source has the rows of the region", "source", id.SourceID(), "rows", report.Accepted, "rejected", report.Rejected)
	}
	return err
}

// edit applies a change to a feed and stores it if anything changed.
func (s *Sources) edit(ctx context.Context, f *mapdata.Feed, change func(*mapdata.Feed)) (*mapdata.Feed, error) {
	edited := *f
	change(&edited)
	if edited.Active == f.Active && edited.Words() == f.Words() {
		return f, nil
	}
	stored, err := s.Store.UpdateFeed(ctx, f.ID, func(f *mapdata.Feed) (mapdata.Side, error) {
		change(f)
		f.UpdatedAt = s.Now()
		return mapdata.Side{}, nil
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.ID.SourceID(), err)
	}
	s.StoreChanged.Notify()
	return stored, nil
}

// builtinFeeds is the limit of their owner's feeds.
const builtinFeeds = 100

// create creates the feed of a source, hidden.
func (s *Sources) create(ctx context.Context, id mapdata.FeedID, name string) (*mapdata.Feed, error) {
	layer, err := uuid.NewV7()
	if err != nil {
		return nil, err
	}
	now := s.Now()
	f := &mapdata.Feed{
		ID: id, Owner: mapdata.BuiltinOwner, Direction: mapdata.Builtin, Visibility: mapdata.Public, ReviewState: mapdata.Approved,
		Name: name, Layer: mapdata.Layer{ID: layer.String(), Slug: string(id.SourceID()), Name: name},
		CreatedAt: now, UpdatedAt: now,
	}
	if err := s.Store.CreateFeed(ctx, f, builtinFeeds); err != nil && !errors.Is(err, mapdata.ErrConflict) { // another node created it
		return nil, err
	}
	return s.Store.Feed(ctx, id)
}
