package console

import (
	"net/http"
	"net/url"

	"wayside/internal/feeds/feed"
	"wayside/internal/ground/mapdata"
	"wayside/internal/people/account"
)

const invitationPath = "/invitations/{id}"

func (c *Console) maintainerRoutes() []Route {
	return []Route{
		{Method: http.MethodGet, Path: feedPath + "/people", Who: account.ForOwners, Handle: c.getPeople},
		{Method: http.MethodPost, Path: feedPath + "/people", Who: account.ForOwnersAlone, Handle: c.postInvitation},
		{Method: http.MethodPost, Path: feedPath + "/people/{account}/end", Who: account.ForOwners, Handle: c.postEndMaintainer},
		{Method: http.MethodPost, Path: invitationPath + "/accept", Who: account.ForOwners, Handle: c.postAccept},
		{Method: http.MethodPost, Path: invitationPath + "/end", Who: account.ForOwners, Handle: c.postEndInvitation},
	}
}

// ownerOnly returns the error for actions that maintainers may not take.
func ownerOnly() error {
	return mapdata.Explain(mapdata.ErrForbidden, "owner_only", "Only the owner of the feed may do this, not its maintainers.")
}

func peopleURL(id mapdata.FeedID) string { return feedURL(id) + "/people" }

// peoplePage shows who looks after a feed.
type peoplePage struct {
	*feed.People
	Address string
	Form    *Form
	Self    mapdata.AccountID
	Most    int // maintainers of a feed
}

func (c *Console) getPeople(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	return c.showPeople(w, r, v, newForm(url.Values{"what": {string(mapdata.InvitedToMaintain)}}), http.StatusOK)
}

func (c *Console) showPeople(w http.ResponseWriter, r *http.Request, v *Visitor, form *Form, status int) error {
	id, err := feedID(r)
	if err != nil {
		return err
	}
	people, err := c.Feeds.People(r.Context(), mapdata.ActorOf(v.Account), id)
	if err != nil {
		return err
	}
	return c.show(w, r, v, &Page{Name: "feed-people", Status: status, Scripts: []string{PageScript}, Data: peoplePage{
		People: people, Address: feedURL(id), Form: form, Self: v.ID(), Most: mapdata.MaxMaintainers,
	}})
}

// postInvitation invites somebody to maintain the feed, or to take it over.
func (c *Console) postInvitation(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	id, err := feedID(r)
	if err != nil {
		return err
	}
	if err := c.Feeds.CheckOwns(r.Context(), mapdata.ActorOf(v.Account), id); err != nil {
		return err
	}
	form, err := readForm(w, r)
	if err != nil {
		return err
	}
	what := mapdata.InvitedToMaintain
	if form.raw("what") == string(mapdata.InvitedToTransfer) {
		what = mapdata.InvitedToTransfer
	}
	_, err = c.Feeds.Invite(r.Context(), mapdata.ActorOf(v.Account), id, what, form.raw("email"), v.Words.Language)
	switch {
	case err == nil:
		return seeOther(w, peopleURL(id)+"?done=invited")
	case !form.addErrors(v.Words, err):
		return err
	}
	return c.showPeople(w, r, v, form, http.StatusUnprocessableEntity)
}

// postEndMaintainer removes a maintainer, or lets one leave.
func (c *Console) postEndMaintainer(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	id, err := feedID(r)
	if err != nil {
		return err
	}
	who, ok := mapdata.ParseAccountID(r.PathValue("account"))
	if !ok {
		return mapdata.ErrNotFound
	}
	if err := c.Feeds.EndMaintainer(r.Context(), mapdata.ActorOf(v.Account), id, who); err != nil {
		return err
	}
	if who == v.ID() {
		return seeOther(w, feedsPath+"?done=left")
	}
	return seeOther(w, peopleURL(id)+"?done=maintainer-removed")
}

// postAccept accepts an invitation to the visitor's address.
func (c *Console) postAccept(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	f, err := c.Feeds.Accept(r.Context(), mapdata.ActorOf(v.Account), r.PathValue("id"))
	if err != nil {
		return err
	}
	return seeOther(w, feedURL(f.ID)+"?done=accepted")
}

// postEndInvitation declines an invitation, or withdraws one.
func (c *Console) postEndInvitation(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	id, err := c.Feeds.CloseInvitation(r.Context(), mapdata.ActorOf(v.Account), r.PathValue("id"))
	if err != nil {
		return err
	}
	if _, err := c.Feeds.People(r.Context(), mapdata.ActorOf(v.Account), id); err == nil {
		return seeOther(w, peopleURL(id)+"?done=invitation-ended")
	}
	return seeOther(w, feedsPath+"?done=invitation-ended")
}
