package drivers

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"wayside/internal/ground/mapdata"
)

// FeedStore stores the feed of the source.
type FeedStore interface {
	CreateFeed(ctx context.Context, f *mapdata.Feed, limit int, audit ...mapdata.AuditEntry) error
	Feed(ctx context.Context, id mapdata.FeedID) (*mapdata.Feed, error)
	UpdateFeed(ctx context.Context, id mapdata.FeedID, edit func(*mapdata.Feed) (mapdata.Side, error)) (*mapdata.Feed, error)
}

// Keeper keeps the source's feed as configured.
type Keeper struct {
	Store        FeedStore
	Enabled      bool // false: the source does not exist
	Attribution  string
	Changes      <-chan bool // later values of Enabled; nil: none
	StoreChanged interface{ Notify() }
	Now          func() time.Time
	Log          *slog.Logger
}

const (
	retryAfter   = 5 * time.Second
	builtinFeeds = 100 // limit of its owner's feeds
	sourceName   = "Reports of drivers"
)

// Run creates the feed, or hides it, and retries until that has succeeded. It returns when ctx ends.
func (k *Keeper) Run(ctx context.Context) error {
	for {
		err := k.keep(ctx)
		var again <-chan time.Time // nil: nothing to retry
		if err != nil {
			again = time.After(retryAfter)
		}
		if err != nil && ctx.Err() == nil {
			k.Log.Warn("the source of drivers' reports cannot be made; it is tried again", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case k.Enabled = <-k.Changes:
		case <-again:
		}
	}
}

func (k *Keeper) keep(ctx context.Context) error {
	f, err := k.Store.Feed(ctx, mapdata.DriversID)
	if errors.Is(err, mapdata.ErrNotFound) {
		if !k.Enabled {
			return nil
		}
		return k.create(ctx)
	}
	if err != nil || f.Active == k.Enabled && f.Attribution == k.Attribution {
		return err
	}
	_, err = k.Store.UpdateFeed(ctx, mapdata.DriversID, func(f *mapdata.Feed) (mapdata.Side, error) {
		f.Active, f.Attribution, f.UpdatedAt = k.Enabled, k.Attribution, k.Now()
		return mapdata.Side{}, nil
	})
	k.StoreChanged.Notify()
	return err
}

func (k *Keeper) create(ctx context.Context) error {
	layer, err := uuid.NewV7()
	if err != nil {
		return err
	}
	now := k.Now()
	f := &mapdata.Feed{
		ID: mapdata.DriversID, Owner: mapdata.BuiltinOwner, Direction: mapdata.Builtin, Visibility: mapdata.Public,
		ReviewState: mapdata.Approved, Active: true, Name: sourceName, Attribution: k.Attribution,
		Layer:     mapdata.Layer{ID: layer.String(), Slug: string(mapdata.Drivers), Name: sourceName},
		CreatedAt: now, UpdatedAt: now,
	}
	if err := k.Store.CreateFeed(ctx, f, builtinFeeds); err != nil && !errors.Is(err, mapdata.ErrConflict) { // another node created it
		return fmt.Errorf("create the feed: %w", err)
	}
	k.StoreChanged.Notify()
	return nil
}
