package httpapi

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"wayside/internal/account"
	"wayside/internal/mapdata"
	"wayside/internal/ratelimit"
)

const pairPath = "/pair"

// pairTarget is where a phone approves the screen that shows the code; without one it asks for it.
func pairTarget(code account.UserCode) string {
	if code == "" {
		return pairPath
	}
	return pairPath + "?code=" + string(code)
}

func (a *api) pairPageRoutes() []route {
	return []route{
		{http.MethodGet, pairPath, signing, forPeople(pairPath, a.getPairPage)},
		{http.MethodPost, pairPath, signing, forPeople(pairPath, a.postPairPage)},
	}
}

// pairPage is what the page of pairing shows: a question if there is a Code, what was answered if there is a State, and
// otherwise an input.
type pairPage struct {
	Email  string // who is signed in
	Code   string // as the screen shows it
	Bare   string // as the form sends it
	Device string // in our own words
	Ago    string // when it asked
	State  string // pending, approved, denied or used; empty: no code was given, or a wrong one
	Typed  string // what was typed, if it is wrong
	Wrong  string // what is wrong
}

// getPairPage answers GET /pair, where the QR code of a screen leads. It approves nothing: links are opened by programs,
// and by people who were sent one by somebody else.
func (a *api) getPairPage(w http.ResponseWriter, r *http.Request, c *caller) error {
	typed := r.URL.Query().Get("code")
	code, ok := account.ParseUserCode(typed)
	if c.session == nil {
		return seeOther(w, signInTarget(code, true))
	}
	if err := a.limitPairPage(c); err != nil {
		return err
	}
	page := pairPage{Email: c.account.Email}
	if typed == "" {
		return writeFormPage(w, r, http.StatusOK, pairHTML, &page)
	}
	if !ok {
		return writeMistyped(w, r, &page, typed)
	}
	return a.showPairing(w, r, &page, code)(a.tryCode(c, code, func(code account.UserCode) (*mapdata.Pairing, error) {
		return a.Accounts.FindPairing(r.Context(), code)
	}))
}

// postPairPage answers the page's two buttons.
func (a *api) postPairPage(w http.ResponseWriter, r *http.Request, c *caller) error {
	form, err := readForm(w, r)
	if err != nil {
		return err
	}
	code, ok := account.ParseUserCode(form.Get("code"))
	if c.session == nil {
		return seeOther(w, signInTarget(code, true))
	}
	if err := a.limitPairPage(c); err != nil {
		return err
	}
	page := pairPage{Email: c.account.Email}
	if !ok {
		return writeMistyped(w, r, &page, form.Get("code"))
	}
	answer := form.Get("answer")
	if answer != "approve" && answer != "deny" {
		return mapdata.Describe(mapdata.ErrMalformed, "The form says neither approve nor deny.")
	}
	return a.showPairing(w, r, &page, code)(a.tryCode(c, code, func(code account.UserCode) (*mapdata.Pairing, error) {
		return a.Accounts.AnswerPairing(r.Context(), code, c.id(), answer == "approve")
	}))
}

func (a *api) limitPairPage(c *caller) error {
	return a.limitAccount(c, ratelimit.Manage, a.Limits.Manage, "management requests of this account")
}

const pairHTML = "pair.html"

// writeMistyped says that no code looks like this. It is not counted: nothing was tried.
func writeMistyped(w http.ResponseWriter, r *http.Request, page *pairPage, typed string) error {
	page.Typed, page.Wrong = shorten(typed), "A code has eight letters, such as BCDF-GHJK."
	return writeFormPage(w, r, http.StatusNotFound, pairHTML, page)
}

// showPairing shows what was found, or says why nothing was.
func (a *api) showPairing(w http.ResponseWriter, r *http.Request, page *pairPage, code account.UserCode) func(*mapdata.Pairing, error) error {
	return func(p *mapdata.Pairing, err error) error {
		status := http.StatusOK
		switch {
		case errors.Is(err, mapdata.ErrNotFound):
			status, page.Typed, page.Wrong = http.StatusNotFound, code.Shown(), err.Error()
		case errors.Is(err, mapdata.ErrConflict):
			status, page.Wrong = http.StatusConflict, err.Error()
		case err != nil:
			return err
		default:
			page.Code, page.Bare, page.State = code.Shown(), string(code), string(p.State)
			page.Device, page.Ago = account.DeviceWords(p.Agent), ago(a.Now().Sub(p.CreatedAt))
		}
		return writeFormPage(w, r, status, pairHTML, page)
	}
}

// ago says how long something is past, as people do.
func ago(d time.Duration) string {
	switch n := int(d / time.Minute); {
	case n <= 0:
		return "less than a minute ago"
	case n == 1:
		return "a minute ago"
	default:
		return fmt.Sprintf("%d minutes ago", n)
	}
}
