package httpapi

import (
	"context"
	"net/http"

	"wayside/internal/nav"
	"wayside/internal/nav/osrm"
)

// getTable answers GET and POST /v2/navigation/table: times and distances between places.
func (a *api) getTable(w http.ResponseWriter, r *http.Request, c *caller) error {
	return a.navigate(w, r, c, osrm.Table, func(ctx context.Context, q *osrm.Request, s *navigationScratch) error {
		var answer nav.TableAnswer
		if err := a.Navigation.Table(ctx, q.TableRequest(), &answer); err != nil {
			return err
		}
		s.body = q.AppendTable(s.body, &answer)
		return nil
	})
}
