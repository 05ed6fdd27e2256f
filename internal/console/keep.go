package console

import (
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"time"

	"wayside/internal/mapdata"
)

// A new token is stored nowhere in clear, and the page that makes one leads on to the page that shows it, so that loading
// that again makes no second one. On the way the browser keeps it, for the page's address alone and for minutes, sealed
// together with that address and the time. It is sealed for no feed: what is sealed for one is never opened as a token.
const (
	keptCookie = "wayside_new_token"
	keptFor    = 5 * time.Minute
)

// leadWith leads to the page at a path, with a new token that it shows. more is added to the address.
func (c *Console) leadWith(w http.ResponseWriter, token, path, more string) error {
	whole := strconv.FormatInt(c.Now().Unix(), 10) + "\n" + path + "\n" + token
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // Secure wherever the service is reached by HTTPS; on plain http the form carries as much
		Name: keptCookie, Value: base64.RawURLEncoding.EncodeToString(c.Secrets.Seal([]byte(whole), mapdata.FeedID{})),
		Path: path, MaxAge: int(keptFor.Seconds()), HttpOnly: true, SameSite: http.SameSiteStrictMode,
		Secure: strings.HasPrefix(c.BaseURL, "https://"),
	})
	return seeOther(w, path+more)
}

// kept is the token that the browser kept for the page at a path, if it was sealed here for it, minutes ago.
func (c *Console) kept(r *http.Request, path string) (token string, ok bool) {
	cookie, err := r.Cookie(keptCookie)
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
	return token, err == nil && of == path && c.Now().Sub(time.Unix(seconds, 0)) < keptFor
}
