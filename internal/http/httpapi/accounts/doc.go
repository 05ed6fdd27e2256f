// Package accounts is the part of the API about accounts: signing in by e-mail, passkey or a paired screen, what an account owns and
// chooses, its export, what admins see of it, and the audit log.
package accounts

import (
	"wayside/internal/feeds/feed"
	"wayside/internal/http/httpapi"
	"wayside/internal/people/account"
	"wayside/internal/people/apps"
	"wayside/internal/people/audit"
)

// Deps are the dependencies of the handlers.
type Deps struct {
	Accounts *account.Service
	Passkeys *account.Passkeys // nil: the service offers no passkeys
	Audit    *audit.Service
	Feeds    *feed.Service // for the export
	Apps     *apps.Service // for the export; nil: apps are off
	Shapes   Shapes
}

// api is the receiver of the handlers.
type api struct {
	*httpapi.API
	Deps
}

// New returns the leaf.
func New(deps Deps) httpapi.Leaf {
	return func(core *httpapi.API) []httpapi.Route { return (&api{core, deps}).routes() }
}
