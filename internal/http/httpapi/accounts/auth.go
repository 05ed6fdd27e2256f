package accounts

import (
	"net/http"

	"wayside/internal/ground/mapdata"
	"wayside/internal/http/httpapi"
	"wayside/internal/people/account"
)

// postAuthEmail answers POST /v2/auth/email. The response is the same for every address (D11.1).
func (a *api) postAuthEmail(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	f, err := httpapi.ReadFields(w, r)
	if err != nil {
		return err
	}
	email := f.Required("email")
	if err := f.Check(); err != nil {
		return err
	}
	if err := a.LimitSignIns(c); err != nil {
		return err
	}
	secret, err := a.Accounts.RequestSignIn(r.Context(), email, a.BrowserOf(r, c))
	if err != nil {
		return err
	}
	a.SetSignInCookie(w, secret)
	return httpapi.WriteJSON(w, r, http.StatusAccepted, map[string]string{"status": "sent"})
}

// postAuthVerify answers POST /v2/auth/verify, which takes {token} or {email, code}.
func (a *api) postAuthVerify(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	f, err := httpapi.ReadFields(w, r)
	if err != nil {
		return err
	}
	token, byLink := f.Text("token")
	var email, code string
	if !byLink {
		email, code = f.Required("email"), f.Required("code")
	}
	if err := f.Check(); err != nil {
		return err
	}
	if err := a.LimitVerifies(c); err != nil {
		return err
	}
	var in *account.SignedIn
	if byLink {
		in, err = a.Accounts.VerifyToken(r.Context(), token, a.BrowserOf(r, c))
	} else {
		in, err = a.Accounts.VerifyCode(r.Context(), email, code, a.BrowserOf(r, c))
	}
	if err != nil {
		return err
	}
	a.SetSessionCookie(w, in.Secret, mapdata.SessionTotal)
	return httpapi.WriteJSON(w, r, http.StatusOK, accountAnswer{newAccountJSON(in.Account, in.Session)})
}

// postAuthSignOut answers POST /v2/auth/sign-out. It succeeds without a session too.
func (a *api) postAuthSignOut(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	if c.Session != nil {
		if err := a.Accounts.SignOut(r.Context(), c.Session); err != nil {
			return err
		}
	}
	a.SetSessionCookie(w, "", 0)
	w.WriteHeader(http.StatusNoContent)
	return nil
}
