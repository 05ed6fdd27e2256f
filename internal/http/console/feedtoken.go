package console

import (
	"net/http"

	"wayside/internal/feeds/feed"
	"wayside/internal/ground/mapdata"
)

func tokenURL(id mapdata.FeedID) string { return feedURL(id) + "/token" }

// redirectToToken redirects to the page that shows a new push token.
func (c *Console) redirectToToken(w http.ResponseWriter, id mapdata.FeedID, token string, rotated bool) error {
	more := ""
	if rotated {
		more = "?rotated"
	}
	return c.redirectWithToken(w, token, tokenURL(id), more)
}

// tokenPage shows a push token.
type tokenPage struct {
	*feed.View
	Address string
	Token   string
	Curl    string
	PushURL string
	GeoJSON string
	Rotated bool
	Live    live
	Last    *mapdata.Attempt // the newest push; nil: none yet
	State   feedState
}

// getFeedToken answers GET /feeds/{id}/token. Once the token is no longer shown, it redirects to the page where a new
// one can be made.
func (c *Console) getFeedToken(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	f, err := c.ownFeed(r, v)
	if err != nil {
		return err
	}
	token, ok := c.tokenOf(r, tokenURL(f.ID))
	if !ok {
		return seeOther(w, feedURL(f.ID)+"/rotate")
	}
	h, err := c.Feeds.History(r.Context(), mapdata.ActorOf(v.Account), f.ID)
	if err != nil {
		return err
	}
	return c.show(w, r, v, &Page{Name: "feed-token", Scripts: []string{MapScript, PageScript}, Data: tokenPage{
		View: f, Address: feedURL(f.ID), Token: token, Curl: c.curl(token), Rotated: r.URL.Query().Has("rotated"),
		Live: newLive(tokenURL(f.ID), f, h), Last: lastAttempt(h), State: stateOf(&f.Feed, lastAttempt(h), c.Now()), GeoJSON: entitiesURL(f.ID),
		PushURL: c.pushURL(token),
	}})
}
