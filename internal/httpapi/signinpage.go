package httpapi

import (
	"errors"
	"net/http"
	"net/url"
	"time"

	"wayside/internal/account"
	"wayside/internal/mapdata"
	"wayside/internal/ratelimit"
)

const signInPath = "/sign-in"

// signInTarget is where a browser signs in. With pairing it comes back to the page of pairing, and with a code to the
// screen that shows it: to nowhere else, whatever the address says.
func signInTarget(code account.UserCode, pairing bool) string {
	if !pairing {
		return signInPath
	}
	return signInPath + "?pair=" + string(code)
}

func (a *api) signInPageRoutes() []route {
	return []route{
		{http.MethodGet, signInPath, signing, forPeople(signInPath, a.getSignInPage)},
		{http.MethodPost, signInPath, signing, forPeople(signInPath, a.postSignInPage)},
		{http.MethodPost, "/sign-in/code", signing, forPeople(signInPath, a.postSignInCodePage)},
		{http.MethodPost, "/sign-out", signing, forPeople(signInPath, a.postSignOutPage)},
	}
}

// signInPage is what the page of signing in shows: who is signed in, the form for a code, or the form for an address.
type signInPage struct {
	SignedIn string // the address; empty: nobody
	Sent     bool   // a letter may be on its way: the form for its code
	Email    string // as it was typed
	Wrong    string // what is wrong with what was sent
	Pairing  bool   // whether it goes on to pairing
	Code     string // of the screen; may be empty
	Next     string // where it goes on
}

// newSignInPage reads where the browser is to go afterwards.
func newSignInPage(values url.Values) *signInPage {
	code, _ := account.ParseUserCode(values.Get("pair"))
	page := &signInPage{Pairing: values.Has("pair"), Code: string(code), Next: signInPath}
	if page.Pairing {
		page.Next = pairTarget(code)
	}
	return page
}

const signInHTML = "sign-in.html"

// getSignInPage answers GET /sign-in.
func (a *api) getSignInPage(w http.ResponseWriter, r *http.Request, c *caller) error {
	page := newSignInPage(r.URL.Query())
	if c.session != nil {
		if page.Pairing {
			return seeOther(w, page.Next)
		}
		page.SignedIn = c.account.Email
	}
	return writeFormPage(w, r, http.StatusOK, signInHTML, page)
}

// postSignInPage takes the form with the address: the answer is the same for every address (D11.1).
func (a *api) postSignInPage(w http.ResponseWriter, r *http.Request, c *caller) error {
	form, err := readForm(w, r)
	if err != nil {
		return err
	}
	page := newSignInPage(form)
	page.Email = shorten(form.Get("email"))
	limit := ratelimit.Limit{Count: signInsPerHour, Per: time.Hour}
	if err := a.limitClient(c, ratelimit.SignIns, limit, "sign-in letters from this address"); err != nil {
		return err
	}
	var invalid *mapdata.InvalidError
	err = a.Accounts.RequestSignIn(r.Context(), form.Get("email"), browserOf(r).Language)
	if errors.As(err, &invalid) {
		page.Wrong = "This is no e-mail address. It looks like you@example.org."
		return writeFormPage(w, r, http.StatusUnprocessableEntity, signInHTML, page)
	}
	if err != nil {
		return err
	}
	page.Sent, page.Email = true, form.Get("email")
	return writeFormPage(w, r, http.StatusOK, signInHTML, page)
}

// postSignInCodePage takes the form with the code of the letter.
func (a *api) postSignInCodePage(w http.ResponseWriter, r *http.Request, c *caller) error {
	form, err := readForm(w, r)
	if err != nil {
		return err
	}
	if err := a.limitVerifies(c); err != nil {
		return err
	}
	page := newSignInPage(form)
	in, err := a.Accounts.VerifyCode(r.Context(), form.Get("email"), form.Get("code"), browserOf(r))
	if errors.Is(err, mapdata.ErrUnauthenticated) {
		page.Sent, page.Email, page.Wrong = true, shorten(form.Get("email")), err.Error()
		return writeFormPage(w, r, http.StatusUnauthorized, signInHTML, page)
	}
	if err != nil {
		return err
	}
	a.setCookie(w, in.Secret, mapdata.SessionTotal)
	return seeOther(w, page.Next)
}

// postSignOutPage takes the button of whoever is signed in as somebody else than they want to be.
func (a *api) postSignOutPage(w http.ResponseWriter, r *http.Request, c *caller) error {
	form, err := readForm(w, r)
	if err != nil {
		return err
	}
	if c.session != nil {
		if err := a.Accounts.SignOut(r.Context(), c.session); err != nil {
			return err
		}
	}
	a.setCookie(w, "", 0)
	page := newSignInPage(form)
	return seeOther(w, signInTarget(account.UserCode(page.Code), page.Pairing))
}
