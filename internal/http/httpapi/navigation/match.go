package navigation

import (
	"context"
	"net/http"

	"wayside/internal/drive/nav/osrm"
	"wayside/internal/http/httpapi"
)

// getMatch answers GET and POST /v2/navigation/match with the roads along which a trace was driven.
func (a *api) getMatch(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	return a.navigate(w, r, c, osrm.Match, func(ctx context.Context, q *osrm.Request, s *navigationScratch) error {
		var err error
		s.body, err = a.Engine.Match(ctx, q, s.body)
		return err
	})
}
