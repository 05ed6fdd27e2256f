package votes_test

import (
	"fmt"
	"testing"

	"wayside/internal/entities/votes"
	"wayside/internal/store/replica/projectiontest"
)

// TestProjection runs the contract tests of projections.
func TestProjection(t *testing.T) { projectiontest.Run(t, subject) }

// subject returns tallies with what is read of them.
func subject() projectiontest.Subject {
	tallies := votes.NewTallies(clock)
	return projectiontest.Subject{
		Projection: tallies,
		Read: func() map[string]string {
			read := make(map[string]string)
			for id, t := range tallies.All() {
				read[id] = fmt.Sprint(t.Confirms)
			}
			return read
		},
		Want: func(w *projectiontest.World) map[string]string {
			want := make(map[string]string)
			for k, t := range w.Tallies {
				if k.Feed.IsZero() {
					want[k.ExternalID] = fmt.Sprint(t.Confirms)
				}
			}
			return want
		},
	}
}
