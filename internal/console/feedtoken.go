package console

import (
	"encoding/base64"
	"net/http"
	"strings"
	"time"

	"wayside/internal/feed"
	"wayside/internal/mapdata"
)

// A push token is stored nowhere in clear, and the page that makes one leads on to the page that shows it, so that loading
// that again makes no second feed and no second token. On the way the browser keeps it, sealed for its feed, for the page's
// address alone and for minutes.
const (
	tokenCookie = "wayside_push_token"
	tokenKept   = 5 * time.Minute
)

func tokenAddress(id mapdata.FeedID) string { return addressOf(id) + "/token" }

// leadToToken leads to the page that shows a new push token.
func (c *Console) leadToToken(w http.ResponseWriter, id mapdata.FeedID, token string, rotated bool) error {
	to := tokenAddress(id)
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // Secure wherever the service is reached by HTTPS; on plain http the form carries as much
		Name: tokenCookie, Value: base64.RawURLEncoding.EncodeToString(c.Secrets.Seal([]byte(token), id)),
		Path: to, MaxAge: int(tokenKept.Seconds()), HttpOnly: true, SameSite: http.SameSiteStrictMode,
		Secure: strings.HasPrefix(c.BaseURL, "https://"),
	})
	if rotated {
		to += "?rotated"
	}
	return seeOther(w, to)
}

// tokenPage shows a push token.
type tokenPage struct {
	*feed.View
	Address string
	Token   string
	Curl    string
	Rotated bool
}

// getFeedToken answers GET /feeds/{id}/token. Where the token is no longer shown, it leads to where there is another.
func (c *Console) getFeedToken(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	f, err := c.ownFeed(r, v)
	if err != nil {
		return err
	}
	token, ok := c.keptToken(r, f.ID)
	if !ok {
		return seeOther(w, addressOf(f.ID)+"/rotate")
	}
	return c.show(w, r, v, &Page{Name: "feed-token", Data: tokenPage{
		View: f, Address: addressOf(f.ID), Token: token, Curl: c.curl(token), Rotated: r.URL.Query().Has("rotated"),
	}})
}

// keptToken is what the browser kept, if it was sealed here for this feed.
func (c *Console) keptToken(r *http.Request, id mapdata.FeedID) (string, bool) {
	cookie, err := r.Cookie(tokenCookie)
	if err != nil {
		return "", false
	}
	sealed, err := base64.RawURLEncoding.DecodeString(cookie.Value)
	if err != nil {
		return "", false
	}
	token, err := c.Secrets.Open(sealed, id)
	return string(token), err == nil
}
