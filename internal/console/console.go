package console

import (
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"path"
	"time"

	"wayside/internal/account"
	"wayside/internal/audit"
	"wayside/internal/catalog"
	"wayside/internal/console/words"
	"wayside/internal/feed"
	"wayside/internal/geo"
	"wayside/internal/mapdata"
	"wayside/internal/provider/pull"
	"wayside/internal/secret"
)

// Config is what the pages need. Every field is required unless it says otherwise.
type Config struct {
	BaseURL  string // public address, without a trailing slash
	Now      func() time.Time
	Log      *slog.Logger
	Accounts *account.Service
	Passkeys *account.Passkeys // nil: none are offered
	// ReviewPasskey says whether a curator's decision takes a passkey that was used lately (D11.1).
	ReviewPasskey bool
	Feeds         *feed.Service
	Check         *pull.Checker // tries a feed before it is registered
	Secrets       *secret.Box   // seals what a browser keeps for minutes

	Audit     *audit.Service
	Sources   *catalog.Catalog
	Entities  func(mapdata.FeedID) int // how many a source holds, from memory
	State     func() State             // of this node
	Incidents *Incidents               // the built-in source; nil: no upstream is configured

	// Home is where the example of a first row lies, so that its pin is on the map that people here know; zero: in Amsterdam.
	Home geo.Point

	MapOrigins []string // of others, from which the map below the pins is loaded; nil: it is ours
}

// Console is the pages. It may be used from many goroutines; a nil one lists its routes and does nothing else.
type Console struct {
	Config
	words *words.Catalogue
	pages map[mapdata.Language]map[string]*template.Template
	style string         // the style sheet's tag
	known *http.ServeMux // the pages that may be led to, by their routes
}

// New reads words and templates, which are part of the program.
func New(cfg Config) (*Console, error) {
	catalogue, err := words.Load()
	if err != nil {
		return nil, fmt.Errorf("console: %w", err)
	}
	c := &Console{Config: cfg, words: catalogue, known: http.NewServeMux()}
	if c.style, err = styleTag(); err != nil {
		return nil, err
	}
	for _, r := range c.table() {
		if r.Method == http.MethodGet {
			c.known.Handle(r.Path, http.NotFoundHandler())
		}
	}
	if c.pages, err = parsePages(c); err != nil {
		return nil, err
	}
	return c, nil
}

// Route is one line of the table of pages.
type Route struct {
	Method string
	Path   string // a pattern of http.ServeMux without a method
	Who    account.Who
	Counts Counted // what it counts against, beside the account's limit on management
	Handle func(w http.ResponseWriter, r *http.Request, v *Visitor) error

	// signIn is where a guest is led who must sign in first; nil: to /sign-in, and back if the page was opened.
	signIn func(r *http.Request) string
}

// Counted is a limit of the visitor's address.
type Counted int

// What a request counts against.
const (
	CountsNothing Counted = iota
	CountsSignIn          // letters
	CountsVerify          // links and codes that are tried
	CountsCheck           // feeds that are tried before they are registered
)

// Visitor is who looks at a page.
type Visitor struct {
	Door
	Account *mapdata.Account // nil: a guest
	Session *mapdata.Session // nil: a guest
	Client  netip.Addr
	Words   *words.Words // of the visitor's language
}

// ID is the account's id; zero for a guest.
func (v *Visitor) ID() mapdata.AccountID {
	if v.Account == nil {
		return mapdata.AccountID{}
	}
	return v.Account.ID
}

// Door is what the HTTP side does for the pages, for one visitor.
type Door interface {
	// Write writes a whole answer, compressed where it pays.
	Write(w http.ResponseWriter, r *http.Request, status int, contentType string, body []byte)
	// Script is where a built script of ours is, such as "map.js"; empty: this service has none.
	Script(name string) (string, error)
	// Keep gives the browser its session's cookie; an empty secret takes it away (D11.2).
	Keep(w http.ResponseWriter, secret string)
	// TryCode does something with a screen's code, unless too many were wrong.
	TryCode(code account.UserCode, do func(account.UserCode) (*mapdata.Pairing, error)) (*mapdata.Pairing, error)
}

// Routes is the table of pages, each held to its Who.
func (c *Console) Routes() []Route {
	all := c.table()
	for i := range all {
		all[i].Handle = c.hold(all[i])
	}
	return all
}

func (c *Console) table() []Route {
	var all []Route
	for _, group := range [][]Route{
		c.accountRoutes(), c.passkeyRoutes(),
		c.aboutRoutes(), c.signInRoutes(), c.pairRoutes(), c.languageRoutes(),
		c.feedRoutes(), c.checkRoutes(), c.reviewRoutes(), c.auditRoutes(), c.publicRoutes(),
	} {
		all = append(all, group...)
	}
	return all
}

// hold keeps those out who may not, and leads guests to where they sign in.
func (c *Console) hold(rt Route) func(http.ResponseWriter, *http.Request, *Visitor) error {
	return func(w http.ResponseWriter, r *http.Request, v *Visitor) error {
		v.Words = c.words.In(c.language(r, v))
		err := rt.Who.Admit(v.Account)
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
		return err // what a form sent would be lost on the way
	}
}

// local says whether an address is that of a page of ours, and how to lead there: nothing in an address or a form leads a
// browser anywhere else (decision 72).
func (c *Console) local(address string) (string, bool) {
	const longest = 2048 // bytes; ours are far shorter
	if len(address) > longest || address == "" || address[0] != '/' {
		return "", false
	}
	u, err := url.Parse(address)
	if err != nil || u.Host != "" || u.Scheme != "" || u.User != nil || u.Path != path.Clean(u.Path) {
		return "", false
	}
	_, pattern := c.known.Handler(&http.Request{Method: http.MethodGet, URL: &url.URL{Path: u.Path}})
	if pattern == "" {
		return "", false
	}
	return (&url.URL{Path: u.Path, RawQuery: u.RawQuery}).RequestURI(), true
}

// offers says whether there is a page at a path.
func (c *Console) offers(path string) bool {
	_, ok := c.local(path)
	return ok
}
