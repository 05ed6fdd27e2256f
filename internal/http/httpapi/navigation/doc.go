// Package navigation is the part of the API about ways: OSRM's and Valhalla's requests for routes, sessions of drivers on the way, also
// those that other nodes lead, place search, the conditions of roads, and announcements as sound.
package navigation

import (
	"wayside/internal/drive/nav"
	"wayside/internal/drive/nav/session"
	"wayside/internal/drive/speech"
	"wayside/internal/entities/nearby"
	"wayside/internal/entities/votes"
	"wayside/internal/ground/ratelimit"
	"wayside/internal/http/httpapi"
)

// Deps are the dependencies of the handlers.
type Deps struct {
	Engine     Engine            // nil: navigation is off, and every request to it is answered with 503
	Navigation *nav.Service      // finds the routes of sessions; nil under the same condition, and if routes come from a remote engine
	Drives     *session.Hub      // the sessions of drivers on the way; nil under the same condition
	Ways       *Ways             // over the same sessions and nodes
	Nodes      Nodes             // the other nodes, which have sessions too; nil: there are none
	Conditions ExplainConditions // nil: navigation is off
	Geocoder   Geocoder          // nil: navigation is off
	Speech     *speech.Speaker   // of announcements; nil: they have no clips
	Nearby     *nearby.Reader
	Votes      *votes.Service
	Searches   *ratelimit.Gate // admits searches, shared fairly among callers; nil: they do not wait
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
