package accounts

import (
	"net/http"

	"wayside/internal/http/httpapi"
	"wayside/internal/people/account"
)

// routes returns the API's resources of accounts: signing in, the data of an account, what admins see of one, and the audit log.
func (a *api) routes() []httpapi.Route {
	return []httpapi.Route{
		httpapi.NewRoute(http.MethodPost, "/v2/auth/email", httpapi.ClassSignIn, account.ForGuests, a.postAuthEmail),
		httpapi.NewRoute(http.MethodPost, "/v2/auth/verify", httpapi.ClassSignIn, account.ForGuests, a.postAuthVerify),
		httpapi.NewRoute(http.MethodPost, "/v2/auth/sign-out", httpapi.ClassSignIn, account.ForGuests, a.postAuthSignOut),

		httpapi.NewRoute(http.MethodPost, "/v2/auth/passkey/begin", httpapi.ClassSignIn, account.ForGuests, a.postPasskeyBegin),
		httpapi.NewRoute(http.MethodPost, "/v2/auth/passkey/finish", httpapi.ClassSignIn, account.ForGuests, a.postPasskeyFinish),
		httpapi.NewRoute(http.MethodPost, "/v2/auth/passkey/confirm/begin", httpapi.ClassAccount, account.ForAccounts, a.postPasskeyConfirmBegin),
		httpapi.NewRoute(http.MethodPost, "/v2/auth/passkey/confirm/finish", httpapi.ClassAccount, account.ForAccounts, a.postPasskeyConfirmFinish),

		httpapi.NewRoute(http.MethodPost, "/v2/auth/pair", httpapi.ClassSignIn, account.ForGuests, a.postPair),
		httpapi.NewRoute(http.MethodPost, "/v2/auth/pair/token", httpapi.ClassSignIn, account.ForGuests, a.postPairToken),
		httpapi.NewRoute(http.MethodGet, "/v2/auth/pair/qr", httpapi.ClassOpen, account.ForGuests, a.getPairQR),
		httpapi.NewRoute(http.MethodGet, "/v2/auth/pair/{user_code}", httpapi.ClassAccount, account.ForAccounts, a.getPairing),
		httpapi.NewRoute(http.MethodPost, "/v2/auth/pair/{user_code}/approve", httpapi.ClassAccount, account.ForAccounts, a.postPairApprove),
		httpapi.NewRoute(http.MethodPost, "/v2/auth/pair/{user_code}/deny", httpapi.ClassAccount, account.ForAccounts, a.postPairDeny),

		httpapi.NewRoute(http.MethodGet, "/v2/account", httpapi.ClassAccount, account.ForScreens, a.getAccount),
		httpapi.NewRoute(http.MethodPatch, "/v2/account", httpapi.ClassAccount, account.ForCurators, a.patchAccount),
		httpapi.NewRoute(http.MethodDelete, "/v2/account", httpapi.ClassAccount, account.ForAccounts, a.deleteAccount),
		httpapi.NewRoute(http.MethodPost, "/v2/account/email", httpapi.ClassAccount, account.ForAccounts, a.postAccountEmail),
		httpapi.NewRoute(http.MethodPost, "/v2/account/email/confirm", httpapi.ClassSignIn, account.ForGuests, a.postConfirmEmail),
		httpapi.NewRoute(http.MethodGet, "/v2/account/sessions", httpapi.ClassAccount, account.ForAccounts, a.getSessions),
		httpapi.NewRoute(http.MethodDelete, "/v2/account/sessions/{id}", httpapi.ClassAccount, account.ForOwners, a.deleteSession),
		httpapi.NewRoute(http.MethodGet, "/v2/account/export", httpapi.ClassAccount, account.ForAccounts, a.getExport),
		httpapi.NewRoute(http.MethodGet, "/v2/account/tokens", httpapi.ClassAccount, account.ForAccounts, a.getTokens),
		httpapi.NewRoute(http.MethodPost, "/v2/account/tokens", httpapi.ClassAccount, account.ForAccounts, a.postToken),
		httpapi.NewRoute(http.MethodDelete, "/v2/account/tokens/{id}", httpapi.ClassAccount, account.ForOwners, a.deleteToken),

		httpapi.NewRoute(http.MethodGet, "/v2/account/passkeys", httpapi.ClassAccount, account.ForAccounts, a.getPasskeys),
		httpapi.NewRoute(http.MethodPost, "/v2/account/passkeys", httpapi.ClassAccount, account.ForAccounts, a.postPasskey),
		httpapi.NewRoute(http.MethodPost, "/v2/account/passkeys/begin", httpapi.ClassAccount, account.ForAccounts, a.postPasskeyAddBegin),
		httpapi.NewRoute(http.MethodPatch, "/v2/account/passkeys/{id}", httpapi.ClassAccount, account.ForOwners, a.patchPasskey),
		httpapi.NewRoute(http.MethodDelete, "/v2/account/passkeys/{id}", httpapi.ClassAccount, account.ForOwners, a.deletePasskey),

		httpapi.NewRoute(http.MethodGet, "/v2/account/preferences", httpapi.ClassAccount, account.ForScreens, a.getPreferences),
		httpapi.NewRoute(http.MethodPut, "/v2/account/preferences", httpapi.ClassAccount, account.ForScreens, a.putPreferences),

		httpapi.NewRoute(http.MethodGet, "/v2/account/places", httpapi.ClassAccount, account.ForScreens, a.getSavedPlaces),
		httpapi.NewRoute(http.MethodPut, "/v2/account/places", httpapi.ClassAccount, account.ForScreens, a.putSavedPlaces),
		httpapi.NewRoute(http.MethodDelete, "/v2/account/places", httpapi.ClassAccount, account.ForAccounts, a.deleteSavedPlaces),
		httpapi.NewRoute(http.MethodPut, "/v2/account/destination", httpapi.ClassAccount, account.ForAccounts, a.putDestination),
		httpapi.NewRoute(http.MethodPost, "/v2/account/destination/take", httpapi.ClassAccount, account.ForScreens, a.postTakeDestination),

		httpapi.NewRoute(http.MethodGet, "/v2/accounts/{id}", httpapi.ClassAccount, account.ForAdmins, a.getAdminAccount),
		httpapi.NewRoute(http.MethodPost, "/v2/accounts/{id}/suspend", httpapi.ClassAccount, account.ForAdmins, a.postSuspend),
		httpapi.NewRoute(http.MethodPost, "/v2/accounts/{id}/resume", httpapi.ClassAccount, account.ForAdmins, a.postResumeAccount),
		httpapi.NewRoute(http.MethodGet, "/v2/audit", httpapi.ClassAccount, account.ForCurators, a.getAudit),
	}
}
