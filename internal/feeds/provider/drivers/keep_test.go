package drivers

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/signal"
	"wayside/internal/store/sqlite"
	"wayside/internal/store/sqlite/sqlitetest"
)

// TestKeeper checks that the source of drivers' reports is as the configuration has it: there, with its attribution, or hidden
// (D17.35, D17.37).
func TestKeeper(t *testing.T) {
	db, err := sqlite.Open(t.Context(), sqlitetest.Path(t), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	keep := func(enabled bool, attribution string) string {
		t.Helper()
		k := &Keeper{
			Store: db, Enabled: enabled, Attribution: attribution, StoreChanged: signal.NewStoreChanged(), Now: time.Now, Log: slog.New(slog.DiscardHandler),
		}
		if err := k.keep(t.Context()); err != nil {
			t.Fatal(err)
		}
		f, err := db.Feed(t.Context(), mapdata.DriversID)
		if errors.Is(err, mapdata.ErrNotFound) {
			return "none"
		}
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(f.Layer.Slug, " ", f.Listed(), " ", f.Attribution)
	}
	for _, step := range []struct {
		enabled           bool
		attribution, want string
	}{
		{false, "Ada", "none"},
		{true, "Ada", "drivers true Ada"},
		{true, "Ada", "drivers true Ada"},
		{true, "Ada and Bob", "drivers true Ada and Bob"},
		{false, "Ada and Bob", "drivers false Ada and Bob"},
		{true, "Ada and Bob", "drivers true Ada and Bob"},
	} {
		if got := keep(step.enabled, step.attribution); got != step.want {
			t.Errorf("enabled %v by %s: %s, want %s", step.enabled, step.attribution, got, step.want)
		}
	}
}

// TestKeeperTakesChanges checks that Run follows a reload of the configuration.
func TestKeeperTakesChanges(t *testing.T) {
	changes, stored := make(chan bool), make(chan bool)
	k := &Keeper{
		Store: told{stored}, Changes: changes, StoreChanged: signal.NewStoreChanged(), Now: time.Now, Log: slog.New(slog.DiscardHandler),
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- k.Run(ctx) }()
	if <-stored {
		t.Error("reports are enabled at the start")
	}
	for _, enabled := range []bool{true, false, true} {
		changes <- enabled
		if got := <-stored; got != enabled {
			t.Errorf("reports are enabled: %v, want %v", got, enabled)
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// told is a store that tells whether the feed becomes active; it never is as it should be.
type told struct{ active chan<- bool }

func (s told) CreateFeed(context.Context, *mapdata.Feed, int, ...mapdata.AuditEntry) error {
	return errors.New("the feed is there already")
}

func (s told) Feed(context.Context, mapdata.FeedID) (*mapdata.Feed, error) {
	return &mapdata.Feed{Attribution: "of another time"}, nil
}

func (s told) UpdateFeed(_ context.Context, _ mapdata.FeedID, edit func(*mapdata.Feed) (mapdata.Side, error)) (*mapdata.Feed, error) {
	f := new(mapdata.Feed)
	if _, err := edit(f); err != nil {
		return nil, err
	}
	s.active <- f.Active
	return f, nil
}
