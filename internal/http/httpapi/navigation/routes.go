package navigation

import (
	"net/http"
	"slices"

	"wayside/internal/http/httpapi"
	"wayside/internal/people/account"
)

// routes returns OSRM's API (D15.18), Valhalla's request (D15.19), the conditions of roads (D15.17), and place search
// (D15.20).
func (a *api) routes() []httpapi.Route {
	return slices.Concat([]httpapi.Route{
		httpapi.NewRoute(http.MethodGet, "/v2/geocode/api", httpapi.ClassRead, account.ForGuests, a.getPlaces),
		httpapi.NewRoute(http.MethodGet, "/v2/geocode/reverse", httpapi.ClassRead, account.ForGuests, a.getPlacesNear),
		httpapi.NewRoute(http.MethodGet, httpapi.NavigationPath+"conditions", httpapi.ClassRead, account.ForGuests, a.getConditions),
		httpapi.NewRoute(http.MethodGet, speechPath+"{hash}", httpapi.ClassRead, account.ForGuests, a.getSpeech),
		httpapi.NewRoute(http.MethodPost, httpapi.DrivesPath, httpapi.ClassRoute, account.ForGuests, a.postDrive),
		httpapi.NewRoute(http.MethodGet, httpapi.DrivesPath+"/{id}/events", httpapi.ClassDrive, account.ForGuests, a.atOwner(a.getDriveEvents)),
		httpapi.NewRoute(http.MethodPut, httpapi.DrivesPath+"/{id}/position", httpapi.ClassDrive, account.ForGuests, a.atOwner(a.putDrivePosition)),
		httpapi.NewRoute(http.MethodDelete, httpapi.DrivesPath+"/{id}", httpapi.ClassDrive, account.ForGuests, a.atOwner(a.deleteDrive)),
		httpapi.NewRoute(http.MethodGet, httpapi.NavigationPath+"valhalla/route", httpapi.ClassRoute, account.ForGuests, a.getValhallaRoute),
		httpapi.NewRoute(http.MethodPost, httpapi.NavigationPath+"valhalla/route", httpapi.ClassRoute, account.ForGuests, a.getValhallaRoute),
		httpapi.NewRoute(http.MethodGet, httpapi.NavigationPath+"route/v1/{profile}/{coordinates}", httpapi.ClassRoute, account.ForGuests, a.getRoute),
		httpapi.NewRoute(http.MethodPost, httpapi.NavigationPath+"route/v1/{profile}", httpapi.ClassRoute, account.ForGuests, a.getRoute),
		httpapi.NewRoute(http.MethodGet, httpapi.NavigationPath+"nearest/v1/{profile}/{coordinates}", httpapi.ClassRoute, account.ForGuests, a.getNearestRoads),
		httpapi.NewRoute(http.MethodPost, httpapi.NavigationPath+"nearest/v1/{profile}", httpapi.ClassRoute, account.ForGuests, a.getNearestRoads),
		httpapi.NewRoute(http.MethodGet, httpapi.NavigationPath+"table/v1/{profile}/{coordinates}", httpapi.ClassRoute, account.ForGuests, a.getTable),
		httpapi.NewRoute(http.MethodPost, httpapi.NavigationPath+"table/v1/{profile}", httpapi.ClassRoute, account.ForGuests, a.getTable),
		httpapi.NewRoute(http.MethodGet, httpapi.NavigationPath+"match/v1/{profile}/{coordinates}", httpapi.ClassRoute, account.ForGuests, a.getMatch),
		httpapi.NewRoute(http.MethodPost, httpapi.NavigationPath+"match/v1/{profile}", httpapi.ClassRoute, account.ForGuests, a.getMatch),
	}, a.otherRoutes(), a.nodeRoutes())
}
