// Package apps is the part of the API about apps (D16): submission, review, the catalogue, and what drivers install.
package apps

import (
	"sync/atomic"

	"wayside/internal/ground/mapdata"
	"wayside/internal/http/httpapi"
	"wayside/internal/people/account"
	"wayside/internal/people/apps"
)

// Deps are the dependencies of the handlers.
type Deps struct {
	Apps     *apps.Service // nil: apps are off, and the leaf offers no route
	Accounts *account.Service
	Passkeys *account.Passkeys // nil: the service offers no passkeys
}

// api is the receiver of the handlers.
type api struct {
	*httpapi.API
	Deps

	appAnswers atomic.Pointer[appAnswers]
}

// New returns the leaf.
func New(deps Deps) httpapi.Leaf {
	return func(core *httpapi.API) []httpapi.Route { return (&api{API: core, Deps: deps}).routes() }
}

// ExportVersion returns a version as the export of the account that submitted it contains it. baseURL is the public address.
func ExportVersion(baseURL string, app *mapdata.App, v *mapdata.AppVersion) any {
	return newAppVersionJSON(baseURL, app, v)
}

// ExportInstalled returns an installed app as the export of its account contains it: secrets are masked.
func ExportInstalled(baseURL string, i *apps.Installed) any { return newInstalledAppJSON(baseURL, i) }
