package httpapi

import (
	"net/http"
	"slices"

	"wayside/internal/ground/mapdata"
	"wayside/internal/people/account"
)

// entityRoutes returns the API's resources of what readers see: reads, votes, alerts, streams, sources and kinds, and drivers' reports if
// there are any (D17.37).
func (a *API) entityRoutes() []Route {
	return slices.Concat([]Route{
		NewRoute(http.MethodGet, "/v2/entities/nearby", ClassRead, account.ForGuests, a.getNearby),
		NewRoute(http.MethodGet, "/v2/entities/{id}", ClassRead, account.ForGuests, a.getEntity),
		NewRoute(http.MethodPost, "/v2/entities/{id}/confirm", ClassVote, account.ForScreens, a.vote(mapdata.Confirm)),
		NewRoute(http.MethodPost, "/v2/entities/{id}/dispute", ClassVote, account.ForScreens, a.vote(mapdata.Dispute)),
		NewRoute(http.MethodDelete, "/v2/entities/{id}/vote", ClassVote, account.ForScreens, a.vote(mapdata.NoVote)),
		NewRoute(http.MethodGet, "/v2/alerts", ClassRead, account.ForGuests, a.getAlerts),
		NewRoute(http.MethodGet, "/v2/stream", ClassRead, account.ForGuests, a.getStream),

		NewRoute(http.MethodGet, "/v2/sources", ClassRead, account.ForGuests, a.getSources),
		NewRoute(http.MethodGet, "/v2/kinds", ClassRead, account.ForGuests, a.getKinds),

		NewRoute(http.MethodGet, "/v2/overlay/view", ClassPageRead, account.ForGuests, a.getOverlayView),
		NewRoute(http.MethodGet, "/v2/overlay/nearest", ClassPageRead, account.ForGuests, a.getOverlayNearest),
		NewRoute(http.MethodGet, "/v2/icons/{file}", ClassOpen, account.ForGuests, a.getIcon),
	}, OnlyIf(a.Reports != nil,
		NewRoute(http.MethodPost, reportsPath, ClassReport, account.ForScreens, a.postReport),
		NewRoute(http.MethodDelete, reportsPath+"/{id}", ClassVote, account.ForAuthors, a.deleteReport),
	))
}
