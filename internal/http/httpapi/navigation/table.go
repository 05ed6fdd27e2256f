package navigation

import (
	"context"
	"net/http"

	"wayside/internal/drive/nav/osrm"
	"wayside/internal/http/httpapi"
)

// getTable answers GET and POST /v2/navigation/table with times and distances between places.
func (a *api) getTable(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	return a.navigate(w, r, c, osrm.Table, func(ctx context.Context, q *osrm.Request, s *navigationScratch) error {
		var err error
		s.body, err = a.Engine.Table(ctx, q, s.body)
		return err
	})
}
