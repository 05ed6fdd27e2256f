package feeds

import (
	"net/http"
	"time"

	"wayside/internal/entities/nearby"
	"wayside/internal/ground/mapdata"
	"wayside/internal/http/httpapi"
	"wayside/internal/people/takedown"
)

// hiddenPin is an entity that a curator hides.
type hiddenPin struct {
	ID       string            `json:"id"`
	Source   string            `json:"source"`
	KindID   string            `json:"kind_id"`
	HiddenAt httpapi.Timestamp `json:"hidden_at"`
	Until    httpapi.Timestamp `json:"until"` // null: permanently
	Reason   string            `json:"reason"`
}

func newHiddenPin(p *mapdata.HiddenPin) hiddenPin {
	j := hiddenPin{
		ID: mapdata.EntityID(p.Source, p.ExternalID), Source: string(p.Source), KindID: p.Kind.ID(),
		HiddenAt: httpapi.Timestamp(p.HiddenAt), Until: httpapi.Timestamp(p.Until), Reason: p.Reason,
	}
	if p.Until.Equal(mapdata.ForGood()) {
		j.Until = httpapi.Timestamp{}
	}
	return j
}

// postHide answers POST /v2/entities/{id}/hide. Curators only.
func (a *api) postHide(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	f, err := httpapi.ReadFields(w, r)
	if err != nil {
		return err
	}
	order := takedown.Order{Reason: f.Required("reason"), Until: timeIn(f, "until")}
	if err := f.Check(); err != nil {
		return err
	}
	if err := a.Passkeys.AllowDecision(r.Context(), c.Session); err != nil {
		return err
	}
	hidden, err := a.Takedowns.Hide(r.Context(), mapdata.ActorOf(c.Account), r.PathValue("id"), order)
	if err != nil {
		return err
	}
	return httpapi.WriteJSON(w, r, http.StatusOK, map[string]any{"hidden": newHiddenPin(hidden)})
}

// timeIn takes a time; zero: absent.
func timeIn(f *httpapi.Fields, name string) time.Time {
	text, ok := f.Text(name)
	if !ok {
		return time.Time{}
	}
	at, err := mapdata.ParseTime(text)
	if err != nil {
		f.AddError(name, "invalid_time", "must be a time such as 2026-11-22T08:00:00Z (RFC 3339)")
	}
	return at
}

// postShow answers POST /v2/entities/{id}/show, which takes no body. Curators only.
func (a *api) postShow(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	if err := a.Passkeys.AllowDecision(r.Context(), c.Session); err != nil {
		return err
	}
	if err := a.Takedowns.Show(r.Context(), mapdata.ActorOf(c.Account), r.PathValue("id")); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// getReviewPins answers GET /v2/review/pins with all entities that curators hide.
func (a *api) getReviewPins(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	return a.answerHidden(w, r, c, mapdata.FeedID{})
}

// getFeedHidden answers GET /v2/feeds/{id}/hidden with the entities of a feed that curators hide, for its owner and for curators.
func (a *api) getFeedHidden(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	id, err := feedID(r)
	if err != nil {
		return err
	}
	return a.answerHidden(w, r, c, id)
}

func (a *api) answerHidden(w http.ResponseWriter, r *http.Request, c *httpapi.Caller, id mapdata.FeedID) error {
	all, err := a.Takedowns.Hidden(r.Context(), mapdata.ActorOf(c.Account), id)
	if err != nil {
		return err
	}
	list := make([]hiddenPin, len(all))
	for i := range all {
		list[i] = newHiddenPin(&all[i])
	}
	return httpapi.WriteJSON(w, r, http.StatusOK, map[string]any{"hidden": list})
}

// postPause answers POST /v2/feeds/{id}/pause. Curators only; an owner changes "active".
func (a *api) postPause(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	id, err := feedID(r)
	if err != nil {
		return err
	}
	reason, err := httpapi.ReadReason(w, r)
	if err != nil {
		return err
	}
	if err := a.Passkeys.AllowDecision(r.Context(), c.Session); err != nil {
		return err
	}
	return a.answerFeed(w, r)(a.Feeds.Pause(r.Context(), mapdata.ActorOf(c.Account), id, reason))
}

// postResume answers POST /v2/feeds/{id}/resume, which takes no body. Curators only.
func (a *api) postResume(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	id, err := feedID(r)
	if err != nil {
		return err
	}
	if err := a.Passkeys.AllowDecision(r.Context(), c.Session); err != nil {
		return err
	}
	return a.answerFeed(w, r)(a.Feeds.Resume(r.Context(), mapdata.ActorOf(c.Account), id))
}

// postRemove answers POST /v2/feeds/{id}/remove. Curators only; an owner sends DELETE.
func (a *api) postRemove(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	id, err := feedID(r)
	if err != nil {
		return err
	}
	reason, err := httpapi.ReadReason(w, r)
	if err != nil {
		return err
	}
	if err := a.Passkeys.AllowDecision(r.Context(), c.Session); err != nil {
		return err
	}
	if err := a.Feeds.Remove(r.Context(), mapdata.ActorOf(c.Account), id, reason); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// complaintJSON is a driver's complaint in the curators' queue.
type complaintJSON struct {
	ID         string            `json:"id"`
	Source     string            `json:"source"`
	SourceName *string           `json:"source_name"` // null: live incidents
	EntityID   string            `json:"entity_id"`
	By         ownerJSON         `json:"by"`
	Text       string            `json:"text"`
	At         httpapi.Timestamp `json:"at"`
}

// postComplaint answers POST /v2/entities/{id}/complaint, with which a driver reports that a pin is wrong. A complaint about an
// entity that the account cannot read is answered with 404, as the entity itself.
func (a *api) postComplaint(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	f, err := httpapi.ReadFields(w, r)
	if err != nil {
		return err
	}
	text := f.OrEmpty("text")
	if err := f.Check(); err != nil {
		return err
	}
	id := r.PathValue("id")
	if _, err := a.Nearby.Entity(r.Context(), id, &nearby.Query{Account: c.ID(), Tier: c.Tier()}); err != nil {
		return err
	}
	if err := a.Takedowns.Complain(r.Context(), c.ID(), id, text); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// getReviewComplaints answers GET /v2/review/complaints with the open complaints, the oldest first.
func (a *api) getReviewComplaints(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	all, open, err := a.Takedowns.Complaints(r.Context(), mapdata.ActorOf(c.Account))
	if err != nil {
		return err
	}
	list := make([]complaintJSON, len(all))
	for i := range all {
		one := &all[i]
		list[i] = complaintJSON{
			ID: one.ID, Source: string(one.Source), EntityID: mapdata.EntityID(one.Source, one.ExternalID),
			By: ownerJSON{one.Account.String(), one.Email}, Text: one.Text, At: httpapi.Timestamp(one.At),
		}
		if one.SourceName != "" {
			list[i].SourceName = &one.SourceName
		}
	}
	return httpapi.WriteJSON(w, r, http.StatusOK, map[string]any{"complaints": list, "open": open})
}

// postCloseComplaint answers POST /v2/review/complaints/{id}/close. Curators only.
func (a *api) postCloseComplaint(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	f, err := httpapi.ReadFields(w, r)
	if err != nil {
		return err
	}
	note := f.OrEmpty("note")
	if err := f.Check(); err != nil {
		return err
	}
	if err := a.Takedowns.CloseComplaint(r.Context(), mapdata.ActorOf(c.Account), r.PathValue("id"), note); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
