package console

import (
	"net/http"

	"wayside/internal/feed"
	"wayside/internal/mapdata"
)

func tokenAddress(id mapdata.FeedID) string { return addressOf(id) + "/token" }

// leadToToken leads to the page that shows a new push token.
func (c *Console) leadToToken(w http.ResponseWriter, id mapdata.FeedID, token string, rotated bool) error {
	more := ""
	if rotated {
		more = "?rotated"
	}
	return c.leadWith(w, token, tokenAddress(id), more)
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
	token, ok := c.kept(r, tokenAddress(f.ID))
	if !ok {
		return seeOther(w, addressOf(f.ID)+"/rotate")
	}
	return c.show(w, r, v, &Page{Name: "feed-token", Data: tokenPage{
		View: f, Address: addressOf(f.ID), Token: token, Curl: c.curl(token), Rotated: r.URL.Query().Has("rotated"),
	}})
}
