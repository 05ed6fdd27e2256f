package regions

import (
	"net/http"

	"wayside/internal/http/httpapi"
	"wayside/internal/people/account"
)

// routes returns the resources of the served region, and of its administration.
func (a *api) routes() []httpapi.Route {
	return []httpapi.Route{
		httpapi.NewRoute(http.MethodGet, "/v2/regions", httpapi.ClassRead, account.ForGuests, a.getRegions),
		httpapi.NewRoute(http.MethodDelete, "/v2/regions/{id}", httpapi.ClassAccount, account.ForAdmins, a.deleteRegion),
		httpapi.NewRoute(http.MethodGet, "/v2/regions/imports", httpapi.ClassAccount, account.ForAdmins, a.getRegionImports),
		httpapi.NewRoute(http.MethodPost, "/v2/regions/imports", httpapi.ClassAccount, account.ForAdmins, a.postRegionImport),
		httpapi.NewRoute(http.MethodDelete, "/v2/regions/imports", httpapi.ClassAccount, account.ForAdmins, a.deleteRegionImport),
	}
}
