package console

import (
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"time"

	"wayside/internal/ground/mapdata"
)

// A new token is stored only as a hash, and the page that makes one redirects to the page that shows it, so that
// reloading that page makes no second token. Meanwhile the browser keeps the token in a cookie, for that page's path
// and for minutes, sealed together with the path and the time. It is sealed for the zero feed id, so that no other
// sealed secret can be opened as a token.
const (
	tokenCookieName = "wayside_new_token"
	tokenCookieTTL  = 5 * time.Minute
)

// https reports whether the pages are served by https, so that cookies are Secure and have a prefix that other hosts and plain http
// cannot set (RFC 6265bis, 4.1.3).
func (c *Console) https() bool { return strings.HasPrefix(c.BaseURL, "https://") }

// tokenCookie returns the cookie's name. The cookie is for one path, which the prefix __Host- excludes.
func (c *Console) tokenCookie() string {
	if c.https() {
		return "__Secure-" + tokenCookieName
	}
	return tokenCookieName
}

// redirectWithToken redirects to the page at a path, which shows the new token. more is appended to the URL.
func (c *Console) redirectWithToken(w http.ResponseWriter, token, path, more string) error {
	whole := strconv.FormatInt(c.Now().Unix(), 10) + "\n" + path + "\n" + token
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // Secure wherever the service is reached by HTTPS; on plain http the form carries as much
		Name: c.tokenCookie(), Value: base64.RawURLEncoding.EncodeToString(c.Secrets.Seal([]byte(whole), mapdata.FeedID{})),
		Path: path, MaxAge: int(tokenCookieTTL.Seconds()), HttpOnly: true, SameSite: http.SameSiteStrictMode,
		Secure: c.https(),
	})
	return seeOther(w, path+more)
}

// tokenOf returns the token in the cookie for the page at a path, if this service sealed it for that page within tokenCookieTTL.
func (c *Console) tokenOf(r *http.Request, path string) (token string, ok bool) {
	cookie, err := r.Cookie(c.tokenCookie())
	if err != nil {
		return "", false
	}
	sealed, err := base64.RawURLEncoding.DecodeString(cookie.Value)
	if err != nil {
		return "", false
	}
	whole, err := c.Secrets.Open(sealed, mapdata.FeedID{})
	if err != nil {
		return "", false
	}
	at, rest, _ := strings.Cut(string(whole), "\n")
	of, token, _ := strings.Cut(rest, "\n")
	seconds, err := strconv.ParseInt(at, 10, 64)
	return token, err == nil && of == path && c.Now().Sub(time.Unix(seconds, 0)) < tokenCookieTTL
}
