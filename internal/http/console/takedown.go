package console

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"wayside/internal/ground/mapdata"
	"wayside/internal/people/account"
	"wayside/internal/people/takedown"
)

const (
	hiddenPinsPath = "/review/pins"
	complaintsPath = "/review/complaints"
	accountsPath   = "/accounts"
)

func (c *Console) takedownRoutes() []Route {
	return []Route{
		{Method: http.MethodGet, Path: hiddenPinsPath, Who: account.ForCurators, Handle: c.getHiddenPins},
		{Method: http.MethodPost, Path: hiddenPinsPath, Who: account.ForCurators, Handle: c.postHiddenPin},
		{Method: http.MethodPost, Path: hiddenPinsPath + "/show", Who: account.ForCurators, Handle: c.postShownPin},
		{Method: http.MethodGet, Path: complaintsPath, Who: account.ForCurators, Handle: c.getComplaints},
		{Method: http.MethodPost, Path: complaintsPath + "/{id}/close", Who: account.ForCurators, Handle: c.postCloseComplaint},
		{Method: http.MethodGet, Path: reviewFeedPath + "/pause", Who: account.ForCurators, Handle: c.getFeedTakedown("pause")},
		{Method: http.MethodPost, Path: reviewFeedPath + "/pause", Who: account.ForCurators, Handle: c.postFeedTakedown("pause")},
		{Method: http.MethodGet, Path: reviewFeedPath + "/remove", Who: account.ForCurators, Handle: c.getFeedTakedown("remove")},
		{Method: http.MethodPost, Path: reviewFeedPath + "/remove", Who: account.ForCurators, Handle: c.postFeedTakedown("remove")},
		{Method: http.MethodPost, Path: reviewFeedPath + "/resume", Who: account.ForCurators, Handle: c.postFeedResumption},
		{Method: http.MethodGet, Path: accountsPath, Who: account.ForAdmins, Handle: c.getAccounts},
		{Method: http.MethodPost, Path: accountsPath + "/{id}/suspend", Who: account.ForAdmins, Handle: c.postSuspension},
		{Method: http.MethodPost, Path: accountsPath + "/{id}/resume", Who: account.ForAdmins, Handle: c.postAccountResumption},
	}
}

// hiddenPin is a hidden entity on a page.
type hiddenPin struct {
	*mapdata.HiddenPin
	ID      string
	KindID  string
	ForGood bool
}

func newHiddenPins(all []mapdata.HiddenPin) []hiddenPin {
	out := make([]hiddenPin, len(all))
	for i := range all {
		h := &all[i]
		out[i] = hiddenPin{h, mapdata.EntityID(h.Source, h.ExternalID), h.Kind.ID(), h.Until.Equal(mapdata.ForGood())}
	}
	return out
}

// hiddenPins is the data of the page of hidden pins, with the form that hides a pin.
type hiddenPins struct {
	Form    *Form
	Passkey *passkeyNeed
	Pins    []hiddenPin
	Days    []int // choices of how long a pin is hidden, besides permanently
}

func (c *Console) getHiddenPins(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	return c.showHiddenPins(w, r, v, newForm(url.Values{"id": {r.URL.Query().Get("id")}, "days": {"7"}}), http.StatusOK)
}

func (c *Console) showHiddenPins(w http.ResponseWriter, r *http.Request, v *Visitor, form *Form, status int) error {
	all, err := c.Takedowns.Hidden(r.Context(), mapdata.ActorOf(v.Account), mapdata.FeedID{})
	if err != nil {
		return err
	}
	page := hiddenPins{Form: form, Pins: newHiddenPins(all), Days: []int{1, 7, 30, 365}}
	return c.showDecision(w, r, v, &page.Passkey, &Page{Name: "review-pins", Status: status, Data: &page, Wide: true})
}

// showDecision shows a page with decisions, after it has set whether they need a passkey.
func (c *Console) showDecision(w http.ResponseWriter, r *http.Request, v *Visitor, need **passkeyNeed, p *Page) (err error) {
	if *need, err = c.needPasskey(r, v); err != nil {
		return err
	}
	p.Scripts = []string{PageScript}
	if *need != nil {
		p.Scripts = append(p.Scripts, PasskeyScript)
	}
	return c.show(w, r, v, p)
}

// postHiddenPin hides a pin.
func (c *Console) postHiddenPin(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	form, err := c.readDecision(w, r, v)
	if err != nil {
		return err
	}
	order := takedown.Order{Reason: form.raw("reason")}
	if days, err := strconv.Atoi(form.raw("days")); err == nil && days > 0 && days <= 365 {
		order.Until = c.Now().Add(time.Duration(days) * 24 * time.Hour)
	}
	_, err = c.Takedowns.Hide(r.Context(), mapdata.ActorOf(v.Account), strings.TrimSpace(form.raw("id")), order)
	switch {
	case err == nil:
		return seeOther(w, hiddenPinsPath+"?done=hidden")
	case errors.Is(err, mapdata.ErrNotFound):
		form.addError("id", v.Words.Text("wrong.id.unknown"))
	case !form.addErrors(v.Words, err):
		return err
	}
	return c.showHiddenPins(w, r, v, form, http.StatusUnprocessableEntity)
}

// postShownPin shows a hidden pin again.
func (c *Console) postShownPin(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	form, err := c.readDecision(w, r, v)
	if err != nil {
		return err
	}
	err = c.Takedowns.Show(r.Context(), mapdata.ActorOf(v.Account), form.raw("id"))
	if err != nil && !errors.Is(err, mapdata.ErrConflict) && !errors.Is(err, mapdata.ErrNotFound) { // somebody else showed it, or it is gone
		return err
	}
	return seeOther(w, hiddenPinsPath+"?done=shown")
}

// readDecision reads the form of a decision, and refuses the decision if the passkey that it needs was not used.
func (c *Console) readDecision(w http.ResponseWriter, r *http.Request, v *Visitor) (*Form, error) {
	form, err := readForm(w, r)
	if err != nil {
		return nil, err
	}
	return form, c.Passkeys.AllowDecision(r.Context(), v.Session)
}

// complaint is a driver's complaint on a page.
type complaint struct {
	*mapdata.Complaint
	EntityID string
	Address  string // of the source's review; empty: live incidents
}

// complaints is the queue of complaints.
type complaints struct {
	All  []complaint
	More int
}

func (c *Console) getComplaints(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	all, open, err := c.Takedowns.Complaints(r.Context(), mapdata.ActorOf(v.Account))
	if err != nil {
		return err
	}
	page := complaints{More: open - len(all)}
	for i := range all {
		one := complaint{Complaint: &all[i], EntityID: mapdata.EntityID(all[i].Source, all[i].ExternalID)}
		if id, ok := all[i].Source.FeedID(); ok {
			one.Address = reviewFeedURL(id)
		}
		page.All = append(page.All, one)
	}
	return c.show(w, r, v, &Page{Name: "review-complaints", Data: &page, Wide: true, Scripts: []string{PageScript}})
}

// postCloseComplaint removes a complaint from the queue.
func (c *Console) postCloseComplaint(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	form, err := readForm(w, r)
	if err != nil {
		return err
	}
	err = c.Takedowns.CloseComplaint(r.Context(), mapdata.ActorOf(v.Account), r.PathValue("id"), form.raw("note"))
	if err != nil && !errors.Is(err, mapdata.ErrNotFound) { // closed already
		return err
	}
	return seeOther(w, complaintsPath+"?done=closed")
}

// feedTakedown is the data of the page that asks for the reason why a feed is paused or removed.
type feedTakedown struct {
	*mapdata.Feed
	What     string // pause or remove
	Address  string
	Form     *Form
	Passkey  *passkeyNeed
	Entities int
}

func (c *Console) getFeedTakedown(what string) func(http.ResponseWriter, *http.Request, *Visitor) error {
	return func(w http.ResponseWriter, r *http.Request, v *Visitor) error {
		return c.showFeedTakedown(w, r, v, what, newForm(nil), http.StatusOK)
	}
}

func (c *Console) showFeedTakedown(w http.ResponseWriter, r *http.Request, v *Visitor, what string, form *Form, status int) error {
	id, err := feedID(r)
	if err != nil {
		return err
	}
	f, err := c.Feeds.Get(r.Context(), mapdata.ActorOf(v.Account), id)
	if err != nil {
		return err
	}
	page := feedTakedown{Feed: &f.Feed, What: what, Address: reviewFeedURL(id), Form: form, Entities: f.Entities}
	return c.showDecision(w, r, v, &page.Passkey, &Page{Name: "feed-takedown", Status: status, Data: &page})
}

func (c *Console) postFeedTakedown(what string) func(http.ResponseWriter, *http.Request, *Visitor) error {
	return func(w http.ResponseWriter, r *http.Request, v *Visitor) error {
		id, err := feedID(r)
		if err != nil {
			return err
		}
		form, err := c.readDecision(w, r, v)
		if err != nil {
			return err
		}
		done := reviewFeedURL(id) + "?done=feed-paused"
		if what == "remove" {
			done = reviewPath + "?done=feed-removed"
			err = c.Feeds.Remove(r.Context(), mapdata.ActorOf(v.Account), id, form.raw("reason"))
		} else {
			_, err = c.Feeds.Pause(r.Context(), mapdata.ActorOf(v.Account), id, form.raw("reason"))
		}
		if err == nil {
			return seeOther(w, done)
		}
		if !form.addErrors(v.Words, err) {
			return err
		}
		return c.showFeedTakedown(w, r, v, what, form, http.StatusUnprocessableEntity)
	}
}

// postFeedResumption ends a curator's pause.
func (c *Console) postFeedResumption(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	id, err := feedID(r)
	if err != nil {
		return err
	}
	if err := c.Passkeys.AllowDecision(r.Context(), v.Session); err != nil {
		return err
	}
	if _, err := c.Feeds.Resume(r.Context(), mapdata.ActorOf(v.Account), id); err != nil {
		return err
	}
	return seeOther(w, reviewFeedURL(id)+"?done=feed-resumed")
}

// accounts is the page on which admins find an account and suspend it.
type accounts struct {
	Form    *Form
	Passkey *passkeyNeed
	Found   *mapdata.Account // nil: no account was searched for, or none was found
}

// getAccounts answers GET /accounts?account=….
func (c *Console) getAccounts(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	form := newForm(r.URL.Query())
	wanted := strings.ToLower(strings.TrimSpace(form.raw("account")))
	if wanted == "" {
		return c.showAccounts(w, r, v, form, nil, http.StatusOK)
	}
	found, err := c.Accounts.Find(r.Context(), wanted)
	switch {
	case err == nil:
		return c.showAccounts(w, r, v, form, found, http.StatusOK)
	case errors.Is(err, mapdata.ErrNotFound):
		form.addError("account", v.Words.Text("wrong.account.unknown_account"))
	case !form.addErrors(v.Words, err):
		return err
	}
	return c.showAccounts(w, r, v, form, nil, http.StatusUnprocessableEntity)
}

func (c *Console) showAccounts(w http.ResponseWriter, r *http.Request, v *Visitor, form *Form, found *mapdata.Account, status int) error {
	page := accounts{Form: form, Found: found}
	return c.showDecision(w, r, v, &page.Passkey, &Page{Name: "accounts", Status: status, Data: &page})
}

// postSuspension suspends an account.
func (c *Console) postSuspension(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	form, err := c.readDecision(w, r, v)
	if err != nil {
		return err
	}
	a, err := c.Accounts.Suspend(r.Context(), v.Account, r.PathValue("id"), form.raw("reason"))
	if err == nil {
		return seeOther(w, accountsPath+"?account="+a.ID.String()+"&done=suspended")
	}
	if !form.addErrors(v.Words, err) {
		return err
	}
	found, err := c.Accounts.Find(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	return c.showAccounts(w, r, v, form, found, http.StatusUnprocessableEntity)
}

// postAccountResumption ends a suspension.
func (c *Console) postAccountResumption(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	if err := c.Passkeys.AllowDecision(r.Context(), v.Session); err != nil {
		return err
	}
	a, err := c.Accounts.Resume(r.Context(), v.Account, r.PathValue("id"))
	if err != nil {
		return err
	}
	return seeOther(w, accountsPath+"?account="+a.ID.String()+"&done=resumed")
}
