package navigation

import (
	"context"
	"net/http"

	"wayside/internal/drive/nav"
	"wayside/internal/drive/nav/osrm"
	"wayside/internal/http/httpapi"
)

// getRoute answers GET and POST /v2/navigation/route with the best way over some places.
func (a *api) getRoute(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	return a.navigate(w, r, c, osrm.Route, func(ctx context.Context, q *osrm.Request, s *navigationScratch) error {
		var err error
		s.body, err = a.Engine.Route(ctx, q, nav.Avoid{}, s.body)
		return err
	})
}
