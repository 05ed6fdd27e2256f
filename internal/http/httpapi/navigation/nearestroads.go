package navigation

import (
	"context"
	"net/http"

	"wayside/internal/drive/nav/osrm"
	"wayside/internal/http/httpapi"
)

// getNearestRoads answers GET and POST /v2/navigation/nearest with the roads nearest to a place.
func (a *api) getNearestRoads(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	return a.navigate(w, r, c, osrm.Nearest, func(ctx context.Context, q *osrm.Request, s *navigationScratch) error {
		var err error
		s.body, err = a.Engine.Nearest(ctx, q, s.body)
		return err
	})
}
