package httpapi_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"wayside/internal/ground/mapdata"
)

type invitations struct {
	Invitations []struct{ ID, To, Email, By string } `json:"invitations"`
	Maintainers []struct{ ID, Email string }         `json:"maintainers"`
}

// invites sends an invitation of the feed, to maintain it or to take it over.
func (b *browser) invites(f *registered, what, email string) reply {
	path := map[string]string{"maintain": "/maintainers", "transfer": "/transfer"}[what]
	return b.send(http.MethodPost, f.path()+path, `{"email": "`+email+`"}`)
}

// invitation returns the only open invitation to the browser's address.
func (b *browser) invitation() string {
	b.t.Helper()
	var got invitations
	b.send(http.MethodGet, "/v2/invitations", "").want(b.t, http.StatusOK).decode(b.t, &got)
	if len(got.Invitations) != 1 {
		b.t.Fatalf("%d invitations", len(got.Invitations))
	}
	return "/v2/invitations/" + got.Invitations[0].ID
}

// emailsAs lists the waiting e-mails, each as its kind and its address.
func (d *testService) emailsAs() string {
	d.t.Helper()
	var all []string
	for _, l := range d.takeEmails() {
		all = append(all, string(l.Kind)+" "+l.Address)
	}
	return strings.Join(all, ", ")
}

func TestMaintainer(t *testing.T) {
	t.Parallel()
	d := newTestService(t)
	owner, colleague := d.signedInAs("owner@example.org", mapdata.Driver), d.signedInAs("colleague@example.org", mapdata.Curator)
	stranger := d.signedInAs("stranger@example.org", mapdata.Driver)
	f := owner.registerPush("Police")
	d.emailsAs()
	owner.invites(f, "maintain", " Colleague@Example.org ").want(t, http.StatusCreated)
	if got := d.emailsAs(); got != "feed_invited colleague@example.org" {
		t.Errorf("e-mails: %s", got)
	}
	owner.invites(f, "maintain", "nobody").want(t, http.StatusUnprocessableEntity)
	owner.invites(f, "maintain", "colleague@example.org").want(t, http.StatusConflict)
	owner.invites(f, "maintain", "owner@example.org").want(t, http.StatusConflict)
	invitation := colleague.invitation()
	stranger.send(http.MethodPost, invitation+"/accept", "").want(t, http.StatusNotFound)
	stranger.send(http.MethodDelete, invitation, "").want(t, http.StatusNotFound)
	colleague.send(http.MethodPatch, f.path(), `{"description": "new"}`).want(t, http.StatusNotFound)

	colleague.send(http.MethodPost, invitation+"/accept", "").want(t, http.StatusOK)
	if got := d.emailsAs(); got != "feed_maintainer_joined owner@example.org" {
		t.Errorf("e-mails: %s", got)
	}
	colleague.send(http.MethodPatch, f.path(), `{"description": "new"}`).want(t, http.StatusOK)
	token := struct {
		Token string `json:"push_ingest_token"`
	}{}
	colleague.send(http.MethodPost, f.path()+"/rotate-token", "").want(t, http.StatusOK).decode(t, &token)
	d.push(token.Token, "["+row("p", "alert.police", 0)+"]").want(t, http.StatusOK)
	d.waitFor("a maintainer does not read the private feed", func() bool { return len(d.nearbyIDs(colleague)) == 1 })
	if ids := d.nearbyIDs(stranger); len(ids) > 0 {
		t.Errorf("a stranger reads %v", ids)
	}
	pin, _ := colleague.read(nearbyPath).Entities[0]["id"].(string)
	for _, refused := range []reply{
		colleague.send(http.MethodDelete, f.path(), ""),
		colleague.invites(f, "maintain", "x@example.org"), colleague.invites(f, "transfer", "x@example.org"),
		colleague.send(http.MethodPost, f.path()+"/approve", ""),            // D11.9
		colleague.send(http.MethodPost, "/v2/entities/"+pin+"/confirm", ""), // D9.8
		colleague.send(http.MethodPost, f.path()+"/pause", `{"reason": "r"}`),
	} {
		refused.want(t, http.StatusForbidden)
	}
	var people invitations
	owner.send(http.MethodGet, f.path()+"/maintainers", "").want(t, http.StatusOK).decode(t, &people)
	if len(people.Maintainers) != 1 || people.Maintainers[0].Email != "colleague@example.org" {
		t.Fatalf("maintainers: %+v", people)
	}
	d.emailsAs()
	owner.send(http.MethodDelete, f.path()+"/maintainers/"+people.Maintainers[0].ID, "").want(t, http.StatusNoContent)
	colleague.send(http.MethodPatch, f.path(), `{"description": "newer"}`).want(t, http.StatusNotFound)
	if got := d.emailsAs(); got != "feed_maintainer_removed colleague@example.org" {
		t.Errorf("e-mails: %s", got)
	}
	d.waitFor("a removed maintainer still reads the private feed", func() bool { return len(d.nearbyIDs(colleague)) == 0 })
}

func TestTransfer(t *testing.T) {
	t.Parallel()
	d := newTestService(t)
	owner, receiver := d.signedInAs("owner@example.org", mapdata.Driver), d.signedInAs("receiver@example.org", mapdata.Driver)
	f := owner.registerPush("Police")
	owner.invites(f, "transfer", "receiver@example.org").want(t, http.StatusCreated)
	receiver.send(http.MethodGet, f.path(), "").want(t, http.StatusNotFound)
	receiver.send(http.MethodDelete, receiver.invitation(), "").want(t, http.StatusNoContent) // declines
	owner.invites(f, "transfer", "receiver@example.org").want(t, http.StatusCreated)
	d.emailsAs()
	receiver.send(http.MethodPost, receiver.invitation()+"/accept", "").want(t, http.StatusOK)
	if got := d.emailsAs(); got != "feed_transferred owner@example.org, feed_received receiver@example.org" {
		t.Errorf("e-mails: %s", got)
	}
	owner.send(http.MethodGet, f.path(), "").want(t, http.StatusNotFound)
	d.push(*f.Token, "["+row("p", "alert.police", 0)+"]").want(t, http.StatusOK) // the token stays
	d.waitFor("the new owner does not read the feed", func() bool { return len(d.nearbyIDs(receiver)) == 1 })
	owner.send(http.MethodDelete, "/v2/account", `{"email": "owner@example.org"}`).want(t, http.StatusNoContent)
	receiver.send(http.MethodGet, f.path(), "").want(t, http.StatusOK)
}

// TestAcceptIsRefused checks that the receiver's limit of feeds holds, and a suspended owner's feeds do not leave.
func TestAcceptIsRefused(t *testing.T) {
	t.Parallel()
	d := newTestService(t)
	owner, receiver := d.signedInAs("owner@example.org", mapdata.Driver), d.signedInAs("receiver@example.org", mapdata.Driver)
	f := owner.registerPush("Police")
	receiver.registerPush("Own")
	owner.invites(f, "transfer", "receiver@example.org").want(t, http.StatusCreated)
	accept := receiver.invitation() + "/accept"
	d.feeds.SetLimit(1)
	receiver.send(http.MethodPost, accept, "").want(t, http.StatusConflict)
	d.feeds.SetLimit(2)
	id := d.accountOf("owner@example.org").ID.String()
	admin := d.signedInAs("admin@example.org", mapdata.Admin)
	admin.send(http.MethodPost, "/v2/accounts/"+id+"/suspend", `{"reason": "r"}`)
	receiver.send(http.MethodPost, accept, "").want(t, http.StatusConflict)
	admin.send(http.MethodPost, "/v2/accounts/"+id+"/resume", "")
	receiver.send(http.MethodPost, accept, "").want(t, http.StatusOK)
}

func TestInvitationPages(t *testing.T) {
	t.Parallel()
	d := newTestService(t)
	owner, colleague := d.signedInAs("owner@example.org", mapdata.Driver), d.signedInAs("colleague@example.org", mapdata.Driver)
	f := owner.registerPush("Police & more")
	people := "/feeds/" + f.id() + "/people"
	owner.postForm(people, url.Values{"what": {"maintain"}, "email": {"nobody"}}).want(t, http.StatusUnprocessableEntity)
	owner.postForm(people, url.Values{"what": {"maintain"}, "email": {"colleague@example.org"}}).want(t, http.StatusOK)
	if page := owner.page(people, http.StatusOK); !strings.Contains(page, "colleague@example.org") || !strings.Contains(page, "maintain the feed") {
		t.Errorf("the owner's page: %s", page)
	}
	page := colleague.page("/feeds", http.StatusOK)
	if !strings.Contains(page, "owner@example.org</bdi> invites you") && !strings.Contains(page, "owner@example.org invites you") {
		t.Errorf("the invited account's page: %s", page)
	}
	accept := strings.Replace(colleague.invitation(), "/v2", "", 1) + "/accept"
	colleague.postForm(accept, url.Values{}).want(t, http.StatusOK)
	colleague.page("/feeds/"+f.id()+"/edit", http.StatusOK)
	colleague.page("/feeds/"+f.id()+"/delete", http.StatusForbidden)
	if page := colleague.page("/feeds/"+f.id(), http.StatusOK); strings.Contains(page, "/delete") {
		t.Error("a maintainer is offered to delete the feed")
	}
	if page := colleague.page(people, http.StatusOK); strings.Contains(page, "Invite someone") || !strings.Contains(page, "Leave this feed") {
		t.Errorf("the maintainer's page: %s", page)
	}
	id := d.accountOf("colleague@example.org").ID.String()
	colleague.postForm(people+"/"+id+"/end", url.Values{}).want(t, http.StatusOK)
	colleague.page(people, http.StatusNotFound)
}
