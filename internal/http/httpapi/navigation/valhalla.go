package navigation

import (
	"context"
	"net/http"

	"wayside/internal/drive/nav"
	"wayside/internal/drive/nav/osrm"
	"wayside/internal/drive/nav/valhalla"
	"wayside/internal/http/httpapi"
)

// getValhallaRoute answers GET and POST /v2/navigation/valhalla/route with a route in Valhalla's form (D15.19).
func (a *api) getValhallaRoute(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	q, err := readValhalla(w, r)
	if err != nil {
		q = new(valhalla.Request)
	}
	return a.answerNavigation(w, r, c, q.Request, err, func(ctx context.Context, _ *osrm.Request, s *navigationScratch) error {
		var err error
		s.body, err = a.Engine.Route(ctx, q.Request, q.Avoid, s.body)
		return err
	})
}

// readValhalla reads a request from the body, or from the query of a GET.
func readValhalla(w http.ResponseWriter, r *http.Request) (*valhalla.Request, error) {
	if r.Method == http.MethodPost {
		body, err := readNavigationJSON(w, r)
		if err != nil {
			return nil, err
		}
		return valhalla.Parse(body)
	}
	text := r.URL.Query().Get("json")
	if text == "" {
		return nil, &nav.Error{Code: nav.InvalidQuery, Message: "A GET has its request in the query, as json={…}; a POST in its body."}
	}
	return valhalla.Parse([]byte(text))
}
