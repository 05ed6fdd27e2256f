package public

import (
	"context"
	"io/fs"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"wayside/internal/drive/nav"
	"wayside/internal/drive/nav/session"
	"wayside/internal/drive/speech"
	"wayside/internal/entities/catalog"
	"wayside/internal/entities/nearby"
	"wayside/internal/entities/stream"
	"wayside/internal/entities/votes"
	"wayside/internal/feeds/feed"
	"wayside/internal/feeds/provider/drivers"
	"wayside/internal/feeds/provider/push"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/ratelimit"
	"wayside/internal/http/console"
	"wayside/internal/http/httpapi"
	"wayside/internal/http/httpapi/navigation"
	"wayside/internal/people/account"
	"wayside/internal/people/apps"
	"wayside/internal/people/audit"
	"wayside/internal/people/takedown"
	"wayside/internal/roads/basemap"
	"wayside/internal/roads/basemap/world"
	"wayside/internal/roads/region"
	"wayside/internal/roads/region/imports"
)

// Deps are the dependencies of the whole API. Every field is required unless its comment says otherwise.
type Deps struct {
	BaseURL        string         // public address, without a trailing slash
	TrustedProxies []netip.Prefix // proxies whose X-Forwarded-For is used; nil: none
	Home           geo.Point      // place of the examples at /docs; zero: that of openapi.json
	Hosts          []string       // names besides that of BaseURL by which the service may be called, "*" for all; nil: the name is not checked
	CORSOrigins    []string       // origins whose pages may read (D12.9); nil: none
	Now            func() time.Time
	Log            *slog.Logger
	Observe        func(pattern string, status int, took time.Duration) // called after each request, for metrics; nil: not called
	Ready          func() error                                         // nil error: the index is loaded and the store answers
	Loaded         func() bool                                          // whether the index is loaded, so that reads are complete; nil: always

	Nearby   *nearby.Reader
	Sources  *catalog.Catalog
	Accounts *account.Service
	Passkeys *account.Passkeys // nil: the service offers no passkeys
	Feeds    *feed.Service
	Entities func(mapdata.FeedID) int // number of a feed's entities, from memory, because a list of feeds must not query the store for each
	Pushes   *push.Service
	Streams  *stream.Hub
	Votes    *votes.Service
	Reports  *drivers.Service // nil: there are no drivers' reports
	Audit    *audit.Service
	Apps     *apps.Service // nil: apps are off, and no answer mentions them

	Regions func() *region.Region // the region from which routes are served; nil: there is none
	Imports *imports.Service      // of regions, by admins
	// Engine answers requests to OSRM's services; nil: navigation is off, and every request to it is answered with 503.
	Engine navigation.Engine
	// Navigation finds the routes of sessions, and Drives holds the sessions of drivers on the way; nil under the same condition as
	// Engine, and if routes come from a remote engine.
	Navigation *nav.Service
	Drives     *session.Hub
	Nodes      navigation.Nodes // the other nodes, which have sessions too; nil: there are none
	// NodeRequests sets the handler for the requests of other nodes. nil: there are none.
	NodeRequests func(http.Handler)
	Conditions   navigation.ExplainConditions // nil: navigation is off
	Geocoder     navigation.Geocoder          // nil: navigation is off
	Speech       *speech.Speaker              // of announcements; nil: they have no clips
	// Takedowns hides single pins for curators, and stores drivers' complaints.
	Takedowns *takedown.Service

	Revisions httpapi.Revisions // published at this node
	// AwaitRoads waits until routes see the changes that readers of this node see, for a short time at most; nil: there are no
	// routes.
	AwaitRoads func(context.Context)

	Incidents *httpapi.Incidents // the built-in source; nil: no upstream is configured

	Console        *console.Console // the pages for people
	Overlay        fs.FS            // the built page for cars (web.Overlay); nil: / redirects to the page about the service
	Scripts        fs.FS            // the console's built scripts (web.Console); nil: none, and no maps
	Version        string           // the release, as the page for cars shows it
	PrimaryNetwork string           // charger network that applies if a read names none (D4.7)

	// BaseMap returns the current map below the pins, which for a region's map changes with the region; it returns nil while there
	// is none. A nil BaseMap means that there never is one.
	BaseMap func() *httpapi.BaseMap
	World   *basemap.Archive // the built-in overview of the world; nil: none
	Places  *world.World     // large places, to describe where something is; nil: none
	Demo    *httpapi.Demo    // nil: this is not the demo

	// StreamWriteTimeout is how long one chunk of a stream may take to be sent; 0: 5 s.
	StreamWriteTimeout time.Duration

	Limits  httpapi.Limits
	Buckets ratelimit.Buckets
	Memory  httpapi.Memory
	// Work admits large reads, shared fairly among callers. nil: they do not wait.
	Work *ratelimit.Gate
	// Searches admits searches, shared fairly among callers. nil: they do not wait.
	Searches *ratelimit.Gate

	Deprecated []httpapi.Deprecation // deprecations, as Deprecated returns them; nil: none

	// Newest is shared by the handlers that one process makes one after the other: open streams continue with the newest one's
	// settings, and are resumed there. nil: there is only one handler.
	Newest *httpapi.Newest
}
