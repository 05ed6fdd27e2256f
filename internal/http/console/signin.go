package console

import (
	"errors"
	"net/http"
	"net/url"

	"wayside/internal/ground/mapdata"
	"wayside/internal/people/account"
)

const (
	signInPath = "/sign-in"
	verifyPath = "/auth/verify" // the target of an e-mail's link
)

// signInTarget returns the path at which a guest signs in to pair a screen. That page redirects back to the page of pairing, with
// the screen's code, and with the mark of a code that came by a link on another site's page.
func signInTarget(code account.UserCode, linked bool) string {
	if linked {
		return signInPath + "?pair=" + string(code) + "&" + linkedParam + "="
	}
	return signInPath + "?pair=" + string(code)
}

func (c *Console) signInRoutes() []Route {
	return []Route{
		{Method: http.MethodGet, Path: signInPath, Who: account.ForGuests, Handle: c.getSignIn},
		{Method: http.MethodPost, Path: signInPath, Who: account.ForGuests, Counts: CountsSignIn, Handle: c.postSignIn},
		{Method: http.MethodPost, Path: "/sign-in/code", Who: account.ForGuests, Counts: CountsVerify, Handle: c.postSignInCode},
		{Method: http.MethodPost, Path: "/sign-out", Who: account.ForGuests, Handle: c.postSignOut},
		{Method: http.MethodGet, Path: verifyPath, Who: account.ForGuests, Handle: c.getVerify},
		{Method: http.MethodPost, Path: verifyPath, Who: account.ForGuests, Counts: CountsVerify, Handle: c.postVerify},
	}
}

// signInPage is the data of the page that shows the signed-in account, the form for a code, or the form for an address.
type signInPage struct {
	SignedIn string     // the address; empty: a guest
	Sent     bool       // an e-mail may have been sent: show the form for its code
	Steps    *nextSteps // with SignedIn
	Form     *Form
	Pairing  bool   // whether it continues with pairing
	Code     string // of the screen; may be empty
	Linked   bool   // whether the code came by a link on another site's page
	Page     string // the page that was requested; empty: none
	Next     string // path to continue at
	Again    string // path of the form for an address
	Passkeys bool   // whether a passkey may be used instead
}

// newSignInPage reads where to continue after signing in: always a page of ours, whatever the URL or the form contains.
func (c *Console) newSignInPage(values url.Values) *signInPage {
	code, _ := account.ParseUserCode(values.Get("pair"))
	page := &signInPage{Form: newForm(values), Pairing: values.Has("pair"), Code: string(code), Next: accountPath, Again: signInPath}
	if page.Pairing {
		page.Linked = values.Has(linkedParam)
		page.Next, page.Again = PairPath(code), signInTarget(code, page.Linked)
		if page.Linked && code != "" {
			page.Next += "&" + linkedParam + "="
		}
	} else if next, ok := c.localPath(values.Get("next")); ok {
		page.Page, page.Next, page.Again = next, next, signInPath+"?next="+url.QueryEscape(next)
	}
	return page
}

// getSignIn answers GET /sign-in.
func (c *Console) getSignIn(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	values := r.URL.Query()
	if linked(r) {
		values.Set(linkedParam, "")
	}
	page := c.newSignInPage(values)
	page.Form = newForm(nil)
	if person := v.Person(); person != nil { // a paired screen signs in like a guest
		if page.Pairing || page.Page != "" {
			return seeOther(w, page.Next)
		}
		page.SignedIn = person.Email
		var err error
		if page.Steps, err = c.newNextSteps(r, v); err != nil {
			return err
		}
	}
	return c.showSignIn(w, r, v, page, http.StatusOK)
}

// showSignIn shows the page; with the form for an address, it offers passkeys too.
func (c *Console) showSignIn(w http.ResponseWriter, r *http.Request, v *Visitor, page *signInPage, status int) error {
	out := &Page{Name: "sign-in", Status: status, Data: page}
	if c.Passkeys.Offered() && page.SignedIn == "" && !page.Sent {
		page.Passkeys, out.Scripts = true, []string{PasskeyScript}
	}
	return c.show(w, r, v, out)
}

// postSignIn handles the form with the address. The response is the same for every address (D11.1).
func (c *Console) postSignIn(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	form, err := readForm(w, r)
	if err != nil {
		return err
	}
	page := c.newSignInPage(form.values)
	page.Form = form
	secret, err := c.Accounts.RequestSignIn(r.Context(), form.raw("email"), browserOf(r, v))
	if form.addErrors(v.Words, err) {
		return c.showSignIn(w, r, v, page, http.StatusUnprocessableEntity)
	}
	if err != nil {
		return err
	}
	v.SetSignIn(w, secret)
	page.Sent = true
	return c.showSignIn(w, r, v, page, http.StatusOK)
}

// postSignInCode handles the form with the e-mail's code.
func (c *Console) postSignInCode(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	form, err := readForm(w, r)
	if err != nil {
		return err
	}
	page := c.newSignInPage(form.values)
	page.Form = form
	in, err := c.Accounts.VerifyCode(r.Context(), form.raw("email"), form.raw("code"), browserOf(r, v))
	if errors.Is(err, mapdata.ErrUnauthenticated) {
		form.addError("code", v.Words.Text("sign-in.wrong-code"))
		page.Sent = true
		return c.showSignIn(w, r, v, page, http.StatusUnauthorized)
	}
	if err != nil {
		return err
	}
	v.SetSession(w, in.Secret)
	return seeOther(w, page.Next)
}

// postSignOut ends the session, to sign out or to sign in to another account.
func (c *Console) postSignOut(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	form, err := readForm(w, r)
	if err != nil {
		return err
	}
	if v.Session != nil {
		if err := c.Accounts.SignOut(r.Context(), v.Session); err != nil {
			return err
		}
	}
	v.SetSession(w, "")
	return seeOther(w, c.newSignInPage(form.values).Again)
}

// browserOf describes the browser of a new session, and the language of a new account: the page's.
func browserOf(r *http.Request, v *Visitor) account.Browser {
	from := v.Browser(r)
	from.Language = v.Words.Language
	return from
}

// verifyPage is the page of an e-mail's link.
type verifyPage struct {
	Token string // sent by the button; empty: there is no button
	Email string // who is signed in now
	Steps *nextSteps
	Wrong string // key of the error
	Next  string // path to continue at
}

// getVerify answers GET /auth/verify?token=…. It does not use the link up, because programs that scan people's mail
// open links too (D11.1).
func (c *Console) getVerify(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	page := verifyPage{Token: r.URL.Query().Get("token")}
	if page.Token == "" {
		page.Wrong = "verify.not-whole"
	}
	return c.show(w, r, v, &Page{Name: "verify", Data: page})
}

// postVerify handles the page's button.
func (c *Console) postVerify(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	form, err := readForm(w, r)
	if err != nil {
		return err
	}
	in, err := c.Accounts.VerifyToken(r.Context(), form.raw("token"), browserOf(r, v))
	if errors.Is(err, mapdata.ErrUnauthenticated) {
		return c.show(w, r, v, &Page{Name: "verify", Status: http.StatusUnauthorized, Data: verifyPage{Wrong: "verify.wrong"}})
	}
	if err != nil {
		return err
	}
	v.SetSession(w, in.Secret)
	v.Account, v.Session = in.Account, in.Session // the page is rendered for the new session
	steps, err := c.newNextSteps(r, v)
	if err != nil {
		return err
	}
	next := c.newSignInPage(nil).Next
	return c.show(w, r, v, &Page{Name: "verify", Data: verifyPage{Email: in.Account.Email, Next: next, Steps: steps}})
}
