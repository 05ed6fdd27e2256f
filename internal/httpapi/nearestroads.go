package httpapi

import (
	"context"
	"net/http"

	"wayside/internal/nav"
	"wayside/internal/nav/osrm"
)

// getNearestRoads answers GET and POST /v2/navigation/nearest: the roads nearest to a place.
func (a *api) getNearestRoads(w http.ResponseWriter, r *http.Request, c *caller) error {
	return a.navigate(w, r, c, osrm.Nearest, func(ctx context.Context, q *osrm.Request, s *navigationScratch) error {
		var answer nav.NearestAnswer
		if err := a.Navigation.Nearest(ctx, q.NearestRequest(), &answer); err != nil {
			return err
		}
		s.body = q.AppendNearest(s.body, &answer)
		return nil
	})
}
