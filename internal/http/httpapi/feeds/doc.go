// Package feeds is the part of the API about feeds: their registration, the rows that are pushed to them, their entities, their
// maintainers, and their review, with which curators also hide single pins and answer complaints.
package feeds

import (
	"wayside/internal/entities/nearby"
	"wayside/internal/feeds/feed"
	"wayside/internal/feeds/provider/push"
	"wayside/internal/ground/mapdata"
	"wayside/internal/http/httpapi"
	"wayside/internal/people/account"
	"wayside/internal/people/takedown"
)

// Deps are the dependencies of the handlers.
type Deps struct {
	Feeds     *feed.Service
	Pushes    *push.Service
	Takedowns *takedown.Service
	Nearby    *nearby.Reader           // what readers see of a feed
	Entities  func(mapdata.FeedID) int // number of a feed's entities, from memory
	Passkeys  *account.Passkeys        // nil: the service offers no passkeys
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
