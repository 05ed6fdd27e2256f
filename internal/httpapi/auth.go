package httpapi

import (
	"net/http"
	"strings"
	"time"

	"wayside/internal/account"
	"wayside/internal/mapdata"
	"wayside/internal/ratelimit"
)

// What one client address may ask: letters (each address has its own limit besides, D11.1), and links or codes tried.
const (
	signInsPerHour    = 60
	verifiesPerMinute = 60
)

// postAuthEmail answers POST /v2/auth/email: the same for every address (D11.1).
func (a *api) postAuthEmail(w http.ResponseWriter, r *http.Request, c *caller) error {
	f, err := readFields(w, r)
	if err != nil {
		return err
	}
	email := f.required("email")
	if err := f.done(); err != nil {
		return err
	}
	if err := a.limitSignIns(c); err != nil {
		return err
	}
	if err := a.Accounts.RequestSignIn(r.Context(), email, browserOf(r).Language); err != nil {
		return err
	}
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
	if err := f.done(); err != nil {
		return err
	}
	if err := a.limitVerifies(c); err != nil {
		return err
	}
	var in *account.SignedIn
	if byLink {
		in, err = a.Accounts.VerifyToken(r.Context(), token, browserOf(r))
	} else {
		in, err = a.Accounts.VerifyCode(r.Context(), email, code, browserOf(r))
	}
	if err != nil {
		return err
	}
	a.setCookie(w, in.Secret, mapdata.SessionTotal)
	return writeJSON(w, r, http.StatusOK, accountAnswer{newAccountJSON(in.Account)})
}

// postAuthSignOut answers POST /v2/auth/sign-out. Who has no session is told the same.
func (a *api) postAuthSignOut(w http.ResponseWriter, r *http.Request, c *caller) error {
	if c.session != nil {
		if err := a.Accounts.SignOut(r.Context(), c.session); err != nil {
			return err
		}
	}
	a.setCookie(w, "", 0)
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func (a *api) limitSignIns(c *caller) error {
	limit := ratelimit.Limit{Count: signInsPerHour, Per: time.Hour}
	return a.limitClient(c, ratelimit.SignIns, limit, "sign-in letters from this address")
}

func (a *api) limitVerifies(c *caller) error {
	return a.limitClient(c, ratelimit.Verifies, ratelimit.PerMinute(verifiesPerMinute), "sign-ins tried from this address")
}

func (a *api) limitClient(c *caller, class ratelimit.Class, limit ratelimit.Limit, what string) error {
	if d := a.Buckets.Allow(ratelimit.ClientKey(class, c.client), limit, 1, a.Now()); !d.OK {
		return &mapdata.LimitError{RetryAfter: d.RetryAfter, What: what}
	}
	return nil
}

// setCookie gives the browser its session for the given time; 0 takes it away (D11.2).
func (a *api) setCookie(w http.ResponseWriter, secret string, life time.Duration) {
	age := int(life.Seconds())
	if age == 0 {
		age = -1
	}
	http.SetCookie(w, &http.Cookie{
		Name: a.cookieName(), Value: secret, Path: "/", MaxAge: age,
		HttpOnly: true, Secure: a.secure, SameSite: http.SameSiteLaxMode,
	})
}

// browserOf is what the client's own headers say of it.
func browserOf(r *http.Request) account.Browser {
	accepted := strings.Join(r.Header.Values("Accept-Language"), ",")
	return account.Browser{Agent: r.UserAgent(), Language: mapdata.AcceptedLanguage(accepted)}
}
