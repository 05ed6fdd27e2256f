package apps

import (
	"net/http"

	"wayside/internal/http/httpapi"
	"wayside/internal/people/account"
)

// routes returns the API's resources of apps (D16.12). They exist only if the operator enabled apps.
func (a *api) routes() []httpapi.Route {
	return httpapi.OnlyIf(a.Apps != nil,
		httpapi.NewRoute(http.MethodGet, "/v2/apps", httpapi.ClassRead, account.ForGuests, a.getApps),
		httpapi.NewRoute(http.MethodPost, "/v2/apps", httpapi.ClassAccount, account.ForAccounts, a.postApp),
		httpapi.NewRoute(http.MethodGet, "/v2/apps/{id}", httpapi.ClassRead, account.ForGuests, a.getApp),
		httpapi.NewRoute(http.MethodGet, "/v2/apps/{id}/icons/{file}", httpapi.ClassOpen, account.ForGuests, a.getAppIcon),
		httpapi.NewRoute(http.MethodGet, "/v2/apps/{id}/versions", httpapi.ClassAccount, account.ForOwnersAndCurators, a.getAppVersions),
		httpapi.NewRoute(http.MethodPost, "/v2/apps/{id}/versions", httpapi.ClassAccount, account.ForOwners, a.postAppVersion),
		httpapi.NewRoute(http.MethodPost, "/v2/apps/{id}/versions/{n}/withdraw", httpapi.ClassAccount, account.ForOwners, a.postAppWithdraw),
		httpapi.NewRoute(http.MethodPost, "/v2/apps/{id}/versions/{n}/approve", httpapi.ClassAccount, account.ForCurators, a.postAppApprove),
		httpapi.NewRoute(http.MethodPost, "/v2/apps/{id}/versions/{n}/reject", httpapi.ClassAccount, account.ForCurators, a.postAppReject),
		httpapi.NewRoute(http.MethodPost, "/v2/apps/{id}/suspend", httpapi.ClassAccount, account.ForCurators, a.postAppSuspend),
		httpapi.NewRoute(http.MethodPost, "/v2/apps/{id}/resume", httpapi.ClassAccount, account.ForCurators, a.postAppResume),

		httpapi.NewRoute(http.MethodGet, schemasPath+"{file}", httpapi.ClassOpen, account.ForGuests, a.getAppSchema),

		httpapi.NewRoute(http.MethodPut, publicNamePath, httpapi.ClassAccount, account.ForAccounts, a.putPublicName),
		httpapi.NewRoute(http.MethodGet, "/v2/account/apps", httpapi.ClassAccount, account.ForScreens, a.getInstalledApps),
		httpapi.NewRoute(http.MethodPut, "/v2/account/apps/{id}", httpapi.ClassAccount, account.ForScreens, a.putInstalledApp),
		httpapi.NewRoute(http.MethodDelete, "/v2/account/apps/{id}", httpapi.ClassAccount, account.ForAccounts, a.deleteInstalledApp),
		httpapi.NewRoute(http.MethodPost, "/v2/account/apps/{id}/frame", httpapi.ClassAccount, account.ForScreens, a.postAppFrame),
	)
}
