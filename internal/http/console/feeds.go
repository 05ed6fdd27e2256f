package console

import (
	"errors"
	"net/http"
	"time"

	"wayside/internal/feeds/feed"
	"wayside/internal/ground/mapdata"
	"wayside/internal/people/account"
)

const (
	feedsPath   = "/feeds"
	newFeedPath = "/feeds/new"
	feedPath    = "/feeds/{id}"
)

func (c *Console) feedRoutes() []Route {
	own := account.ForOwners
	return []Route{
		{Method: http.MethodGet, Path: feedsPath, Who: account.ForAccounts, Handle: c.getFeeds},
		{Method: http.MethodGet, Path: newFeedPath, Who: account.ForAccounts, Handle: c.getNewFeed},
		{Method: http.MethodPost, Path: newFeedPath, Who: account.ForAccounts, Handle: c.postNewFeed},
		{Method: http.MethodGet, Path: feedPath, Who: account.ForOwnersAndCurators, Handle: c.getFeed},
		{Method: http.MethodGet, Path: feedPath + "/list", Who: account.ForOwnersAndCurators, Handle: c.getFeedList},
		{Method: http.MethodGet, Path: feedPath + "/edit", Who: own, Handle: c.getEditFeed},
		{Method: http.MethodPost, Path: feedPath + "/edit", Who: own, Handle: c.postEditFeed},
		{Method: http.MethodGet, Path: feedPath + "/url", Who: own, Handle: c.getFeedURL},
		{Method: http.MethodPost, Path: feedPath + "/url", Who: own, Handle: c.postFeedURL},
		{Method: http.MethodPost, Path: feedPath + "/fetch", Who: own, Handle: c.postFetchFeed},
		{Method: http.MethodPost, Path: feedPath + "/resume", Who: own, Handle: c.postResumeFeed},
		{Method: http.MethodGet, Path: feedPath + "/pause", Who: own, Handle: c.confirm("pause")},
		{Method: http.MethodPost, Path: feedPath + "/pause", Who: own, Handle: c.postPauseFeed},
		{Method: http.MethodGet, Path: feedPath + "/rotate", Who: own, Handle: c.confirm("rotate")},
		{Method: http.MethodPost, Path: feedPath + "/rotate", Who: own, Handle: c.postRotateFeed},
		{Method: http.MethodGet, Path: feedPath + "/token", Who: own, Handle: c.getFeedToken},
		{Method: http.MethodGet, Path: feedPath + "/changed", Who: account.ForOwnersAndCurators, Counts: CountsLive, Handle: c.getFeedChanged},
		{Method: http.MethodPost, Path: feedPath + "/remove-test-row", Who: own, Handle: c.postRemoveTestRow},
		{Method: http.MethodGet, Path: feedPath + "/delete", Who: account.ForOwnersAlone, Handle: c.confirm("delete")},
		{Method: http.MethodPost, Path: feedPath + "/delete", Who: account.ForOwnersAlone, Handle: c.postDeleteFeed},
	}
}

// feedURL returns the path of a feed's page.
func feedURL(id mapdata.FeedID) string { return feedsPath + "/" + id.String() }

// feedID parses the feed's id in the path.
func feedID(r *http.Request) (mapdata.FeedID, error) {
	id, ok := mapdata.ParseFeedID(r.PathValue("id"))
	if !ok {
		return id, mapdata.ErrNotFound
	}
	return id, nil
}

// readableFeed reads the feed of the path for its owner, its maintainers and curators. For others it fails with
// mapdata.ErrNotFound, even if the feed is public.
func (c *Console) readableFeed(r *http.Request, v *Visitor) (*feed.View, error) {
	id, err := feedID(r)
	if err != nil {
		return nil, err
	}
	f, err := c.Feeds.Get(r.Context(), mapdata.ActorOf(v.Account), id)
	if err == nil && !f.Full {
		err = mapdata.ErrNotFound
	}
	return f, err
}

// ownFeed reads the feed of the path for its owner and maintainers only.
func (c *Console) ownFeed(r *http.Request, v *Visitor) (*feed.View, error) {
	f, err := c.readableFeed(r, v)
	if err == nil && !f.ManagedBy(v.ID()) {
		err = mapdata.ErrNotFound
	}
	return f, err
}

// feedLine is one feed of the list.
type feedLine struct {
	*feed.View
	Address   string
	Situation feedState
	Review    string    // key
	Success   time.Time // zero: never
	Maintains bool      // somebody else is the owner
}

// feedsPage lists the visitor's feeds, and invitations to others' feeds.
type feedsPage struct {
	Feeds       []feedLine
	Invitations []mapdata.Invitation
}

// getFeeds answers GET /feeds with the feeds that the visitor owns or maintains.
func (c *Console) getFeeds(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	views, err := c.Feeds.List(r.Context(), mapdata.ActorOf(v.Account))
	if err != nil {
		return err
	}
	invitations, err := c.Feeds.Invitations(r.Context(), mapdata.ActorOf(v.Account))
	if err != nil {
		return err
	}
	lines := []feedLine{}
	for i := range views {
		f := &views[i]
		if !f.ManagedBy(v.ID()) {
			continue
		}
		h, err := c.Feeds.History(r.Context(), mapdata.ActorOf(v.Account), f.ID)
		if err != nil {
			return err
		}
		lines = append(lines, feedLine{
			View: f, Address: feedURL(f.ID), Situation: stateOf(&f.Feed, lastAttempt(h), c.Now()),
			Review: reviewKey(&f.Feed), Success: lastSuccess(&f.Feed), Maintains: f.Owner != v.ID(),
		})
	}
	return c.show(w, r, v, &Page{Name: "feeds", Data: feedsPage{lines, invitations}, Wide: true, Scripts: []string{PageScript}})
}

func lastSuccess(f *mapdata.Feed) time.Time {
	if f.Direction == mapdata.Push {
		return f.LastPushAt
	}
	return f.SnapshotAt
}

// reviewKey returns the key of the review's state.
func reviewKey(f *mapdata.Feed) string {
	if f.Visibility == mapdata.Private && f.ReviewState != mapdata.Rejected {
		return "feed.state.private"
	}
	if f.Approved() && f.Pause.InForce() {
		return "review.state.approved"
	}
	return "feed.state." + string(f.ReviewState)
}

// confirm asks for confirmation of an action that is irreversible or visible to others.
func (c *Console) confirm(what string) func(http.ResponseWriter, *http.Request, *Visitor) error {
	return func(w http.ResponseWriter, r *http.Request, v *Visitor) error {
		f, err := c.ownFeed(r, v)
		if err != nil {
			return err
		}
		if what == "delete" && f.Owner != v.ID() {
			return ownerOnly()
		}
		if what == "rotate" && f.Direction != mapdata.Push {
			return mapdata.Explain(mapdata.ErrConflict, "no_push_token", "A pull feed has no push token.")
		}
		return c.show(w, r, v, &Page{Name: "feed-confirm", Data: confirmPage{f, feedURL(f.ID), what}})
	}
}

type confirmPage struct {
	*feed.View
	Address string
	What    string
}

// changeFeed calls do with the visitor's own feed, and redirects to its page, which shows what was done.
func (c *Console) changeFeed(w http.ResponseWriter, r *http.Request, v *Visitor, done *string, do func(mapdata.Actor, mapdata.FeedID) error) error {
	f, err := c.ownFeed(r, v)
	if err != nil {
		return err
	}
	if err := do(mapdata.ActorOf(v.Account), f.ID); err != nil {
		return err
	}
	return seeOther(w, feedURL(f.ID)+"?done="+*done)
}

func (c *Console) postFetchFeed(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	done := "fetch"
	return c.changeFeed(w, r, v, &done, func(by mapdata.Actor, id mapdata.FeedID) error {
		err := c.Feeds.FetchNow(r.Context(), by, id)
		var limit *mapdata.LimitError
		if errors.As(err, &limit) { // the page explains it, and shows the result of the earlier fetch
			done, err = "too-soon", nil
		}
		return err
	})
}

func (c *Console) setActive(w http.ResponseWriter, r *http.Request, v *Visitor, done string, active bool) error {
	return c.changeFeed(w, r, v, &done, func(by mapdata.Actor, id mapdata.FeedID) error {
		_, err := c.Feeds.Patch(r.Context(), by, id, &feed.Patch{Active: &active})
		return err
	})
}

func (c *Console) postPauseFeed(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	return c.setActive(w, r, v, "pause", false)
}

func (c *Console) postResumeFeed(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	return c.setActive(w, r, v, "resume", true)
}

func (c *Console) postDeleteFeed(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	f, err := c.ownFeed(r, v)
	if err != nil {
		return err
	}
	if err := c.Feeds.Delete(r.Context(), mapdata.ActorOf(v.Account), f.ID); err != nil {
		return err
	}
	return seeOther(w, feedsPath+"?done=delete")
}

// postRotateFeed makes a new token.
func (c *Console) postRotateFeed(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	f, err := c.ownFeed(r, v)
	if err != nil {
		return err
	}
	token, err := c.Feeds.RotateToken(r.Context(), mapdata.ActorOf(v.Account), f.ID)
	if err != nil {
		return err
	}
	return c.redirectToToken(w, f.ID, token, true)
}
