package feeds

import (
	"net/http"

	"wayside/internal/ground/mapdata"
	"wayside/internal/http/httpapi"
)

// maintainerJSON is an account that looks after a feed besides its owner.
type maintainerJSON struct {
	ID    string            `json:"id"`
	Email string            `json:"email"`
	Since httpapi.Timestamp `json:"since"`
}

// invitationJSON is an open invitation.
type invitationJSON struct {
	ID        string            `json:"id"`
	FeedID    string            `json:"feed_id"`
	FeedName  string            `json:"feed_name"`
	To        string            `json:"to"` // maintain or transfer
	Email     string            `json:"email"`
	By        string            `json:"by"`
	At        httpapi.Timestamp `json:"at"`
	ExpiresAt httpapi.Timestamp `json:"expires_at"`
}

func newInvitationJSON(i *mapdata.Invitation) invitationJSON {
	return invitationJSON{
		ID: i.ID, FeedID: i.Feed.String(), FeedName: i.FeedName, To: string(i.What), Email: i.Email, By: i.ByEmail,
		At: httpapi.Timestamp(i.At), ExpiresAt: httpapi.Timestamp(i.ExpiresAt),
	}
}

func newInvitationsJSON(all []mapdata.Invitation) []invitationJSON {
	list := make([]invitationJSON, len(all))
	for i := range all {
		list[i] = newInvitationJSON(&all[i])
	}
	return list
}

// getMaintainers answers GET /v2/feeds/{id}/maintainers with the accounts that look after a feed, and for its owner with the open
// invitations.
func (a *api) getMaintainers(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	id, err := feedID(r)
	if err != nil {
		return err
	}
	people, err := a.Feeds.People(r.Context(), mapdata.ActorOf(c.Account), id)
	if err != nil {
		return err
	}
	list := make([]maintainerJSON, len(people.Maintainers))
	for i, m := range people.Maintainers {
		list[i] = maintainerJSON{m.Account.String(), m.Email, httpapi.Timestamp(m.Since)}
	}
	return httpapi.WriteJSON(w, r, http.StatusOK, map[string]any{"maintainers": list, "invitations": newInvitationsJSON(people.Invitations)})
}

// postInvitation answers POST /v2/feeds/{id}/maintainers and POST /v2/feeds/{id}/transfer.
func (a *api) postInvitation(what mapdata.InvitedTo) httpapi.Handler {
	return func(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
		id, err := feedID(r)
		if err != nil {
			return err
		}
		if err := a.Feeds.CheckOwns(r.Context(), mapdata.ActorOf(c.Account), id); err != nil {
			return err
		}
		f, err := httpapi.ReadFields(w, r)
		if err != nil {
			return err
		}
		email := f.Required("email")
		if err := f.Check(); err != nil {
			return err
		}
		language := mapdata.AcceptedLanguage(r.Header.Get("Accept-Language"))
		invited, err := a.Feeds.Invite(r.Context(), mapdata.ActorOf(c.Account), id, what, email, language)
		if err != nil {
			return err
		}
		return httpapi.WriteJSON(w, r, http.StatusCreated, map[string]any{"invitation": newInvitationJSON(invited)})
	}
}

// deleteMaintainer answers DELETE /v2/feeds/{id}/maintainers/{account}, with which the owner removes a maintainer, or a maintainer
// leaves.
func (a *api) deleteMaintainer(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	id, err := feedID(r)
	if err != nil {
		return err
	}
	who, ok := mapdata.ParseAccountID(r.PathValue("account"))
	if !ok {
		return mapdata.ErrNotFound
	}
	if err := a.Feeds.EndMaintainer(r.Context(), mapdata.ActorOf(c.Account), id, who); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// getInvitations answers GET /v2/invitations with those to the caller's address.
func (a *api) getInvitations(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	all, err := a.Feeds.Invitations(r.Context(), mapdata.ActorOf(c.Account))
	if err != nil {
		return err
	}
	return httpapi.WriteJSON(w, r, http.StatusOK, map[string]any{"invitations": newInvitationsJSON(all)})
}

// postAccept answers POST /v2/invitations/{id}/accept, which takes no body.
func (a *api) postAccept(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	return a.answerFeed(w, r)(a.Feeds.Accept(r.Context(), mapdata.ActorOf(c.Account), r.PathValue("id")))
}

// deleteInvitation answers DELETE /v2/invitations/{id}, with which the invited account declines, or the owner withdraws.
func (a *api) deleteInvitation(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	if _, err := a.Feeds.CloseInvitation(r.Context(), mapdata.ActorOf(c.Account), r.PathValue("id")); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
