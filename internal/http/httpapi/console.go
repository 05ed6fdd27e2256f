package httpapi

import (
	"net/http"
	"strings"
	"time"

	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/ratelimit"
	"wayside/internal/ground/response"
	"wayside/internal/http/console"
	"wayside/internal/people/account"
)

// maxChecksPerMinute bounds the feeds that an account may try, because each try fetches the feed's URL.
const maxChecksPerMinute = 6

// consoleRoutes returns the routes of the pages for people.
func (a *API) consoleRoutes() []Route {
	pages := a.Console.Routes()
	all := make([]Route, len(pages))
	for i, p := range pages {
		all[i] = NewRoute(p.Method, p.Path, ClassPage, p.Who, a.pageHandler(p))
	}
	return all
}

// pageHandler returns a handler that admits the visitor, calls the page's handler, and shows errors on a page too.
func (a *API) pageHandler(p console.Route) Handler {
	return func(w http.ResponseWriter, r *http.Request, c *Caller) error {
		body := bodyOf(r)
		err := a.admitVisitor(r, c, p)
		v := &console.Visitor{Host: consoleHost{a, c}, Account: c.Account, Session: c.Session, Client: c.Client}
		if err == nil {
			err = body.refusal(p.Handle(w, r, v))
		}
		if err == nil || r.Context().Err() != nil {
			return err
		}
		refused := problemOf(err)
		refused.setRetryAfter(w.Header())
		if writeErr := a.Console.Refuse(w, r, v, refused.Status, err); writeErr != nil {
			return writeErr
		}
		return err // wrap logs it if it is a failure of the service
	}
}

// asksForPage reports whether a request is a browser's request for a page: programs name JSON or accept anything.
func asksForPage(r *http.Request) bool {
	read := r.Method == http.MethodGet || r.Method == http.MethodHead
	return read && strings.Contains(r.Header.Get("Accept"), "text/html")
}

// refuseOnPage shows the page about a missing address. It returns false if it wrote nothing, because the visitor has read too many
// pages or the page could not be rendered.
func (a *API) refuseOnPage(w http.ResponseWriter, r *http.Request) bool {
	c := &Caller{Client: a.clientAddr(r)}
	if a.limitPages(c) != nil { // counted as a guest's, before the account is looked up
		return false
	}
	if err := a.Identify(r, c, false); err != nil {
		return false
	}
	rec := Recorder{ResponseWriter: w, status: http.StatusOK}
	v := &console.Visitor{Host: consoleHost{a, c}, Account: c.Account, Session: c.Session, Client: c.Client}
	if err := a.Console.Refuse(&rec, r, v, http.StatusNotFound, mapdata.ErrNotFound); err != nil {
		a.Log.Error("page of a missing address failed", "error", err)
	}
	return rec.wrote
}

// admitVisitor refuses writes from other sites, identifies the visitor, and counts the request.
func (a *API) admitVisitor(r *http.Request, c *Caller, p console.Route) error {
	if err := a.crossOrigin.Check(r); err != nil {
		return CrossOriginError()
	}
	if err := a.Identify(r, c, false); err != nil {
		return err
	}
	switch p.Counts {
	case console.CountsSignIn:
		if err := a.LimitSignIns(c); err != nil {
			return err
		}
	case console.CountsVerify:
		if err := a.LimitVerifies(c); err != nil {
			return err
		}
	case console.CountsCheck:
		if c.Account != nil {
			if err := a.LimitAccount(c, ratelimit.Checks, maxChecksPerMinute, "feeds tried by this account"); err != nil {
				return err
			}
		}
	case console.CountsPage:
		if !p.Who.SignedIn() {
			return a.limitPages(c)
		}
	case console.CountsLive:
		return a.limitPages(c) // even for accounts: the limit on management is for the actions of people
	case console.CountsNothing:
	}
	if p.Who.SignedIn() && c.Account != nil {
		return a.LimitAccount(c, ratelimit.Manage, a.Limits.Manage, "management requests of this account")
	}
	return nil
}

// limitPages counts one page that guests may read. The rates are those of reads; a page may cost more than a read.
func (a *API) limitPages(c *Caller) error {
	limit, key := ratelimit.PerMinute(a.Limits.GuestReads), ratelimit.ClientKey(ratelimit.Pages, c.Client)
	if c.Account != nil {
		limit, key = ratelimit.PerMinute(a.Limits.AccountReads), ratelimit.AccountKey(ratelimit.Pages, c.Account.ID)
	}
	if limit.Count == 0 {
		return nil
	}
	if d := a.Buckets.Allow(key, limit, 1, a.Now()); !d.OK {
		return &mapdata.LimitError{RetryAfter: d.RetryAfter, What: "pages"}
	}
	return nil
}

// consoleHost implements console.Host for one visitor.
type consoleHost struct {
	api    *API
	caller *Caller
}

// Write writes a whole response.
func (d consoleHost) Write(w http.ResponseWriter, r *http.Request, status int, contentType string, body []byte) {
	response.Write(w, r, status, contentType, body)
}

// ScriptPath returns the path from which a page loads a script; empty: it was not built.
func (d consoleHost) ScriptPath(name string) (string, error) { return d.api.scripts.Path(name) }

// SetSession sets the browser's session cookie; an empty secret deletes it.
func (d consoleHost) SetSession(w http.ResponseWriter, secret string) {
	life := mapdata.SessionTotal
	if secret == "" {
		life = time.Duration(0)
	}
	d.api.SetSessionCookie(w, secret, life)
}

// Browser describes the visitor's browser for a sign-in.
func (d consoleHost) Browser(r *http.Request) account.Browser { return d.api.BrowserOf(r, d.caller) }

// SetSignIn sets the cookie with which the browser's codes work.
func (d consoleHost) SetSignIn(w http.ResponseWriter, secret string) {
	d.api.SetSignInCookie(w, secret)
}

// TryPairingCode calls do with a screen's code, unless too many codes were wrong.
func (d consoleHost) TryPairingCode(code account.UserCode, do func(account.UserCode) (*mapdata.Pairing, error)) (*mapdata.Pairing, error) {
	return d.api.TryPairingCode(d.caller, code, do)
}
