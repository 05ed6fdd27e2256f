package feeds

import (
	"net/http"
	"time"

	"wayside/internal/feeds/feed"
	"wayside/internal/ground/mapdata"
	"wayside/internal/http/httpapi"
)

// feedID parses the feed's id in the path.
func feedID(r *http.Request) (mapdata.FeedID, error) {
	id, ok := mapdata.ParseFeedID(r.PathValue("id"))
	if !ok {
		return id, mapdata.ErrNotFound
	}
	return id, nil
}

// getFeeds answers GET /v2/feeds with the caller's own feeds, then the public catalogue.
func (a *api) getFeeds(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	views, err := a.Feeds.List(r.Context(), mapdata.ActorOf(c.Account))
	if err != nil {
		return err
	}
	list := make([]any, len(views))
	for i := range views {
		list[i] = NewFeedJSON(&views[i])
	}
	return httpapi.WriteJSON(w, r, http.StatusOK, map[string]any{"feeds": list})
}

// registeredFeed is the answer to a registration. Only this and a rotation contain the push token.
type registeredFeed struct {
	Feed  any       `json:"feed"`
	Layer layerJSON `json:"layer"`
	Token string    `json:"push_ingest_token,omitempty"`
}

// postFeed answers POST /v2/feeds.
func (a *api) postFeed(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	f, err := httpapi.ReadFields(w, r)
	if err != nil {
		return err
	}
	registration := feed.Registration{Direction: f.OrEmpty("direction"), Settings: settings(f)}
	if err := f.Check(); err != nil {
		return httpapi.MergeFieldErrors(err, a.Feeds.CheckRegistration(&registration))
	}
	view, token, err := a.Feeds.Register(r.Context(), mapdata.ActorOf(c.Account), &registration)
	if err != nil {
		return err
	}
	w.Header().Set("Location", "/v2/feeds/"+view.ID.String())
	return httpapi.WriteJSON(w, r, http.StatusCreated, registeredFeed{NewFeedJSON(view), newLayerJSON(&view.Layer), token})
}

// getFeed answers GET /v2/feeds/{id}.
func (a *api) getFeed(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	id, err := feedID(r)
	if err != nil {
		return err
	}
	return a.answerFeed(w, r)(a.Feeds.Get(r.Context(), mapdata.ActorOf(c.Account), id))
}

// patchFeed answers PATCH /v2/feeds/{id}.
func (a *api) patchFeed(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	id, err := feedID(r)
	if err != nil {
		return err
	}
	f, err := httpapi.ReadFields(w, r)
	if err != nil {
		return err
	}
	patch, by := patch(f), mapdata.ActorOf(c.Account)
	if err := f.Check(); err != nil {
		return httpapi.MergeFieldErrors(err, a.Feeds.CheckPatch(r.Context(), by, id, &patch))
	}
	return a.answerFeed(w, r)(a.Feeds.Patch(r.Context(), by, id, &patch))
}

// deleteFeed answers DELETE /v2/feeds/{id} (D5.6).
func (a *api) deleteFeed(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	id, err := feedID(r)
	if err != nil {
		return err
	}
	if err := a.Feeds.Delete(r.Context(), mapdata.ActorOf(c.Account), id); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// postRotateToken answers POST /v2/feeds/{id}/rotate-token, which takes no body.
func (a *api) postRotateToken(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	id, err := feedID(r)
	if err != nil {
		return err
	}
	token, err := a.Feeds.RotateToken(r.Context(), mapdata.ActorOf(c.Account), id)
	if err != nil {
		return err
	}
	return httpapi.WriteJSON(w, r, http.StatusOK, map[string]string{"feed_id": id.String(), "push_ingest_token": token})
}

func (a *api) answerFeed(w http.ResponseWriter, r *http.Request) func(*feed.View, error) error {
	return func(view *feed.View, err error) error {
		if err != nil {
			return err
		}
		return httpapi.WriteJSON(w, r, http.StatusOK, map[string]any{"feed": NewFeedJSON(view)})
	}
}

type voteDayJSON struct {
	Day      string `json:"day"`
	Confirms int    `json:"confirms"`
	Disputes int    `json:"disputes"`
}

// getFeedVotes answers GET /v2/feeds/{id}/votes with the votes of drivers on the feed's entities, by days.
func (a *api) getFeedVotes(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	id, err := feedID(r)
	if err != nil {
		return err
	}
	days, err := a.Feeds.VoteDays(r.Context(), mapdata.ActorOf(c.Account), id)
	if err != nil {
		return err
	}
	list := make([]voteDayJSON, len(days))
	for i, d := range days {
		list[i] = voteDayJSON{d.Day.Format(time.DateOnly), d.Confirms, d.Disputes}
	}
	return httpapi.WriteJSON(w, r, http.StatusOK, map[string]any{"days": list})
}
