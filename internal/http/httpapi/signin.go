package httpapi

import (
	"errors"
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

// LimitSignIns counts one sign-in e-mail that an address asks for.
func (a *API) LimitSignIns(c *Caller) error {
	limit := ratelimit.Limit{Count: maxSignInsPerHour, Per: time.Hour}
	return a.LimitClient(c, ratelimit.SignIns, limit, "sign-in e-mails from this address")
}

// LimitVerifies counts one sign-in that an address tries.
func (a *API) LimitVerifies(c *Caller) error {
	return a.LimitClient(c, ratelimit.Verifies, ratelimit.PerMinute(maxVerifiesPerMinute), "sign-ins tried from this address")
}

// SetSessionCookie sets the browser's session cookie for the given time; 0 deletes it, and the browser's cache of answers to the
// session (D11.2).
func (a *API) SetSessionCookie(w http.ResponseWriter, secret string, life time.Duration) {
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

// SetSignInCookie sets the cookie with which the browser's codes work. Only this service's pages and programs send codes.
func (a *API) SetSignInCookie(w http.ResponseWriter, secret string) {
	http.SetCookie(w, &http.Cookie{
		Name: a.signInCookieName(), Value: secret, Path: "/", MaxAge: int(account.SecretTTL.Seconds()),
		HttpOnly: true, Secure: a.https, SameSite: http.SameSiteStrictMode,
	})
}

// BrowserOf describes the browser by the request's headers.
func (a *API) BrowserOf(r *http.Request, c *Caller) account.Browser {
	accepted := strings.Join(r.Header.Values("Accept-Language"), ",")
	from := account.Browser{Session: c.Session, Agent: r.UserAgent(), Language: mapdata.AcceptedLanguage(accepted)}
	if cookie, err := r.Cookie(a.signInCookieName()); err == nil {
		from.Secret = cookie.Value
	}
	return from
}

// maxWrongCodes bounds the unknown codes that an account, and a client address, may try in wrongCodesWindow (D11.3).
const (
	maxWrongCodes    = 5
	wrongCodesWindow = 10 * time.Minute
)

// TryPairingCode calls do with a code, unless too many codes were wrong. Unknown codes count against the account and against the
// client address, because an account costs nothing but an e-mail address.
func (a *API) TryPairingCode(c *Caller, code account.UserCode, do func(account.UserCode) (*mapdata.Pairing, error)) (*mapdata.Pairing, error) {
	limit := ratelimit.Limit{Count: maxWrongCodes, Per: wrongCodesWindow}
	keys := []ratelimit.Key{ratelimit.AccountKey(ratelimit.PairingCodes, c.ID()), ratelimit.ClientKey(ratelimit.PairingCodes, c.Client)}
	for _, key := range keys {
		if d := a.Buckets.Peek(key, limit, 1, a.Now()); !d.OK {
			return nil, &mapdata.LimitError{RetryAfter: d.RetryAfter, What: "wrong codes"}
		}
	}
	p, err := do(code)
	if errors.Is(err, mapdata.ErrNotFound) {
		for _, key := range keys {
			a.Buckets.Allow(key, limit, 1, a.Now())
		}
	}
	return p, err
}
