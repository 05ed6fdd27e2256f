package httpapi

import (
	"cmp"
	"context"
	"crypto/rand"
	"io/fs"
	"log/slog"
	"net/http"
	"net/netip"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"wayside/internal/drive/nav"
	"wayside/internal/entities/catalog"
	"wayside/internal/entities/nearby"
	"wayside/internal/entities/stream"
	"wayside/internal/entities/votes"
	"wayside/internal/feeds/provider/drivers"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/ratelimit"
	"wayside/internal/ground/response"
	"wayside/internal/http/apidocs"
	"wayside/internal/http/console"
	"wayside/internal/http/pages"
	"wayside/internal/people/account"
	"wayside/internal/people/apps"
	"wayside/internal/roads/basemap"
	"wayside/internal/roads/basemap/tileserver"
	"wayside/internal/roads/basemap/world"
)

// Deps are the dependencies of the handlers. Every field is required unless its comment says otherwise.
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
	Streams  *stream.Hub
	Votes    *votes.Service
	Reports  *drivers.Service // nil: there are no drivers' reports
	Apps     *apps.Service    // nil: apps are off, and no answer mentions them

	// Navigation knows the roads; nil: navigation is off, or routes come from a remote engine.
	Navigation *nav.Service
	Ways       SessionWays // ahead of drivers
	// NodeRequests sets the handler for the requests of other nodes. nil: there are none.
	NodeRequests func(http.Handler)

	Revisions Revisions // published at this node
	// AwaitRoads waits until routes see the changes that readers of this node see, for a short time at most; nil: there are no
	// routes.
	AwaitRoads func(context.Context)

	Incidents *Incidents // the built-in source; nil: no upstream is configured

	Console        *console.Console // the pages for people
	Overlay        fs.FS            // the built page for cars (web.Overlay); nil: / redirects to the page about the service
	Scripts        fs.FS            // the console's built scripts (web.Console); nil: none, and no maps
	Version        string           // the release, as the page for cars shows it
	PrimaryNetwork string           // charger network that applies if a read names none (D4.7)

	// BaseMap returns the current map below the pins, which for a region's map changes with the region; it returns nil while there
	// is none. A nil BaseMap means that there never is one.
	BaseMap func() *BaseMap
	World   *basemap.Archive // the built-in overview of the world; nil: none
	Places  *world.World     // large places, to describe where something is; nil: none
	Demo    *Demo            // nil: this is not the demo

	// StreamWriteTimeout is how long one chunk of a stream may take to be sent; 0: 5 s.
	StreamWriteTimeout time.Duration

	Limits  Limits
	Buckets ratelimit.Buckets
	Memory  Memory
	// Work admits large reads, shared fairly among callers. nil: they do not wait.
	Work *ratelimit.Gate

	Deprecated []Deprecation // deprecations, as Deprecated returns them; nil: none

	// Newest is shared by the handlers that one process makes one after the other: open streams continue with the newest one's
	// settings, and are resumed there. nil: there is only one handler.
	Newest *Newest
}

// Newest points to the newest handler of a process.
type Newest struct{ api atomic.Pointer[API] }

// Limits are the rates of D14 per minute.
type Limits struct {
	GuestReads    int
	AccountReads  int
	GuestRoutes   int
	AccountRoutes int
	Manage        int
	Votes         int
	Reports       int
}

// Incidents describes the built-in source of live incidents.
type Incidents struct {
	Attribution string // text that the upstreams require to be displayed
	Stored      bool   // incidents.mode is database: reads may be cached (D8.9)
}

// API is what all handlers share: those of leaves embed it.
type API struct {
	Deps
	leaves      []Leaf
	https       bool   // the public address is HTTPS: cookies are Secure
	host        string // of the public address, with its port if there is one
	crossOrigin *http.CrossOriginProtection
	health      healthCache
	hopWarning  sync.Once

	openapi   func() (*response.File, error) // openapi.json with marks of what is deprecated, made on the first request
	docs      func() (*response.File, error) // the API's page, rendered on the first request
	slowed    atomic.Int64                   // refusals that wait
	overlay   *pages.Overlay
	scripts   *pages.Scripts
	tiles     tileserver.Server
	processID string // random: a stream can be resumed only in the process in which it began
}

// New returns the handler of the public address, of this package's routes and those of the leaves.
func New(deps Deps, leaves ...Leaf) http.Handler {
	a := &API{
		leaves:      leaves,
		Deps:        deps,
		https:       strings.HasPrefix(deps.BaseURL, "https://"),
		crossOrigin: http.NewCrossOriginProtection(),
		processID:   rand.Text(),
	}
	a.host = a.publicHost()
	a.StreamWriteTimeout = cmp.Or(a.StreamWriteTimeout, defaultStreamWriteTimeout)
	describe := sync.OnceValues(func() ([]byte, error) {
		text, err := DescribeAPI(a.Apps != nil)
		if err != nil {
			return nil, err
		}
		return markDeprecated(text, a.Deprecated)
	})
	a.openapi = onceFile("application/json", describe)
	a.docs = onceFile("text/html; charset=utf-8", func() ([]byte, error) {
		text, err := describe()
		if err != nil {
			return nil, err
		}
		return apidocs.Render(text, a.BaseURL, a.placeExamples())
	})
	a.tiles = tileserver.Server{Current: a.currentMap, World: a.World, Origin: a.mapOrigin, Icons: tileserver.NewIcons()}
	var mapOrigins []string
	if a.BaseMap == nil {
		a.BaseMap = func() *BaseMap { return nil }
	}
	if m := a.BaseMap(); m != nil {
		mapOrigins = m.Origins // of the configuration: a region's map has none
	}
	a.overlay = pages.NewOverlay(a.Overlay, a.BaseURL, mapOrigins)
	a.scripts = pages.NewScripts(a.Scripts, a.overlay)
	mux, nodes := http.NewServeMux(), http.NewServeMux()
	byPath := make(map[string]methods)
	for _, r := range a.routes() {
		path := cmp.Or(r.Pattern, r.Path)
		switch {
		case r.Off:
			continue
		case r.Class == ClassNode:
			nodes.HandleFunc(r.Method+" "+path, a.wrap(r))
			continue
		case byPath[path] == nil:
			byPath[path] = make(methods)
		}
		byPath[path][r.Method] = a.wrap(r)
		if (r.Class == ClassRead || r.Class == ClassRoute || r.Class == ClassDrive) && len(a.CORSOrigins) > 0 {
			byPath[path][http.MethodOptions] = a.preflight
		}
	}
	for path, m := range byPath {
		mux.Handle(path, a.dispatch(m))
	}
	if a.NodeRequests != nil {
		a.NodeRequests(nodes)
	}
	mux.HandleFunc("/", a.unknownPath)
	if a.Newest != nil {
		if before := a.Newest.api.Load(); before != nil {
			a.processID = before.processID
		}
		a.Newest.api.Store(a)
	}
	return a.guardHost(mux)
}

// newest returns the API with the settings in force.
func (a *API) newest() *API {
	if a.Newest == nil {
		return a
	}
	return a.Newest.api.Load()
}

// methods are the handlers of one path, by method.
type methods map[string]http.HandlerFunc

// dispatch calls the handler of the request's method, or answers 405 with the allowed ones.
func (a *API) dispatch(m methods) http.Handler {
	allowed := make([]string, 0, len(m)+1)
	for method := range m {
		allowed = append(allowed, method)
		if method == http.MethodGet {
			allowed = append(allowed, http.MethodHead)
		}
	}
	sort.Strings(allowed)
	allow := strings.Join(allowed, ", ")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		method := r.Method
		if method == http.MethodHead {
			method = http.MethodGet
		}
		if handler, ok := m[method]; ok {
			handler(w, r)
			return
		}
		w.Header().Set("Allow", allow)
		writeProblem(w, r, &Problem{
			Type: "method-not-allowed", Status: http.StatusMethodNotAllowed,
			Detail: "This address answers " + allow + ".",
		})
	})
}

// unknownPath answers requests for unknown paths: a browser gets a page for people, as often as it may read pages, and a program a
// problem document.
func (a *API) unknownPath(w http.ResponseWriter, r *http.Request) {
	w.Header().Add("Vary", "Accept")
	if asksForPage(r) && a.refuseOnPage(w, r) {
		return
	}
	writeProblem(w, r, &Problem{
		Type: "not-found", Status: http.StatusNotFound,
		Detail: "There is nothing at this address. GET /docs lists what there is.",
	})
}
