package httpapi

import (
	"crypto/rand"
	"io/fs"
	"log/slog"
	"net/http"
	"net/netip"
	"sort"
	"strings"
	"sync"
	"time"

	"wayside/internal/account"
	"wayside/internal/basemap"
	"wayside/internal/catalog"
	"wayside/internal/console"
	"wayside/internal/feed"
	"wayside/internal/nearby"
	"wayside/internal/provider/push"
	"wayside/internal/ratelimit"
	"wayside/internal/stream"
	"wayside/internal/vote"
)

// Deps is what the handlers need. Every field is required unless it says otherwise.
type Deps struct {
	BaseURL        string         // public address, without a trailing slash
	TrustedProxies []netip.Prefix // whose X-Forwarded-For counts; nil: nobody's
	CORSOrigins    []string       // origins that may read from a page (D12.9); nil: none
	Now            func() time.Time
	Log            *slog.Logger
	Observe        func(pattern string, status int, took time.Duration) // called after each request; nil: nobody looks
	Ready          func() error                                         // nil error: the index is loaded and the store answers
	Loaded         func() bool                                          // whether reads show everything already; nil: always

	Nearby   *nearby.Reader
	Sources  *catalog.Catalog
	Accounts *account.Service
	Passkeys *account.Passkeys // nil: none are offered
	Feeds    *feed.Service
	Pushes   *push.Service
	Streams  *stream.Hub
	Votes    *vote.Service

	Incidents *Incidents // the built-in source; nil: no upstream is configured

	Console        *console.Console // the pages for people
	Overlay        fs.FS            // the built page for cars (web.Overlay); nil: / leads to the page about the service
	Scripts        fs.FS            // those of the pages for people (web.Console); nil: none, and no maps
	Version        string           // release, as the page shows it
	BaseMap        *BaseMap         // below the pins; nil: none
	PrimaryNetwork string           // charger network that applies where none is named (D4.7)

	Archive *basemap.Archive // the operator's map, which the service serves itself; nil: none
	Demo    *Demo            // nil: this is no demo

	Limits  Limits
	Buckets ratelimit.Buckets
}

// Limits are the rates of D14, each a count in a minute.
type Limits struct {
	GuestReads   int
	AccountReads int
	Manage       int
	Votes        int
}

// Incidents is what readers are told of the built-in source of live incidents.
type Incidents struct {
	Attribution string // what its upstreams want to be displayed
	Stored      bool   // incidents.mode is database: reads may be cached (D8.9)
}

// api is the handlers' receiver.
type api struct {
	Deps
	secure bool // the public address is HTTPS: cookies are Secure
	cross  *http.CrossOriginProtection
	health healthText

	// What was built in web/, read when it is first asked for, and once.
	page    func() (*overlayFiles, error)
	scripts func() (*consoleFiles, error)
	boot    string // another one each time: streams are resumed in the process in which they began
}

// New makes the handler of the public address.
func New(deps Deps) http.Handler {
	a := &api{
		Deps:   deps,
		secure: strings.HasPrefix(deps.BaseURL, "https://"),
		cross:  http.NewCrossOriginProtection(),
		boot:   rand.Text(),
	}
	a.page = sync.OnceValues(func() (*overlayFiles, error) { return readOverlay(a.Overlay) })
	a.scripts = sync.OnceValues(func() (*consoleFiles, error) { return readConsole(a.Scripts, a.page) })
	byPath := make(map[string]methods)
	for _, r := range a.routes() {
		if byPath[r.path] == nil {
			byPath[r.path] = make(methods)
		}
		byPath[r.path][r.method] = a.serve(r)
		if r.class == reading && len(a.CORSOrigins) > 0 {
			byPath[r.path][http.MethodOptions] = a.preflight
		}
	}
	mux := http.NewServeMux()
	for path, m := range byPath {
		mux.Handle(path, a.dispatch(m))
	}
	mux.HandleFunc("/", a.unknownPath)
	return mux
}

// route is one line of the table.
type route struct {
	method string
	path   string // a pattern of http.ServeMux without a method; also the label in metrics and logs, since it holds no token
	class  class
	who    account.Who
	handle func(w http.ResponseWriter, r *http.Request, c *caller) error
}

// class says who may call a route, and what it costs them.
type class int

const (
	open     class = iota // anybody, no account looked up, no limit
	reading               // anybody; counts against the reader's limit (D4.12)
	voting                // a signed-in session, same origin; counts against the account's votes (D9.1)
	managing              // a signed-in session, same origin for writes; counts against the account's limit (D5.9)
	pushing               // the push token in the path is the only credential
	signing               // anybody, same origin for writes; limits of its own
	visiting              // a page for people, which says itself what it takes
)

// routes is the table of everything that the public address answers.
func (a *api) routes() []route {
	var all []route
	for _, group := range [][]route{
		a.readRoutes(), a.entityRoutes(), a.feedRoutes(), a.reviewRoutes(), a.pushRoutes(), a.authRoutes(), a.accountRoutes(), a.docsRoutes(), a.statusRoutes(), a.alertRoutes(),
		a.pairingRoutes(), a.passkeyRoutes(), a.preferenceRoutes(),
		a.streamRoutes(), a.overlayRoutes(), a.baseMapRoutes(), a.demoRoutes(), a.consoleFileRoutes(), a.consoleRoutes(),
	} {
		all = append(all, group...)
	}
	return all
}

// methods is what one path answers, by method.
type methods map[string]http.HandlerFunc

// dispatch picks the method's handler and refuses the others with the list of those that would do.
func (a *api) dispatch(m methods) http.Handler {
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
		writeProblem(w, r, &problem{
			Type: "method-not-allowed", Status: http.StatusMethodNotAllowed,
			Detail: "This address answers " + allow + ".",
		})
	})
}

func (a *api) unknownPath(w http.ResponseWriter, r *http.Request) {
	writeProblem(w, r, &problem{
		Type: "not-found", Status: http.StatusNotFound,
		Detail: "There is nothing at this address. GET /docs lists what there is.",
	})
}
