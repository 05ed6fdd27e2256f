package catalog_test

import (
	"fmt"
	"testing"

	"wayside/internal/catalog"
	"wayside/internal/mapdata"
	"wayside/internal/replica/projectiontest"
)

// TestProjection holds the catalogue to the contract of projections.
func TestProjection(t *testing.T) {
	projectiontest.Run(t, func() projectiontest.Subject {
		c := catalog.New(nil)
		return projectiontest.Subject{
			Projection: c,
			Read: func() map[string]string {
				read := make(map[string]string)
				for _, h := range c.ServedHealth(projectiontest.Start) { // of one view; what is by feed may be of the next
					read[string(h.ID)] = fmt.Sprintf("%s, %d ok, %d failed", h.Status, h.OK, h.Fail)
				}
				return read
			},
			Want: func(w *projectiontest.World) map[string]string {
				recent := make(map[mapdata.FeedID]*mapdata.Recent)
				for _, f := range w.Feeds() {
					recent[f.ID] = new(mapdata.Recent)
				}
				for i := range w.Attempts {
					recent[w.Attempts[i].Feed].Add(w.Attempts[i].Revision, &w.Attempts[i].Attempt)
				}
				want := make(map[string]string)
				for _, f := range w.Feeds() {
					if f.Served() {
						h, _ := mapdata.FeedHealth(f, recent[f.ID], true, projectiontest.Start)
						want[string(f.ID.Source())] = fmt.Sprintf("%s, %d ok, %d failed", h.Status, h.OK, h.Fail)
					}
				}
				return want
			},
		}
	})
}
