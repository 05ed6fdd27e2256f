package httpapi

import (
	"net/http"
	"slices"
	"strings"

	"wayside/internal/ground/mapdata"
	"wayside/internal/http/pages"
	"wayside/internal/people/account"
)

// route is one line of the table.
type route struct {
	method string
	path   string // a pattern of http.ServeMux without a method; also the label in metrics and logs, since it holds no token
	class  class
	who    account.Who
	handle handler
}

// handler answers a request that its route's class has admitted. An error that it returns becomes a problem document.
type handler func(w http.ResponseWriter, r *http.Request, c *caller) error

// class is how a caller is identified, and the limit against which the request counts.
type class int

const (
	classOpen     class = iota // everybody; no account is looked up and nothing is counted
	classRead                  // everybody; counts against the limit on reads (D4.12)
	classPageRead              // as classRead, but only for this service's own page: pages of other origins may not read it
	classVote                  // a session and the same origin; counts against the account's limit on votes (D9.1)
	classReport                // a session and the same origin; counts against the account's limit on reports (D17.37)
	classAccount               // a session, and the same origin for writes; counts against the account's limit on management (D5.9)
	classPush                  // the push token in the path is the only credential
	classSignIn                // everybody, same origin for writes; the handlers count against separate limits
	classRoute                 // everybody; the handlers count against the limit on routes (D15.23), POST from any origin included: it changes nothing
	classDrive                 // the session in the path is the only credential, and bounds its requests (D15.21)
	classNode                  // another node, on a connection that only nodes open: it asks on behalf of its client
	classPage                  // a page for people; the console's own table says what each one requires
)

// routes returns the table of everything that the public address answers.
func (a *api) routes() []route {
	return slices.Concat(a.mapRoutes(), a.navigationRoutes(), a.maintainerRoutes(), a.takedownRoutes(), a.regionRoutes(), a.accountRoutes(), a.appRoutes(), a.fileRoutes(), a.consoleRoutes())
}

// servedRoutes returns the routes that this service answers: without the routes of apps if these are not enabled (D16), and without
// those of drivers' reports if these are not (D17.37).
func (a *api) servedRoutes() []route {
	return slices.DeleteFunc(a.routes(), func(r route) bool {
		return a.Apps == nil && isAppPath(r.path) || a.Reports == nil && strings.HasPrefix(r.path, reportsPath)
	})
}

// isAppPath reports whether a path belongs to apps.
func isAppPath(path string) bool {
	return path == schemasPath+"{file}" || path == "/v2/apps" || strings.HasPrefix(path, "/v2/apps/") || path == "/v2/account/apps" || strings.HasPrefix(path, "/v2/account/apps/") || path == publicNamePath
}

// mapRoutes returns the API's resources of map data: reads, votes and feeds.
func (a *api) mapRoutes() []route {
	return []route{
		{http.MethodGet, "/v2/entities/nearby", classRead, account.ForGuests, a.getNearby},
		{http.MethodGet, "/v2/entities/{id}", classRead, account.ForGuests, a.getEntity},
		{http.MethodPost, "/v2/entities/{id}/confirm", classVote, account.ForScreens, a.vote(mapdata.Confirm)},
		{http.MethodPost, "/v2/entities/{id}/dispute", classVote, account.ForScreens, a.vote(mapdata.Dispute)},
		{http.MethodDelete, "/v2/entities/{id}/vote", classVote, account.ForScreens, a.vote(mapdata.NoVote)},
		{http.MethodPost, reportsPath, classReport, account.ForScreens, a.postReport},
		{http.MethodDelete, reportsPath + "/{id}", classVote, account.ForAuthors, a.deleteReport},
		{http.MethodGet, "/v2/alerts", classRead, account.ForGuests, a.getAlerts},
		{http.MethodGet, "/v2/stream", classRead, account.ForGuests, a.getStream},

		{http.MethodGet, "/v2/sources", classRead, account.ForGuests, a.getSources},
		{http.MethodGet, "/v2/sources/{id}/entities", classRead, account.ForGuests, a.getSourceEntities},
		{http.MethodGet, "/v2/kinds", classRead, account.ForGuests, a.getKinds},

		{http.MethodGet, "/v2/feeds", classAccount, account.ForAccounts, a.getFeeds},
		{http.MethodPost, "/v2/feeds", classAccount, account.ForAccounts, a.postFeed},
		{http.MethodGet, "/v2/feeds/{id}", classAccount, account.ForOwnersAndCurators, a.getFeed},
		{http.MethodPatch, "/v2/feeds/{id}", classAccount, account.ForOwners, a.patchFeed},
		{http.MethodDelete, "/v2/feeds/{id}", classAccount, account.ForOwnersAlone, a.deleteFeed},
		{http.MethodGet, "/v2/feeds/{id}/votes", classAccount, account.ForOwnersAndCurators, a.getFeedVotes},
		{http.MethodGet, feedEntitiesPath, classAccount, account.ForOwnersAndCurators, a.getFeedEntities},
		{http.MethodPost, "/v2/feeds/{id}/rotate-token", classAccount, account.ForOwners, a.postRotateToken},
		{http.MethodPost, "/v2/feeds/{token}/entities", classPush, account.ForTokens, a.postEntities},

		{http.MethodGet, "/v2/review/feeds", classAccount, account.ForCurators, a.getReviewFeeds},
		{http.MethodPost, "/v2/feeds/{id}/approve", classAccount, account.ForCurators, a.postApprove},
		{http.MethodPost, "/v2/feeds/{id}/reject", classAccount, account.ForCurators, a.postReject},
	}
}

// navigationRoutes returns OSRM's API (D15.18), Valhalla's request (D15.19), the conditions of roads (D15.17), and place search
// (D15.20).
func (a *api) navigationRoutes() []route {
	return []route{
		{http.MethodGet, "/v2/geocode/api", classRead, account.ForGuests, a.getPlaces},
		{http.MethodGet, "/v2/geocode/reverse", classRead, account.ForGuests, a.getPlacesNear},
		{http.MethodGet, navigationPath + "conditions", classRead, account.ForGuests, a.getConditions},
		{http.MethodGet, speechPath + "{hash}", classRead, account.ForGuests, a.getSpeech},
		{http.MethodPost, drivesPath, classRoute, account.ForGuests, a.postDrive},
		{http.MethodGet, drivesPath + "/{id}/events", classDrive, account.ForGuests, a.atOwner(a.getDriveEvents)},
		{http.MethodPut, drivesPath + "/{id}/position", classDrive, account.ForGuests, a.atOwner(a.putDrivePosition)},
		{http.MethodDelete, drivesPath + "/{id}", classDrive, account.ForGuests, a.atOwner(a.deleteDrive)},
		{http.MethodGet, navigationPath + "valhalla/route", classRoute, account.ForGuests, a.getValhallaRoute},
		{http.MethodPost, navigationPath + "valhalla/route", classRoute, account.ForGuests, a.getValhallaRoute},
		{http.MethodGet, navigationPath + "route/v1/{profile}/{coordinates}", classRoute, account.ForGuests, a.getRoute},
		{http.MethodPost, navigationPath + "route/v1/{profile}", classRoute, account.ForGuests, a.getRoute},
		{http.MethodGet, navigationPath + "nearest/v1/{profile}/{coordinates}", classRoute, account.ForGuests, a.getNearestRoads},
		{http.MethodPost, navigationPath + "nearest/v1/{profile}", classRoute, account.ForGuests, a.getNearestRoads},
		{http.MethodGet, navigationPath + "table/v1/{profile}/{coordinates}", classRoute, account.ForGuests, a.getTable},
		{http.MethodPost, navigationPath + "table/v1/{profile}", classRoute, account.ForGuests, a.getTable},
		{http.MethodGet, navigationPath + "match/v1/{profile}/{coordinates}", classRoute, account.ForGuests, a.getMatch},
		{http.MethodPost, navigationPath + "match/v1/{profile}", classRoute, account.ForGuests, a.getMatch},
	}
}

// maintainerRoutes returns the resources of feeds' maintainers and of invitations.
func (a *api) maintainerRoutes() []route {
	return []route{
		{http.MethodGet, "/v2/feeds/{id}/maintainers", classAccount, account.ForOwners, a.getMaintainers},
		{http.MethodPost, "/v2/feeds/{id}/maintainers", classAccount, account.ForOwnersAlone, a.postInvitation(mapdata.InvitedToMaintain)},
		{http.MethodDelete, "/v2/feeds/{id}/maintainers/{account}", classAccount, account.ForOwners, a.deleteMaintainer},
		{http.MethodPost, "/v2/feeds/{id}/transfer", classAccount, account.ForOwnersAlone, a.postInvitation(mapdata.InvitedToTransfer)},

		{http.MethodGet, "/v2/invitations", classAccount, account.ForAccounts, a.getInvitations},
		{http.MethodPost, "/v2/invitations/{id}/accept", classAccount, account.ForOwners, a.postAccept},
		{http.MethodDelete, "/v2/invitations/{id}", classAccount, account.ForOwners, a.deleteInvitation},
	}
}

// takedownRoutes returns the resources with which curators and admins remove or hide content, and their log.
func (a *api) takedownRoutes() []route {
	return []route{
		{http.MethodPost, "/v2/entities/{id}/hide", classAccount, account.ForCurators, a.postHide},
		{http.MethodPost, "/v2/entities/{id}/show", classAccount, account.ForCurators, a.postShow},
		{http.MethodGet, "/v2/review/pins", classAccount, account.ForCurators, a.getReviewPins},
		{http.MethodGet, "/v2/feeds/{id}/hidden", classAccount, account.ForOwnersAndCurators, a.getFeedHidden},

		{http.MethodPost, "/v2/feeds/{id}/pause", classAccount, account.ForCurators, a.postPause},
		{http.MethodPost, "/v2/feeds/{id}/resume", classAccount, account.ForCurators, a.postResume},
		{http.MethodPost, "/v2/feeds/{id}/remove", classAccount, account.ForCurators, a.postRemove},

		{http.MethodPost, "/v2/entities/{id}/complaint", classVote, account.ForScreens, a.postComplaint},
		{http.MethodGet, "/v2/review/complaints", classAccount, account.ForCurators, a.getReviewComplaints},
		{http.MethodPost, "/v2/review/complaints/{id}/close", classAccount, account.ForCurators, a.postCloseComplaint},

		{http.MethodGet, "/v2/accounts/{id}", classAccount, account.ForAdmins, a.getAdminAccount},
		{http.MethodPost, "/v2/accounts/{id}/suspend", classAccount, account.ForAdmins, a.postSuspend},
		{http.MethodPost, "/v2/accounts/{id}/resume", classAccount, account.ForAdmins, a.postResumeAccount},

		{http.MethodGet, "/v2/audit", classAccount, account.ForCurators, a.getAudit},
	}
}

// regionRoutes returns the resources of the served region, and of its administration.
func (a *api) regionRoutes() []route {
	return []route{
		{http.MethodGet, "/v2/regions", classRead, account.ForGuests, a.getRegions},
		{http.MethodDelete, "/v2/regions/{id}", classAccount, account.ForAdmins, a.deleteRegion},
		{http.MethodGet, "/v2/regions/imports", classAccount, account.ForAdmins, a.getRegionImports},
		{http.MethodPost, "/v2/regions/imports", classAccount, account.ForAdmins, a.postRegionImport},
		{http.MethodDelete, "/v2/regions/imports", classAccount, account.ForAdmins, a.deleteRegionImport},
	}
}

// accountRoutes returns the API's resources of accounts: signing in, and the data of an account.
func (a *api) accountRoutes() []route {
	return []route{
		{http.MethodPost, "/v2/auth/email", classSignIn, account.ForGuests, a.postAuthEmail},
		{http.MethodPost, "/v2/auth/verify", classSignIn, account.ForGuests, a.postAuthVerify},
		{http.MethodPost, "/v2/auth/sign-out", classSignIn, account.ForGuests, a.postAuthSignOut},

		{http.MethodPost, "/v2/auth/passkey/begin", classSignIn, account.ForGuests, a.postPasskeyBegin},
		{http.MethodPost, "/v2/auth/passkey/finish", classSignIn, account.ForGuests, a.postPasskeyFinish},
		{http.MethodPost, "/v2/auth/passkey/confirm/begin", classAccount, account.ForAccounts, a.postPasskeyConfirmBegin},
		{http.MethodPost, "/v2/auth/passkey/confirm/finish", classAccount, account.ForAccounts, a.postPasskeyConfirmFinish},

		{http.MethodPost, "/v2/auth/pair", classSignIn, account.ForGuests, a.postPair},
		{http.MethodPost, "/v2/auth/pair/token", classSignIn, account.ForGuests, a.postPairToken},
		{http.MethodGet, "/v2/auth/pair/qr", classOpen, account.ForGuests, a.getPairQR},
		{http.MethodGet, "/v2/auth/pair/{user_code}", classAccount, account.ForAccounts, a.getPairing},
		{http.MethodPost, "/v2/auth/pair/{user_code}/approve", classAccount, account.ForAccounts, a.postPairApprove},
		{http.MethodPost, "/v2/auth/pair/{user_code}/deny", classAccount, account.ForAccounts, a.postPairDeny},

		{http.MethodGet, "/v2/account", classAccount, account.ForScreens, a.getAccount},
		{http.MethodPatch, "/v2/account", classAccount, account.ForCurators, a.patchAccount},
		{http.MethodDelete, "/v2/account", classAccount, account.ForAccounts, a.deleteAccount},
		{http.MethodPost, "/v2/account/email", classAccount, account.ForAccounts, a.postAccountEmail},
		{http.MethodPost, "/v2/account/email/confirm", classSignIn, account.ForGuests, a.postConfirmEmail},
		{http.MethodGet, "/v2/account/sessions", classAccount, account.ForAccounts, a.getSessions},
		{http.MethodDelete, "/v2/account/sessions/{id}", classAccount, account.ForOwners, a.deleteSession},
		{http.MethodGet, "/v2/account/export", classAccount, account.ForAccounts, a.getExport},
		{http.MethodGet, "/v2/account/tokens", classAccount, account.ForAccounts, a.getTokens},
		{http.MethodPost, "/v2/account/tokens", classAccount, account.ForAccounts, a.postToken},
		{http.MethodDelete, "/v2/account/tokens/{id}", classAccount, account.ForOwners, a.deleteToken},

		{http.MethodGet, "/v2/account/passkeys", classAccount, account.ForAccounts, a.getPasskeys},
		{http.MethodPost, "/v2/account/passkeys", classAccount, account.ForAccounts, a.postPasskey},
		{http.MethodPost, "/v2/account/passkeys/begin", classAccount, account.ForAccounts, a.postPasskeyAddBegin},
		{http.MethodPatch, "/v2/account/passkeys/{id}", classAccount, account.ForOwners, a.patchPasskey},
		{http.MethodDelete, "/v2/account/passkeys/{id}", classAccount, account.ForOwners, a.deletePasskey},

		{http.MethodGet, "/v2/account/preferences", classAccount, account.ForScreens, a.getPreferences},
		{http.MethodPut, "/v2/account/preferences", classAccount, account.ForScreens, a.putPreferences},

		{http.MethodGet, "/v2/account/places", classAccount, account.ForScreens, a.getSavedPlaces},
		{http.MethodPut, "/v2/account/places", classAccount, account.ForScreens, a.putSavedPlaces},
		{http.MethodDelete, "/v2/account/places", classAccount, account.ForAccounts, a.deleteSavedPlaces},
		{http.MethodPut, "/v2/account/destination", classAccount, account.ForAccounts, a.putDestination},
		{http.MethodPost, "/v2/account/destination/take", classAccount, account.ForScreens, a.postTakeDestination},
	}
}

// fileRoutes returns documents, the files of pages, the base map, and probes.
func (a *api) fileRoutes() []route {
	return []route{
		{http.MethodGet, "/{$}", classOpen, account.ForGuests, a.getOverlay},
		{http.MethodGet, "/overlay/{version}/{file}", classOpen, account.ForGuests, static(a.overlay.ServeFile)},
		{http.MethodGet, "/v2/overlay/config", classOpen, account.ForGuests, a.getOverlayConfig},
		{http.MethodGet, "/v2/overlay/view", classPageRead, account.ForGuests, a.getOverlayView},
		{http.MethodGet, "/v2/overlay/nearest", classPageRead, account.ForGuests, a.getOverlayNearest},
		{http.MethodGet, "/console/{version}/{file}", classPage, account.ForGuests, static(a.scripts.ServeFile)},

		{http.MethodGet, "/sw.js", classPage, account.ForGuests, static(a.overlay.ServeWorker)},
		{http.MethodGet, "/manifest.webmanifest", classPage, account.ForGuests, static(pages.ServeApp("manifest.webmanifest"))},
		{http.MethodGet, "/favicon.ico", classPage, account.ForGuests, static(pages.ServeApp("favicon.ico"))},
		{http.MethodGet, "/robots.txt", classPage, account.ForGuests, static(pages.ServeApp("robots.txt"))},
		{http.MethodGet, "/app/{file}", classPage, account.ForGuests, static(pages.ServeAppFile)},
		{http.MethodGet, "/openapi.json", classPage, account.ForGuests, a.redirectOpenAPI},

		{http.MethodGet, "/docs", classOpen, account.ForGuests, a.getDocs},
		{http.MethodGet, "/v2/openapi.json", classOpen, account.ForGuests, a.getOpenAPI},
		{http.MethodGet, "/v2/icons/{file}", classOpen, account.ForGuests, a.getIcon},

		{http.MethodGet, "/map/tiles/{z}/{x}/{y}", classOpen, account.ForGuests, static(a.tiles.ServeTile)},
		{http.MethodGet, "/map/world/{z}/{x}/{y}", classOpen, account.ForGuests, static(a.tiles.ServeWorldTile)},
		{http.MethodGet, "/map/archive.pmtiles", classOpen, account.ForGuests, a.getArchive},
		{http.MethodGet, "/map/style.json", classOpen, account.ForGuests, a.getMapStyle},
		{http.MethodGet, "/map/tilejson", classOpen, account.ForGuests, static(a.tiles.ServeTileJSON)},
		{http.MethodGet, "/map/icons/{file}", classOpen, account.ForGuests, static(a.tiles.ServeIcon)},

		{http.MethodGet, "/demo/drive.json", classOpen, account.ForGuests, a.getDrive},

		{http.MethodGet, "/healthz", classOpen, account.ForGuests, a.getHealthz},
		{http.MethodGet, "/readyz", classOpen, account.ForGuests, a.getReadyz},
	}
}

// static converts a function that answers every caller alike to a handler.
func static(serve func(w http.ResponseWriter, r *http.Request) error) handler {
	return func(w http.ResponseWriter, r *http.Request, _ *caller) error { return serve(w, r) }
}
