package catalog_test

import (
	"fmt"
	"testing"

	"wayside/internal/entities/catalog"
	"wayside/internal/ground/mapdata"
	"wayside/internal/store/replica/projectiontest"
)

// maxFeeds exceeds the number of feeds in the contract tests.
const maxFeeds = 100

func feedIDs() (all []mapdata.FeedID) {
	for i := range maxFeeds {
		all = append(all, mapdata.FeedID{0: 1, 15: byte(i + 1)})
	}
	return all
}

// TestProjection runs the contract tests of projections with each kind of read.
func TestProjection(t *testing.T) {
	type read func(c *catalog.Catalog) map[string]string
	type want func(w *projectiontest.World) map[string]string
	for name, tt := range map[string]struct {
		read
		want
	}{
		"health":        {readHealth, wantHealth},
		"served health": {readServedHealth, wantServedHealth},
		"listed": {
			func(c *catalog.Catalog) map[string]string { return names(c.Listed(), (*mapdata.Feed).Listed) },
			func(w *projectiontest.World) map[string]string { return names(w.Feeds(), (*mapdata.Feed).Listed) },
		},
		"owned": {
			func(c *catalog.Catalog) map[string]string {
				read := make(map[string]string)
				for _, id := range c.Owned(mapdata.AccountID{1}) {
					read[id.String()] = "owned"
				}
				return read
			},
			func(w *projectiontest.World) map[string]string {
				want := make(map[string]string)
				for _, f := range w.Feeds() {
					if f.Owner == (mapdata.AccountID{1}) {
						want[f.ID.String()] = "owned"
					}
				}
				return want
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			projectiontest.Run(t, func() projectiontest.Subject {
				c := catalog.New(nil)
				return projectiontest.Subject{Projection: c, Read: func() map[string]string { return tt.read(c) }, Want: tt.want}
			})
		})
	}
}

func names(feeds []*mapdata.Feed, is func(*mapdata.Feed) bool) map[string]string {
	all := make(map[string]string)
	for _, f := range feeds {
		if is(f) {
			all[f.ID.String()] = f.Name
		}
	}
	return all
}

func show(h mapdata.Health) string {
	return fmt.Sprintf("%s, %d ok, %d failed", h.Status, h.OK, h.Fail)
}

func readHealth(c *catalog.Catalog) map[string]string {
	read := make(map[string]string)
	for _, h := range c.Health(feedIDs(), projectiontest.Start) {
		read[string(h.ID)] = show(h.Health)
	}
	return read
}

func wantHealth(w *projectiontest.World) map[string]string {
	want := make(map[string]string)
	for _, id := range feedIDs() {
		recent := new(mapdata.Recent)
		for i := range w.Attempts {
			if a := &w.Attempts[i]; a.Feed == id {
				recent.AddAttempt(a.Revision, &a.Attempt)
			}
		}
		health := mapdata.Health{Status: mapdata.Offline}
		if f := w.Registered[id]; f != nil {
			health, _ = mapdata.FeedHealth(f, recent, true, projectiontest.Start)
		}
		want[string(id.SourceID())] = show(health)
	}
	return want
}

func readServedHealth(c *catalog.Catalog) map[string]string {
	read := make(map[string]string)
	for _, h := range c.ServedHealth(projectiontest.Start) {
		read[string(h.ID)] = show(h.Health)
	}
	return read
}

func wantServedHealth(w *projectiontest.World) map[string]string {
	all, want := wantHealth(w), make(map[string]string)
	for _, f := range w.Feeds() {
		if id := string(f.ID.SourceID()); f.Served() {
			want[id] = all[id]
		}
	}
	return want
}
