package feeds

import (
	"net/http"

	"wayside/internal/feeds/feed"
	"wayside/internal/ground/mapdata"
	"wayside/internal/http/httpapi"
)

// maxQueueLength is how many feeds one response of the queue contains.
const maxQueueLength = 100

// pendingFeed is a feed that waits for review.
type pendingFeed struct {
	Feed    any               `json:"feed"`
	Owner   ownerJSON         `json:"owner"`
	Origin  *string           `json:"origin"`
	Waiting httpapi.Timestamp `json:"waiting_since"`
}

type ownerJSON struct {
	ID    string `json:"id"`
	Email string `json:"email"`
}

// getReviewFeeds answers GET /v2/review/feeds with the review queue, the longest waiting first.
func (a *api) getReviewFeeds(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	queue, err := a.Feeds.Queue(r.Context(), mapdata.ActorOf(c.Account))
	if err != nil {
		return err
	}
	waiting := len(queue)
	list := make([]pendingFeed, min(waiting, maxQueueLength))
	for i := range list {
		p := &queue[i]
		view := a.Feeds.View(&p.Feed, a.Entities(p.ID), false)
		list[i] = pendingFeed{Feed: NewFeedJSON(&view), Owner: ownerJSON{p.Owner.String(), p.OwnerEmail}, Waiting: httpapi.Timestamp(p.Since)}
		if origin := feed.Origin(p.PullURL); origin != "" {
			list[i].Origin = &origin
		}
	}
	w.Header().Set("Cache-Control", "no-store")
	return httpapi.WriteJSON(w, r, http.StatusOK, map[string]any{"feeds": list, "waiting": waiting})
}

// readDecision reads the body of a decision: the version that the curator looked at, and a note if the decision
// requires one.
func readDecision(w http.ResponseWriter, r *http.Request, withNote bool) (version, note string, err error) {
	f, err := httpapi.ReadFields(w, r)
	if err != nil {
		return "", "", err
	}
	version, _ = f.Text("version")
	if withNote {
		note = f.Required("note")
	}
	return version, note, f.Check()
}

// postApprove answers POST /v2/feeds/{id}/approve, whose body is optional. Curators only.
func (a *api) postApprove(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	id, err := feedID(r)
	if err != nil {
		return err
	}
	version := ""
	if r.ContentLength != 0 {
		if version, _, err = readDecision(w, r, false); err != nil {
			return err
		}
	}
	if err := a.Passkeys.AllowDecision(r.Context(), c.Session); err != nil {
		return err
	}
	return a.answerFeed(w, r)(a.Feeds.Approve(r.Context(), mapdata.ActorOf(c.Account), id, version))
}

// postReject answers POST /v2/feeds/{id}/reject. Curators only.
func (a *api) postReject(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	id, err := feedID(r)
	if err != nil {
		return err
	}
	version, note, err := readDecision(w, r, true)
	if err != nil {
		return err
	}
	if err := a.Passkeys.AllowDecision(r.Context(), c.Session); err != nil {
		return err
	}
	return a.answerFeed(w, r)(a.Feeds.Reject(r.Context(), mapdata.ActorOf(c.Account), id, version, note))
}
