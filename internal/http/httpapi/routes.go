package httpapi

import (
	"net/http"
	"slices"

	"wayside/internal/http/pages"
	"wayside/internal/people/account"
)

// Route is one line of the table.
type Route struct {
	Method  string
	Path    string // a pattern of http.ServeMux without a method; also the label in metrics and logs, since it holds no token
	Class   Class
	Who     account.Who
	Handle  Handler
	Pattern string // of http.ServeMux, if it is not path; such a line is not part of the described API
	Off     bool   // the service does not offer it
}

// NewRoute returns a line of the table.
func NewRoute(method, path string, class Class, who account.Who, handle Handler) Route {
	return Route{Method: method, Path: path, Class: class, Who: who, Handle: handle}
}

// NewNodeRoute returns a line for the requests of other nodes.
func NewNodeRoute(method, path string, handle Handler) Route {
	r := NewRoute(method, "(another node) "+path, ClassNode, account.ForGuests, handle)
	r.Pattern = path
	return r
}

// OnlyIf returns lines that the service offers only under a condition.
func OnlyIf(offered bool, routes ...Route) []Route {
	for i := range routes {
		routes[i].Off = !offered
	}
	return routes
}

// Handler answers a request that its route's class has admitted. An error that it returns becomes a problem document.
type Handler func(w http.ResponseWriter, r *http.Request, c *Caller) error

// Class is how a caller is identified, and the limit against which the request counts.
type Class int

// Classes of callers.
const (
	ClassOpen     Class = iota // everybody; no account is looked up and nothing is counted
	ClassRead                  // everybody; counts against the limit on reads (D4.12)
	ClassPageRead              // as ClassRead, but only for this service's own page: pages of other origins may not read it
	ClassVote                  // a session and the same origin; counts against the account's limit on votes (D9.1)
	ClassReport                // a session and the same origin; counts against the account's limit on reports (D17.37)
	ClassAccount               // a session, and the same origin for writes; counts against the account's limit on management (D5.9)
	ClassPush                  // the push token in the path is the only credential
	ClassSignIn                // everybody, same origin for writes; the handlers count against separate limits
	ClassRoute                 // everybody; the handlers count against the limit on routes (D15.23), POST from any origin included: it changes nothing
	ClassDrive                 // the session in the path is the only credential, and bounds its requests (D15.21)
	ClassNode                  // another node, on a connection that only nodes open: it asks on behalf of its client
	ClassPage                  // a page for people; the console's own table says what each one requires
)

// Leaf gives the routes of a part of the API. Its handlers use what all share.
type Leaf func(*API) []Route

// routes returns the table of everything that the public address answers, and of what other nodes ask.
func (a *API) routes() []Route {
	all := slices.Concat(a.entityRoutes(), a.fileRoutes(), a.consoleRoutes())
	for _, leaf := range a.leaves {
		all = append(all, leaf(a)...)
	}
	return all
}

// Table returns the routes of the described API and of the pages, also those that a service does not offer, for tests and documents.
func Table(leaves ...Leaf) []Route {
	a := &API{leaves: leaves}
	return slices.DeleteFunc(a.routes(), func(r Route) bool { return r.Pattern != "" })
}

// fileRoutes returns documents, the files of pages, the base map, and probes.
func (a *API) fileRoutes() []Route {
	return []Route{
		NewRoute(http.MethodGet, "/{$}", ClassOpen, account.ForGuests, a.getOverlay),
		NewRoute(http.MethodGet, "/overlay/{version}/{file}", ClassOpen, account.ForGuests, static(a.overlay.ServeFile)),
		NewRoute(http.MethodGet, "/v2/overlay/config", ClassOpen, account.ForGuests, a.getOverlayConfig),
		NewRoute(http.MethodGet, "/console/{version}/{file}", ClassPage, account.ForGuests, static(a.scripts.ServeFile)),

		NewRoute(http.MethodGet, "/sw.js", ClassPage, account.ForGuests, static(a.overlay.ServeWorker)),
		NewRoute(http.MethodGet, "/manifest.webmanifest", ClassPage, account.ForGuests, static(pages.ServeApp("manifest.webmanifest"))),
		NewRoute(http.MethodGet, "/favicon.ico", ClassPage, account.ForGuests, static(pages.ServeApp("favicon.ico"))),
		NewRoute(http.MethodGet, "/robots.txt", ClassPage, account.ForGuests, static(pages.ServeApp("robots.txt"))),
		NewRoute(http.MethodGet, "/app/{file}", ClassPage, account.ForGuests, static(pages.ServeAppFile)),
		NewRoute(http.MethodGet, "/openapi.json", ClassPage, account.ForGuests, a.redirectOpenAPI),

		NewRoute(http.MethodGet, "/docs", ClassOpen, account.ForGuests, a.getDocs),
		NewRoute(http.MethodGet, "/v2/openapi.json", ClassOpen, account.ForGuests, a.getOpenAPI),

		NewRoute(http.MethodGet, "/map/tiles/{z}/{x}/{y}", ClassOpen, account.ForGuests, static(a.tiles.ServeTile)),
		NewRoute(http.MethodGet, "/map/world/{z}/{x}/{y}", ClassOpen, account.ForGuests, static(a.tiles.ServeWorldTile)),
		NewRoute(http.MethodGet, "/map/archive.pmtiles", ClassOpen, account.ForGuests, a.getArchive),
		NewRoute(http.MethodGet, "/map/style.json", ClassOpen, account.ForGuests, a.getMapStyle),
		NewRoute(http.MethodGet, "/map/tilejson", ClassOpen, account.ForGuests, static(a.tiles.ServeTileJSON)),
		NewRoute(http.MethodGet, "/map/icons/{file}", ClassOpen, account.ForGuests, static(a.tiles.ServeIcon)),

		NewRoute(http.MethodGet, "/demo/drive.json", ClassOpen, account.ForGuests, a.getDrive),

		NewRoute(http.MethodGet, "/healthz", ClassOpen, account.ForGuests, a.getHealthz),
		NewRoute(http.MethodGet, "/readyz", ClassOpen, account.ForGuests, a.getReadyz),
	}
}

// static converts a function that answers every caller alike to a handler.
func static(serve func(w http.ResponseWriter, r *http.Request) error) Handler {
	return func(w http.ResponseWriter, r *http.Request, _ *Caller) error { return serve(w, r) }
}

// DrivesPath is the address of sessions.
const DrivesPath = NavigationPath + "sessions"

// NavigationPath is the prefix of the service in the paths of OSRM's API.
const NavigationPath = "/v2/navigation/"
