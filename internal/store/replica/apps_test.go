package replica_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/signal"
	"wayside/internal/store/replica"
)

// TestFollowerSignalsApps checks that the follower signals changes of apps from the log, whichever process made them, and after a
// load, and that it does not pass them to projections.
func TestFollowerSignalsApps(t *testing.T) {
	db, f := newStore(t)
	put(t, db, f, "a")
	apps := signal.NewAppsChanged()
	n := newNodeWith(db, replica.Options{Now: func() time.Time { return start }, Log: slog.New(slog.DiscardHandler), AppsChanged: apps})
	running(t, n)
	signalled := func() bool {
		select {
		case <-apps.C():
			return true
		default:
			return false
		}
	}
	eventually(t, "signalled after the load", signalled)
	put(t, db, f, "b")
	n.notify()
	eventually(t, "the change shows", func() bool { return cmp.Equal(n.ids(), []string{"a", "b"}) })
	if signalled() {
		t.Error("signalled without a change of apps")
	}
	app := &mapdata.App{ID: mapdata.AppID{1}, Slug: "trip", Owner: f.Owner, CreatedAt: start, UpdatedAt: start, Versions: []mapdata.AppVersion{
		{Number: 1, State: mapdata.AppApproved, SubmittedAt: start, DecidedAt: start},
	}}
	limits := mapdata.AppLimits{PerOwner: 1, Waiting: 1, WaitingPerOwner: 1}
	if err := db.CreateApp(t.Context(), app, limits, mapdata.Side{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "signalled by the log, which is read once a second", signalled)
	if got := n.ids(); !cmp.Equal(got, []string{"a", "b"}) {
		t.Errorf("after a change of apps there are %v", got)
	}
}
