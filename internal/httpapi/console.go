package httpapi

import (
	"net/http"
	"time"

	"wayside/internal/account"
	"wayside/internal/console"
	"wayside/internal/mapdata"
	"wayside/internal/ratelimit"
	"wayside/internal/response"
)

// checksPerMinute is how many feeds an account may have tried in a minute: each fetches what its URL says.
const checksPerMinute = 6

// consoleRoutes mounts the pages for people.
func (a *api) consoleRoutes() []route {
	pages := a.Console.Routes()
	all := make([]route, len(pages))
	for i, p := range pages {
		all[i] = route{p.Method, p.Path, classPage, p.Who, a.forPeople(p)}
	}
	return all
}

// forPeople lets a visitor in, and has refusals told on a page too.
func (a *api) forPeople(p console.Route) handler {
	return func(w http.ResponseWriter, r *http.Request, c *caller) error {
		err := a.admitVisitor(r, c, p)
		v := &console.Visitor{Door: door{a, c}, Account: c.account, Session: c.session, Client: c.client}
		if err == nil {
			err = p.Handle(w, r, v)
		}
		if err == nil || r.Context().Err() != nil {
			return err
		}
		refused := problemOf(err)
		refused.setRetryAfter(w.Header())
		if writeErr := a.Console.Refuse(w, r, v, refused.Status, err); writeErr != nil {
			return writeErr
		}
		return err // it is logged where it must be
	}
}

// admitVisitor refuses other sites' forms, finds out who visits, and counts.
func (a *api) admitVisitor(r *http.Request, c *caller, p console.Route) error {
	if err := a.cross.Check(r); err != nil {
		return errOtherSite()
	}
	if err := a.identify(r, c, false); err != nil {
		return err
	}
	switch p.Counts {
	case console.CountsSignIn:
		if err := a.limitSignIns(c); err != nil {
			return err
		}
	case console.CountsVerify:
		if err := a.limitVerifies(c); err != nil {
			return err
		}
	case console.CountsCheck:
		if c.account != nil {
			if err := a.limitAccount(c, ratelimit.Checks, checksPerMinute, "feeds tried by this account"); err != nil {
				return err
			}
		}
	case console.CountsNothing:
	}
	if p.Who.SignedIn() && c.account != nil {
		return a.limitAccount(c, ratelimit.Manage, a.Limits.Manage, "management requests of this account")
	}
	return nil
}

// door is what the pages get done here.
type door struct {
	api    *api
	caller *caller
}

// Write writes a whole answer.
func (d door) Write(w http.ResponseWriter, r *http.Request, status int, contentType string, body []byte) {
	response.Write(w, r, status, contentType, body)
}

// Script is where a page loads a script of ours from; empty: it was not built.
func (d door) Script(name string) (string, error) { return d.api.scripts.Path(name) }

// Keep gives the browser its session's cookie, or takes it away.
func (d door) Keep(w http.ResponseWriter, secret string) {
	life := mapdata.SessionTotal
	if secret == "" {
		life = time.Duration(0)
	}
	d.api.setCookie(w, secret, life)
}

// TryCode does something with a screen's code, unless too many were wrong.
func (d door) TryCode(code account.UserCode, do func(account.UserCode) (*mapdata.Pairing, error)) (*mapdata.Pairing, error) {
	return d.api.tryCode(d.caller, code, do)
}
