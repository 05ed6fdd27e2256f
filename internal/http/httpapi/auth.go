package httpapi

import (
	"net/http"
	"strings"
	"time"

	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/ratelimit"
	"wayside/internal/people/account"
)

// Limits per client address: sign-in e-mails (each recipient has another limit, D11.1), and attempts with links or codes.
const (
	maxSignInsPerHour    = 60
	maxVerifiesPerMinute = 60
)

// postAuthEmail answers POST /v2/auth/email. The response is the same for every address (D11.1).
func (a *api) postAuthEmail(w http.ResponseWriter, r *http.Request, c *caller) error {
	f, err := readFields(w, r)
	if err != nil {
		return err
	}
	email := f.required("email")
	if err := f.check(); err != nil {
		return err
	}
	if err := a.limitSignIns(c); err != nil {
		return err
	}
	secret, err := a.Accounts.RequestSignIn(r.Context(), email, a.browserOf(r, c))
	if err != nil {
		return err
	}
	a.setSignInCookie(w, secret)
	return writeJSON(w, r, http.StatusAccepted, map[string]string{"status": "sent"})
}

// postAuthVerify answers POST /v2/auth/verify, which takes {token} or {email, code}.
func (a *api) postAuthVerify(w http.ResponseWriter, r *http.Request, c *caller) error {
	f, err := readFields(w, r)
	if err != nil {
		return err
	}
	token, byLink := f.text("token")
	var email, code string
	if !byLink {
		email, code = f.required("email"), f.required("code")
	}
	if err := f.check(); err != nil {
		return err
	}
	if err := a.limitVerifies(c); err != nil {
		return err
	}
	var in *account.SignedIn
	if byLink {
		in, err = a.Accounts.VerifyToken(r.Context(), token, a.browserOf(r, c))
	} else {
		in, err = a.Accounts.VerifyCode(r.Context(), email, code, a.browserOf(r, c))
	}
	if err != nil {
		return err
	}
	a.setSessionCookie(w, in.Secret, mapdata.SessionTotal)
	return writeJSON(w, r, http.StatusOK, accountAnswer{newAccountJSON(in.Account, in.Session)})
}

// postAuthSignOut answers POST /v2/auth/sign-out. It succeeds without a session too.
func (a *api) postAuthSignOut(w http.ResponseWriter, r *http.Request, c *caller) error {
	if c.session != nil {
		if err := a.Accounts.SignOut(r.Context(), c.session); err != nil {
			return err
		}
	}
	a.setSessionCookie(w, "", 0)
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func (a *api) limitSignIns(c *caller) error {
	limit := ratelimit.Limit{Count: maxSignInsPerHour, Per: time.Hour}
	return a.limitClient(c, ratelimit.SignIns, limit, "sign-in e-mails from this address")
}

func (a *api) limitVerifies(c *caller) error {
	return a.limitClient(c, ratelimit.Verifies, ratelimit.PerMinute(maxVerifiesPerMinute), "sign-ins tried from this address")
}

func (a *api) limitClient(c *caller, class ratelimit.Class, limit ratelimit.Limit, what string) error {
	if d := a.Buckets.Allow(ratelimit.ClientKey(class, c.client), limit, 1, a.Now()); !d.OK {
		return &mapdata.LimitError{RetryAfter: d.RetryAfter, What: what}
	}
	return nil
}

// setSessionCookie sets the browser's session cookie for the given time; 0 deletes it, and the browser's cache of answers to the
// session (D11.2).
func (a *api) setSessionCookie(w http.ResponseWriter, secret string, life time.Duration) {
	age := int(life.Seconds())
	if age == 0 {
		age = -1
		w.Header().Set("Clear-Site-Data", `"cache"`)
	}
	http.SetCookie(w, &http.Cookie{
		Name: a.cookieName(), Value: secret, Path: "/", MaxAge: age,
		HttpOnly: true, Secure: a.https, SameSite: http.SameSiteLaxMode,
	})
}

// setSignInCookie sets the cookie with which the browser's codes work. Only this service's pages and programs send codes.
func (a *api) setSignInCookie(w http.ResponseWriter, secret string) {
	http.SetCookie(w, &http.Cookie{
		Name: a.signInCookieName(), Value: secret, Path: "/", MaxAge: int(account.SecretTTL.Seconds()),
		HttpOnly: true, Secure: a.https, SameSite: http.SameSiteStrictMode,
	})
}

// browserOf describes the browser by the request's headers.
func (a *api) browserOf(r *http.Request, c *caller) account.Browser {
	accepted := strings.Join(r.Header.Values("Accept-Language"), ",")
	from := account.Browser{Session: c.session, Agent: r.UserAgent(), Language: mapdata.AcceptedLanguage(accepted)}
	if cookie, err := r.Cookie(a.signInCookieName()); err == nil {
		from.Secret = cookie.Value
	}
	return from
}
