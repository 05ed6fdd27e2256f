package console

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"path"
	"time"

	"wayside/internal/entities/catalog"
	"wayside/internal/feeds/feed"
	"wayside/internal/feeds/ingest"
	"wayside/internal/feeds/openfeeds"
	"wayside/internal/feeds/provider/trial"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/secret"
	"wayside/internal/http/console/words"
	"wayside/internal/people/account"
	"wayside/internal/people/apps"
	"wayside/internal/people/audit"
	"wayside/internal/people/takedown"
)

// Config is what the pages need. Every field is required unless its comment says otherwise.
type Config struct {
	BaseURL  string // public address, without a trailing slash
	Now      func() time.Time
	Log      *slog.Logger
	Accounts *account.Service
	Passkeys *account.Passkeys // nil: the service offers no passkeys
	Feeds    *feed.Service
	// OpenFeeds lists the feeds that authorities and operators publish openly, to choose from for a new feed.
	OpenFeeds []openfeeds.Feed
	Check     *trial.Checker // tries a feed before it is registered
	Secrets   *secret.Box    // seals the cookie with a new token

	Audit     *audit.Service
	Takedowns *takedown.Service
	Sources   *catalog.Catalog
	Entities  func(mapdata.FeedID) int // number of a source's entities, from memory
	State     func() State             // of this node
	Incidents *Incidents               // the built-in source; nil: no upstream is configured
	Regions   Regions
	Apps      *apps.Service // nil: apps are off, and the pages do not mention them

	Privacy Privacy // the operator's part of the privacy notice

	// RoadEffects returns what the entities of a feed do to roads, as far as the account may read them; nil without a region. A nil
	// RoadEffects means that the service finds no routes.
	RoadEffects func(context.Context, mapdata.AccountID, mapdata.FeedID) (*RoadEffects, error)

	// Push stores rows in a feed.
	Push func(context.Context, mapdata.FeedID, *ingest.Batch) (ingest.Report, error)

	// Home is the position of the example row, so that its pin is on the map of this service; zero: Amsterdam.
	Home geo.Point

	MapOrigins []string // other origins from which the base map is loaded; nil: it is served here
}

// Console is the pages for people. It may be used from many goroutines. A nil Console can only list its routes.
type Console struct {
	Config
	words        *words.Catalogue
	pages        *pageSet
	styleVersion string         // changes with the style sheet
	knownPages   *http.ServeMux // the pages that a redirect may lead to, by their routes
	guestSources sourcesTexts
}

// New parses messages, which are embedded as the templates are.
func New(cfg Config) (*Console, error) {
	catalogue, err := words.Load()
	if err != nil {
		return nil, fmt.Errorf("console: %w", err)
	}
	c := &Console{Config: cfg, words: catalogue, knownPages: http.NewServeMux()}
	if c.styleVersion, err = styleVersion(); err != nil {
		return nil, err
	}
	for _, r := range c.table() {
		if r.Method == http.MethodGet {
			c.knownPages.Handle(r.Path, http.NotFoundHandler())
		}
	}
	c.pages = newPageSet(c)
	return c, nil
}

// Route is one line of the table of pages.
type Route struct {
	Method string
	Path   string // a pattern of http.ServeMux without a method
	Who    account.Who
	Counts Counter // what it counts against, besides the account's limit on management
	Handle func(w http.ResponseWriter, r *http.Request, v *Visitor) error

	// signIn is where a guest is redirected to sign in; nil: to /sign-in, and back afterwards if the request was a GET.
	signIn func(r *http.Request) string
}

// Counter is a limit of the visitor's address.
type Counter int

// What a request counts against:
const (
	CountsPage    Counter = iota // pages that guests may read; nothing where the visitor must be signed in
	CountsSignIn                 // sign-in e-mails
	CountsVerify                 // attempts with links and codes
	CountsCheck                  // feeds that are tried before they are registered
	CountsLive                   // requests of a page's script for changes; instead of the limit on management
	CountsNothing                // a file that costs nothing to answer
)

// Visitor is the caller of a page.
type Visitor struct {
	Host
	Account *mapdata.Account // nil: a guest
	Session *mapdata.Session // nil: a guest
	Client  netip.Addr
	Words   *words.Words // of the visitor's language
}

// ID returns the account's id; zero for a guest.
func (v *Visitor) ID() mapdata.AccountID {
	if v.Account == nil {
		return mapdata.AccountID{}
	}
	return v.Account.ID
}

// Host lists the functions of the HTTP layer that the pages use, for one visitor.
type Host interface {
	// Write writes a whole response, compressed if that is worthwhile.
	Write(w http.ResponseWriter, r *http.Request, status int, contentType string, body []byte)
	// ScriptPath returns the path of a built script, such as "map.js"; empty: it was not built.
	ScriptPath(name string) (string, error)
	// SetSession sets the browser's session cookie; an empty secret deletes it (D11.2).
	SetSession(w http.ResponseWriter, secret string)
	// Browser describes the visitor's browser for a sign-in.
	Browser(r *http.Request) account.Browser
	// SetSignIn sets the cookie with which the browser's codes work (D11.10).
	SetSignIn(w http.ResponseWriter, secret string)
	// TryPairingCode calls do with a screen's code, unless too many codes were wrong.
	TryPairingCode(code account.UserCode, do func(account.UserCode) (*mapdata.Pairing, error)) (*mapdata.Pairing, error)
}

// Person returns the account if the visitor may use its pages; nil: a guest, or a paired screen.
func (v *Visitor) Person() *mapdata.Account {
	if account.ForAccounts.Admit(v.Account, v.Session) != nil {
		return nil
	}
	return v.Account
}

// Routes returns the table of pages. Each handler checks the role of its route.
func (c *Console) Routes() []Route {
	all := c.table()
	for i := range all {
		all[i].Handle = c.admit(all[i])
	}
	return all
}

func (c *Console) table() []Route {
	var all []Route
	for _, group := range [][]Route{
		c.accountRoutes(), c.passkeyRoutes(),
		c.aboutRoutes(), c.typesRoutes(), c.privacyRoutes(), c.signInRoutes(), c.pairRoutes(), c.languageRoutes(),
		c.feedRoutes(), c.maintainerRoutes(), c.checkRoutes(), c.reviewRoutes(), c.takedownRoutes(), c.auditRoutes(), c.publicRoutes(), c.regionRoutes(), c.appRoutes(), c.benchRoutes(),
	} {
		all = append(all, group...)
	}
	return all
}

// admit wraps a route's handler in a check of its role, which redirects guests to the page where they sign in.
func (c *Console) admit(rt Route) func(http.ResponseWriter, *http.Request, *Visitor) error {
	return func(w http.ResponseWriter, r *http.Request, v *Visitor) error {
		v.Words = c.words.In(c.language(r, v))
		err := rt.Who.Admit(v.Account, v.Session)
		if !errors.Is(err, mapdata.ErrUnauthenticated) {
			if err != nil {
				return err
			}
			return rt.Handle(w, r, v)
		}
		switch {
		case rt.signIn != nil:
			return seeOther(w, rt.signIn(r))
		case r.Method == http.MethodGet || r.Method == http.MethodHead:
			return seeOther(w, signInPath+"?next="+url.QueryEscape(r.URL.RequestURI()))
		}
		return err // a redirect would lose the form's values
	}
}

// localPath checks that a path is one of our pages and returns it in the form for a redirect, so that nothing in a URL
// or a form redirects a browser to another site (decision 72).
func (c *Console) localPath(address string) (string, bool) {
	const maxBytes = 2048 // more than the length of any page's URL
	if len(address) > maxBytes || address == "" || address[0] != '/' {
		return "", false
	}
	u, err := url.Parse(address)
	if err != nil || u.Host != "" || u.Scheme != "" || u.User != nil || u.Path != path.Clean(u.Path) {
		return "", false
	}
	_, pattern := c.knownPages.Handler(&http.Request{Method: http.MethodGet, URL: &url.URL{Path: u.Path}})
	if pattern == "" {
		return "", false
	}
	return (&url.URL{Path: u.Path, RawQuery: u.RawQuery}).RequestURI(), true
}

// hasPage reports whether there is a page at a path.
func (c *Console) hasPage(path string) bool {
	_, ok := c.localPath(path)
	return ok
}
