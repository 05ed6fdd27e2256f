package httpapi

import (
	"net/http"
	"time"

	"wayside/internal/entities/nearby"
	"wayside/internal/ground/mapdata"
	"wayside/internal/people/takedown"
)

// hiddenPin is an entity that a curator hides.
type hiddenPin struct {
	ID       string    `json:"id"`
	Source   string    `json:"source"`
	KindID   string    `json:"kind_id"`
	HiddenAt timestamp `json:"hidden_at"`
	Until    timestamp `json:"until"` // null: permanently
	Reason   string    `json:"reason"`
}

func newHiddenPin(p *mapdata.HiddenPin) hiddenPin {
	j := hiddenPin{
		ID: mapdata.EntityID(p.Source, p.ExternalID), Source: string(p.Source), KindID: p.Kind.ID(),
		HiddenAt: timestamp(p.HiddenAt), Until: timestamp(p.Until), Reason: p.Reason,
	}
	if p.Until.Equal(mapdata.ForGood()) {
		j.Until = timestamp{}
	}
	return j
}

// postHide answers POST /v2/entities/{id}/hide. Curators only.
func (a *api) postHide(w http.ResponseWriter, r *http.Request, c *caller) error {
	f, err := readFields(w, r)
	if err != nil {
		return err
	}
	order := takedown.Order{Reason: f.required("reason"), Until: f.time("until")}
	if err := f.check(); err != nil {
		return err
	}
	if err := a.Passkeys.AllowDecision(r.Context(), c.session); err != nil {
		return err
	}
	hidden, err := a.Takedowns.Hide(r.Context(), mapdata.ActorOf(c.account), r.PathValue("id"), order)
	if err != nil {
		return err
	}
	return writeJSON(w, r, http.StatusOK, map[string]any{"hidden": newHiddenPin(hidden)})
}

// time takes a time; zero: absent.
func (f *requestFields) time(name string) time.Time {
	text, ok := f.text(name)
	if !ok {
		return time.Time{}
	}
	at, err := mapdata.ParseTime(text)
	if err != nil {
		f.addError(name, "invalid_time", "must be a time such as 2026-11-22T08:00:00Z (RFC 3339)")
	}
	return at
}

// postShow answers POST /v2/entities/{id}/show, which takes no body. Curators only.
func (a *api) postShow(w http.ResponseWriter, r *http.Request, c *caller) error {
	if err := a.Passkeys.AllowDecision(r.Context(), c.session); err != nil {
		return err
	}
	if err := a.Takedowns.Show(r.Context(), mapdata.ActorOf(c.account), r.PathValue("id")); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// getReviewPins answers GET /v2/review/pins with all entities that curators hide.
func (a *api) getReviewPins(w http.ResponseWriter, r *http.Request, c *caller) error {
	return a.answerHidden(w, r, c, mapdata.FeedID{})
}

// getFeedHidden answers GET /v2/feeds/{id}/hidden with the entities of a feed that curators hide, for its owner and for curators.
func (a *api) getFeedHidden(w http.ResponseWriter, r *http.Request, c *caller) error {
	id, err := feedID(r)
	if err != nil {
		return err
	}
	return a.answerHidden(w, r, c, id)
}

func (a *api) answerHidden(w http.ResponseWriter, r *http.Request, c *caller, id mapdata.FeedID) error {
	all, err := a.Takedowns.Hidden(r.Context(), mapdata.ActorOf(c.account), id)
	if err != nil {
		return err
	}
	list := make([]hiddenPin, len(all))
	for i := range all {
		list[i] = newHiddenPin(&all[i])
	}
	return writeJSON(w, r, http.StatusOK, map[string]any{"hidden": list})
}

// readReason reads a body that contains only a reason.
func readReason(w http.ResponseWriter, r *http.Request) (string, error) {
	f, err := readFields(w, r)
	if err != nil {
		return "", err
	}
	reason := f.required("reason")
	return reason, f.check()
}

// postPause answers POST /v2/feeds/{id}/pause. Curators only; an owner changes "active".
func (a *api) postPause(w http.ResponseWriter, r *http.Request, c *caller) error {
	id, err := feedID(r)
	if err != nil {
		return err
	}
	reason, err := readReason(w, r)
	if err != nil {
		return err
	}
	if err := a.Passkeys.AllowDecision(r.Context(), c.session); err != nil {
		return err
	}
	return a.answerFeed(w, r)(a.Feeds.Pause(r.Context(), mapdata.ActorOf(c.account), id, reason))
}

// postResume answers POST /v2/feeds/{id}/resume, which takes no body. Curators only.
func (a *api) postResume(w http.ResponseWriter, r *http.Request, c *caller) error {
	id, err := feedID(r)
	if err != nil {
		return err
	}
	if err := a.Passkeys.AllowDecision(r.Context(), c.session); err != nil {
		return err
	}
	return a.answerFeed(w, r)(a.Feeds.Resume(r.Context(), mapdata.ActorOf(c.account), id))
}

// postRemove answers POST /v2/feeds/{id}/remove. Curators only; an owner sends DELETE.
func (a *api) postRemove(w http.ResponseWriter, r *http.Request, c *caller) error {
	id, err := feedID(r)
	if err != nil {
		return err
	}
	reason, err := readReason(w, r)
	if err != nil {
		return err
	}
	if err := a.Passkeys.AllowDecision(r.Context(), c.session); err != nil {
		return err
	}
	if err := a.Feeds.Remove(r.Context(), mapdata.ActorOf(c.account), id, reason); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// complaintJSON is a driver's complaint in the curators' queue.
type complaintJSON struct {
	ID         string    `json:"id"`
	Source     string    `json:"source"`
	SourceName *string   `json:"source_name"` // null: live incidents
	EntityID   string    `json:"entity_id"`
	By         ownerJSON `json:"by"`
	Text       string    `json:"text"`
	At         timestamp `json:"at"`
}

// postComplaint answers POST /v2/entities/{id}/complaint, with which a driver reports that a pin is wrong. A complaint about an
// entity that the account cannot read is answered with 404, as the entity itself.
func (a *api) postComplaint(w http.ResponseWriter, r *http.Request, c *caller) error {
	f, err := readFields(w, r)
	if err != nil {
		return err
	}
	text := f.orEmpty("text")
	if err := f.check(); err != nil {
		return err
	}
	id := r.PathValue("id")
	if _, err := a.Nearby.Entity(r.Context(), id, &nearby.Query{Account: c.id(), Tier: c.tier()}); err != nil {
		return err
	}
	if err := a.Takedowns.Complain(r.Context(), c.id(), id, text); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// getReviewComplaints answers GET /v2/review/complaints with the open complaints, the oldest first.
func (a *api) getReviewComplaints(w http.ResponseWriter, r *http.Request, c *caller) error {
	all, open, err := a.Takedowns.Complaints(r.Context(), mapdata.ActorOf(c.account))
	if err != nil {
		return err
	}
	list := make([]complaintJSON, len(all))
	for i := range all {
		one := &all[i]
		list[i] = complaintJSON{
			ID: one.ID, Source: string(one.Source), EntityID: mapdata.EntityID(one.Source, one.ExternalID),
			By: ownerJSON{one.Account.String(), one.Email}, Text: one.Text, At: timestamp(one.At),
		}
		if one.SourceName != "" {
			list[i].SourceName = &one.SourceName
		}
	}
	return writeJSON(w, r, http.StatusOK, map[string]any{"complaints": list, "open": open})
}

// postCloseComplaint answers POST /v2/review/complaints/{id}/close. Curators only.
func (a *api) postCloseComplaint(w http.ResponseWriter, r *http.Request, c *caller) error {
	f, err := readFields(w, r)
	if err != nil {
		return err
	}
	note := f.orEmpty("note")
	if err := f.check(); err != nil {
		return err
	}
	if err := a.Takedowns.CloseComplaint(r.Context(), mapdata.ActorOf(c.account), r.PathValue("id"), note); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
