// Package regions is the part of the API about the region from which routes are served, and its administration.
package regions

import (
	"wayside/internal/http/httpapi"
	"wayside/internal/people/account"
	"wayside/internal/roads/region"
	"wayside/internal/roads/region/imports"
)

// Deps are the dependencies of the handlers.
type Deps struct {
	Regions  func() *region.Region // the region from which routes are served; nil: there is none
	Imports  *imports.Service      // of regions, by admins
	Passkeys *account.Passkeys     // nil: the service offers no passkeys
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
