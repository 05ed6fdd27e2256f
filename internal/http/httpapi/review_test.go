package httpapi_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"wayside/internal/ground/mapdata"
)

// TestReviewQueueAndVersions checks that curators read the queue over HTTP, and decide on the version that they saw.
func TestReviewQueueAndVersions(t *testing.T) {
	d := newTestService(t)
	owner, curator := d.signedInAs("owner@example.com", mapdata.Driver), d.signedInAs("curator@example.com", mapdata.Curator)
	r := owner.register(`{"name": "Roads", "direction": "pull", "visibility": "public", "pull_url": "https://example.org:8443/1?key=x"}`)
	d.advance(time.Minute)
	chargers := owner.registerPush("Chargers")
	d.push(*chargers.Token, "["+row("a", "charger.destination", 10)+","+row("b", "charger.destination", 20)+"]").want(t, http.StatusOK)
	d.waitForIndex()

	d.browser().send(http.MethodGet, "/v2/review/feeds", "").want(t, http.StatusUnauthorized)
	owner.send(http.MethodGet, "/v2/review/feeds", "").want(t, http.StatusForbidden)
	var queue struct {
		Feeds []struct {
			Feed    map[string]any
			Owner   struct{ Email string }
			Origin  *string
			Waiting string `json:"waiting_since"`
		}
		Waiting int
	}
	counted := d.counted.Load()
	curator.send(http.MethodGet, "/v2/review/feeds", "").want(t, http.StatusOK).decode(t, &queue)
	if n := d.counted.Load() - counted; n != 0 {
		t.Errorf("the queue counts the entities of %d feeds in the database", n)
	}
	if queue.Waiting != 2 || len(queue.Feeds) != 2 {
		t.Fatalf("queue %+v", queue)
	}
	for i, want := range []float64{0, 2} {
		if n := queue.Feeds[i].Feed["entity_count"]; n != want {
			t.Errorf("feed %d has %v entities, want %v", i, n, want)
		}
	}
	first := queue.Feeds[0]
	if first.Feed["id"] != r.id() || first.Owner.Email != "owner@example.com" || *first.Origin != "https://example.org:8443" ||
		first.Waiting != "2026-11-21T08:00:00.000Z" || queue.Feeds[1].Origin != nil {
		t.Errorf("first %+v", first)
	}
	seen := first.Feed["review_version"].(string)
	owner.send(http.MethodPatch, r.path(), `{"description": "other"}`).want(t, http.StatusOK)
	with := fmt.Sprintf(`{"version": %q}`, seen)
	refused := curator.send(http.MethodPost, r.path()+"/approve", with).want(t, http.StatusConflict)
	if wrong := refused.fieldErrors(t); !slices.Equal(wrong, []string{"description changed"}) {
		t.Errorf("what changed: %v", wrong)
	}
	curator.send(http.MethodPost, r.path()+"/reject", fmt.Sprintf(`{"version": %q, "note": "No."}`, seen)).want(t, http.StatusConflict)
	curator.send(http.MethodPost, r.path()+"/approve", `{"version": "x"}`).want(t, http.StatusUnprocessableEntity)
	curator.send(http.MethodPost, r.path()+"/approve", `{"note": "x"}`).want(t, http.StatusUnprocessableEntity)
	curator.send(http.MethodPost, r.path()+"/approve", `[`).want(t, http.StatusBadRequest)
	now := curator.send(http.MethodGet, r.path(), "").feedOf(t)
	with = fmt.Sprintf(`{"version": %q}`, now["review_version"])
	if f := curator.send(http.MethodPost, r.path()+"/approve", with).feedOf(t); f["is_public"] != true {
		t.Errorf("approved: %v", f)
	}
	entries, err := d.db.Audit(t.Context(), &mapdata.AuditQuery{Limit: 1})
	if err != nil || entries[0].Action != mapdata.AuditFeedApprove || entries[0].Via != mapdata.ViaAPI || entries[0].Reviewed.Description != "other" {
		t.Errorf("audit %+v, %v", entries, err)
	}
}
