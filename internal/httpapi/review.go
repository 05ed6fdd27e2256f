package httpapi

import (
	"net/http"

	"wayside/internal/feed"
)

// queueLength is how many feeds one answer of the queue holds.
const queueLength = 100

// pendingFeed is a feed that waits for a curator.
type pendingFeed struct {
	Feed    any       `json:"feed"`
	Owner   ownerJSON `json:"owner"`
	Origin  *string   `json:"origin"`
	Waiting timestamp `json:"waiting_since"`
}

type ownerJSON struct {
	ID    string `json:"id"`
	Email string `json:"email"`
}

// getReviewFeeds answers GET /v2/review/feeds: the queue of curators, the longest waiting first.
func (a *api) getReviewFeeds(w http.ResponseWriter, r *http.Request, c *caller) error {
	queue, err := a.Feeds.Queue(r.Context(), feed.By(c.account))
	if err != nil {
		return err
	}
	waiting := len(queue)
	list := make([]pendingFeed, min(waiting, queueLength))
	for i := range list {
		p := &queue[i]
		view := feed.View{Feed: p.Feed, Full: true}
		if view.Entities, err = a.Feeds.Count(r.Context(), p.ID); err != nil {
			return err
		}
		list[i] = pendingFeed{Feed: newFeedJSON(&view), Owner: ownerJSON{p.Owner.String(), p.OwnerEmail}, Waiting: timestamp(p.Since)}
		if origin := feed.Origin(p.PullURL); origin != "" {
			list[i].Origin = &origin
		}
	}
	w.Header().Set("Cache-Control", "no-store")
	return writeJSON(w, r, http.StatusOK, map[string]any{"feeds": list, "waiting": waiting})
}

// decided reads what comes with a decision: the version that was looked at, and a note where one belongs to it.
func decided(w http.ResponseWriter, r *http.Request, noted bool) (version, note string, err error) {
	f, err := readFields(w, r)
	if err != nil {
		return "", "", err
	}
	version, _ = f.text("version")
	if noted {
		note = f.required("note")
	}
	return version, note, f.done()
}

// postApprove answers POST /v2/feeds/{id}/approve, whose body may be left out. Curators only.
func (a *api) postApprove(w http.ResponseWriter, r *http.Request, c *caller) error {
	id, err := feedID(r)
	if err != nil {
		return err
	}
	version := ""
	if r.ContentLength != 0 {
		if version, _, err = decided(w, r, false); err != nil {
			return err
		}
	}
	return a.answerFeed(w, r)(a.Feeds.Approve(r.Context(), feed.By(c.account), id, version))
}

// postReject answers POST /v2/feeds/{id}/reject. Curators only.
func (a *api) postReject(w http.ResponseWriter, r *http.Request, c *caller) error {
	id, err := feedID(r)
	if err != nil {
		return err
	}
	version, note, err := decided(w, r, true)
	if err != nil {
		return err
	}
	return a.answerFeed(w, r)(a.Feeds.Reject(r.Context(), feed.By(c.account), id, version, note))
}
