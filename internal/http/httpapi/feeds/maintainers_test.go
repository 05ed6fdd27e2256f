package feeds_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"wayside/internal/ground/mapdata"
	"wayside/internal/http/httpapi/httpapitest"
)

func TestMaintainer(t *testing.T) {
	t.Parallel()
	d := httpapitest.NewService(t)
	owner, colleague := d.SignedInAs("owner@example.org", mapdata.Driver), d.SignedInAs("colleague@example.org", mapdata.Curator)
	stranger := d.SignedInAs("stranger@example.org", mapdata.Driver)
	f := owner.RegisterPush("Police")
	d.EmailsAs()
	owner.Invites(f, "maintain", " Colleague@Example.org ").Want(t, http.StatusCreated)
	if got := d.EmailsAs(); got != "feed_invited colleague@example.org" {
		t.Errorf("e-mails: %s", got)
	}
	owner.Invites(f, "maintain", "nobody").Want(t, http.StatusUnprocessableEntity)
	owner.Invites(f, "maintain", "colleague@example.org").Want(t, http.StatusConflict)
	owner.Invites(f, "maintain", "owner@example.org").Want(t, http.StatusConflict)
	invitation := colleague.Invitation()
	stranger.Send(http.MethodPost, invitation+"/accept", "").Want(t, http.StatusNotFound)
	stranger.Send(http.MethodDelete, invitation, "").Want(t, http.StatusNotFound)
	colleague.Send(http.MethodPatch, f.Path(), `{"description": "new"}`).Want(t, http.StatusNotFound)

	colleague.Send(http.MethodPost, invitation+"/accept", "").Want(t, http.StatusOK)
	if got := d.EmailsAs(); got != "feed_maintainer_joined owner@example.org" {
		t.Errorf("e-mails: %s", got)
	}
	colleague.Send(http.MethodPatch, f.Path(), `{"description": "new"}`).Want(t, http.StatusOK)
	token := struct {
		Token string `json:"push_ingest_token"`
	}{}
	colleague.Send(http.MethodPost, f.Path()+"/rotate-token", "").Want(t, http.StatusOK).Decode(t, &token)
	d.Push(token.Token, "["+httpapitest.Row("p", "alert.police", 0)+"]").Want(t, http.StatusOK)
	d.WaitFor("a maintainer does not read the private feed", func() bool { return len(d.NearbyIDs(colleague)) == 1 })
	if ids := d.NearbyIDs(stranger); len(ids) > 0 {
		t.Errorf("a stranger reads %v", ids)
	}
	pin, _ := colleague.Read(httpapitest.NearbyPath).Entities[0]["id"].(string)
	for _, refused := range []httpapitest.Reply{
		colleague.Send(http.MethodDelete, f.Path(), ""),
		colleague.Invites(f, "maintain", "x@example.org"), colleague.Invites(f, "transfer", "x@example.org"),
		colleague.Send(http.MethodPost, f.Path()+"/approve", ""),            // D11.9
		colleague.Send(http.MethodPost, "/v2/entities/"+pin+"/confirm", ""), // D9.8
		colleague.Send(http.MethodPost, f.Path()+"/pause", `{"reason": "r"}`),
	} {
		refused.Want(t, http.StatusForbidden)
	}
	var people httpapitest.Invitations
	owner.Send(http.MethodGet, f.Path()+"/maintainers", "").Want(t, http.StatusOK).Decode(t, &people)
	if len(people.Maintainers) != 1 || people.Maintainers[0].Email != "colleague@example.org" {
		t.Fatalf("maintainers: %+v", people)
	}
	d.EmailsAs()
	owner.Send(http.MethodDelete, f.Path()+"/maintainers/"+people.Maintainers[0].ID, "").Want(t, http.StatusNoContent)
	colleague.Send(http.MethodPatch, f.Path(), `{"description": "newer"}`).Want(t, http.StatusNotFound)
	if got := d.EmailsAs(); got != "feed_maintainer_removed colleague@example.org" {
		t.Errorf("e-mails: %s", got)
	}
	d.WaitFor("a removed maintainer still reads the private feed", func() bool { return len(d.NearbyIDs(colleague)) == 0 })
}

func TestTransfer(t *testing.T) {
	t.Parallel()
	d := httpapitest.NewService(t)
	owner, receiver := d.SignedInAs("owner@example.org", mapdata.Driver), d.SignedInAs("receiver@example.org", mapdata.Driver)
	f := owner.RegisterPush("Police")
	owner.Invites(f, "transfer", "receiver@example.org").Want(t, http.StatusCreated)
	receiver.Send(http.MethodGet, f.Path(), "").Want(t, http.StatusNotFound)
	receiver.Send(http.MethodDelete, receiver.Invitation(), "").Want(t, http.StatusNoContent) // declines
	owner.Invites(f, "transfer", "receiver@example.org").Want(t, http.StatusCreated)
	d.EmailsAs()
	receiver.Send(http.MethodPost, receiver.Invitation()+"/accept", "").Want(t, http.StatusOK)
	if got := d.EmailsAs(); got != "feed_transferred owner@example.org, feed_received receiver@example.org" {
		t.Errorf("e-mails: %s", got)
	}
	owner.Send(http.MethodGet, f.Path(), "").Want(t, http.StatusNotFound)
	d.Push(*f.Token, "["+httpapitest.Row("p", "alert.police", 0)+"]").Want(t, http.StatusOK) // the token stays
	d.WaitFor("the new owner does not read the feed", func() bool { return len(d.NearbyIDs(receiver)) == 1 })
	owner.Send(http.MethodDelete, "/v2/account", `{"email": "owner@example.org"}`).Want(t, http.StatusNoContent)
	receiver.Send(http.MethodGet, f.Path(), "").Want(t, http.StatusOK)
}

// TestAcceptIsRefused checks that the receiver's limit of feeds holds, and a suspended owner's feeds do not leave.
func TestAcceptIsRefused(t *testing.T) {
	t.Parallel()
	d := httpapitest.NewService(t)
	owner, receiver := d.SignedInAs("owner@example.org", mapdata.Driver), d.SignedInAs("receiver@example.org", mapdata.Driver)
	f := owner.RegisterPush("Police")
	receiver.RegisterPush("Own")
	owner.Invites(f, "transfer", "receiver@example.org").Want(t, http.StatusCreated)
	accept := receiver.Invitation() + "/accept"
	d.Feeds.SetLimit(1)
	receiver.Send(http.MethodPost, accept, "").Want(t, http.StatusConflict)
	d.Feeds.SetLimit(2)
	id := d.AccountOf("owner@example.org").ID.String()
	admin := d.SignedInAs("admin@example.org", mapdata.Admin)
	admin.Send(http.MethodPost, "/v2/accounts/"+id+"/suspend", `{"reason": "r"}`)
	receiver.Send(http.MethodPost, accept, "").Want(t, http.StatusConflict)
	admin.Send(http.MethodPost, "/v2/accounts/"+id+"/resume", "")
	receiver.Send(http.MethodPost, accept, "").Want(t, http.StatusOK)
}

func TestInvitationPages(t *testing.T) {
	t.Parallel()
	d := httpapitest.NewService(t)
	owner, colleague := d.SignedInAs("owner@example.org", mapdata.Driver), d.SignedInAs("colleague@example.org", mapdata.Driver)
	f := owner.RegisterPush("Police & more")
	people := "/feeds/" + f.ID() + "/people"
	owner.PostForm(people, url.Values{"what": {"maintain"}, "email": {"nobody"}}).Want(t, http.StatusUnprocessableEntity)
	owner.PostForm(people, url.Values{"what": {"maintain"}, "email": {"colleague@example.org"}}).Want(t, http.StatusOK)
	if page := owner.Page(people, http.StatusOK); !strings.Contains(page, "colleague@example.org") || !strings.Contains(page, "maintain the feed") {
		t.Errorf("the owner's page: %s", page)
	}
	page := colleague.Page("/feeds", http.StatusOK)
	if !strings.Contains(page, "owner@example.org</bdi> invites you") && !strings.Contains(page, "owner@example.org invites you") {
		t.Errorf("the invited account's page: %s", page)
	}
	accept := strings.Replace(colleague.Invitation(), "/v2", "", 1) + "/accept"
	colleague.PostForm(accept, url.Values{}).Want(t, http.StatusOK)
	colleague.Page("/feeds/"+f.ID()+"/edit", http.StatusOK)
	colleague.Page("/feeds/"+f.ID()+"/delete", http.StatusForbidden)
	if page := colleague.Page("/feeds/"+f.ID(), http.StatusOK); strings.Contains(page, "/delete") {
		t.Error("a maintainer is offered to delete the feed")
	}
	if page := colleague.Page(people, http.StatusOK); strings.Contains(page, "Invite someone") || !strings.Contains(page, "Leave this feed") {
		t.Errorf("the maintainer's page: %s", page)
	}
	id := d.AccountOf("colleague@example.org").ID.String()
	colleague.PostForm(people+"/"+id+"/end", url.Values{}).Want(t, http.StatusOK)
	colleague.Page(people, http.StatusNotFound)
}
