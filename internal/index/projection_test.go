package index_test

import (
	"fmt"
	"testing"
	"time"

	"wayside/internal/index"
	"wayside/internal/mapdata"
	"wayside/internal/replica/projectiontest"
)

// TestProjection runs the contract tests of projections.
func TestProjection(t *testing.T) {
	now := func() time.Time { return projectiontest.Start }
	projectiontest.Run(t, func() projectiontest.Subject {
		ix := index.New(func(dst []byte, e *mapdata.Entity) []byte { return append(dst, e.Properties...) })
		return projectiontest.Subject{
			Projection: index.Projection{Index: ix, Now: now},
			Read: func() map[string]string {
				hits, _ := ix.Search(&mapdata.Search{Center: projectiontest.Center, Radius: 5000, Kinds: mapdata.AllKinds, Served: true, Now: now(), Limit: 10_000}, nil)
				read := make(map[string]string)
				for i := range hits {
					h := &hits[i]
					read[fmt.Sprintf("%s/%s", h.Source, h.ExternalID)] = fmt.Sprintf("%v %s %d confirms", h.Point, h.Prepared, h.Confirms)
				}
				return read
			},
			Want: func(w *projectiontest.World) map[string]string {
				want := make(map[string]string)
				for k, e := range w.Entities {
					if w.Registered[k.Feed].Served() {
						want[fmt.Sprintf("%s/%s", k.Feed.SourceID(), k.ExternalID)] = fmt.Sprintf("%v %s %d confirms", e.Point, e.Properties, w.Tallies[k].Confirms)
					}
				}
				return want
			},
		}
	})
}
