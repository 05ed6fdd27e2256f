package console

import (
	"errors"
	"net/http"
	"net/url"

	"wayside/internal/feeds/feed"
	"wayside/internal/ground/mapdata"
)

// queuedFeed is one feed of the review queue.
type queuedFeed struct {
	*mapdata.PendingFeed
	Address string
	Origin  *origin   // nil: a push feed
	State   feedState // as far as the feed itself stores it
	Rows    int       // of the last snapshot; of a push feed 0
	Own     bool      // the visitor's own feed, on which others decide
}

// queuePage is the review queue: feeds that are to become public come first, because readers wait for them.
type queuePage struct {
	Public, Private []queuedFeed
	Apps            []queuedApp // those that wait longest
	AppsWaiting     int         // all that wait
	Suspended       []ownApp    // apps that a curator suspended
	Changed         []appLine   // apps whose page is another one than was approved
}

// getReview answers GET /review.
func (c *Console) getReview(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	queue, err := c.Feeds.Queue(r.Context(), mapdata.ActorOf(v.Account))
	if err != nil {
		return err
	}
	var page queuePage
	if page.Apps, page.AppsWaiting, err = c.queuedApps(r, v); err != nil {
		return err
	}
	if page.Suspended, err = c.suspendedApps(r, v); err != nil {
		return err
	}
	if page.Changed, err = c.changedApps(v); err != nil {
		return err
	}
	for i := range queue {
		p := &queue[i]
		one := queuedFeed{
			PendingFeed: p, Address: reviewFeedURL(p.ID), Origin: originOf(p.PullURL), State: stateOf(&p.Feed, attemptOf(&p.Feed), c.Now()),
			Rows: p.Polling.LastRows, Own: p.ManagedBy(v.ID()),
		}
		if p.Visibility == mapdata.Public {
			page.Public = append(page.Public, one)
		} else {
			page.Private = append(page.Private, one)
		}
	}
	return c.show(w, r, v, &Page{Name: "review", Data: &page, Wide: true})
}

// Entities returns how many entities the feed holds.
func (q *queuedFeed) Entities() int { return q.Holds.Entities }

// decidedFeed is the feed that the visitor decided on before the page was shown.
type decidedFeed struct {
	Done    string // key of what was done
	Name    string // empty: the visitor may no longer see it
	Address string
}

// The parameters of a page that follows a decision.
const (
	decisionParam = "decided" // what was decided, the last part of a key "done.…"
	decidedParam  = "feed"
)

// decidedFeed reads which feed the visitor decided on before; nil: none.
func (c *Console) decidedFeed(r *http.Request, v *Visitor) (*decidedFeed, error) {
	q := r.URL.Query()
	done := &decidedFeed{Done: "done." + q.Get(decisionParam)}
	if d := q.Get(decisionParam); d != "approved" && d != "rejected" {
		return nil, nil
	}
	id, ok := mapdata.ParseFeedID(q.Get(decidedParam))
	if !ok {
		return done, nil
	}
	f, err := c.Feeds.Get(r.Context(), mapdata.ActorOf(v.Account), id)
	switch {
	case errors.Is(err, mapdata.ErrNotFound): // a private feed: from the decision on it is hidden from curators
		return done, nil
	case err != nil:
		return nil, err
	}
	done.Name, done.Address = f.Name, reviewFeedURL(id)
	return done, nil
}

// afterDecision returns the path of the page that follows a decision: the review of the feed that waits longest, or that of the
// decided feed if no other waits.
func (c *Console) afterDecision(r *http.Request, v *Visitor, decided *feed.View, done string) (string, error) {
	queue, err := c.Feeds.Queue(r.Context(), mapdata.ActorOf(v.Account))
	if err != nil {
		return "", err
	}
	for i := range queue {
		if p := &queue[i]; waitsFor(v, p) && p.ID != decided.ID {
			return reviewFeedURL(p.ID) + "?" + url.Values{decisionParam: {done}, decidedParam: {decided.ID.String()}}.Encode(), nil
		}
	}
	if decided.Visibility == mapdata.Private {
		return reviewPath + "?done=" + done, nil
	}
	return reviewFeedURL(decided.ID) + "?done=" + done, nil
}
