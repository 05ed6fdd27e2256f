package httpapi

import (
	"context"
	"net/http"

	"wayside/internal/nav"
	"wayside/internal/nav/osrm"
)

// getMatch answers GET and POST /v2/navigation/match: where a trace was driven.
func (a *api) getMatch(w http.ResponseWriter, r *http.Request, c *caller) error {
	return a.navigate(w, r, c, osrm.Match, func(ctx context.Context, q *osrm.Request, s *navigationScratch) error {
		var answer nav.TraceAnswer
		if err := a.Navigation.Match(ctx, q.TraceRequest(), &answer); err != nil {
			return err
		}
		s.body = q.AppendMatch(s.body, &answer)
		return nil
	})
}
