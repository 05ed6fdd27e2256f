package feeds_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"wayside/internal/ground/mapdata"
	"wayside/internal/http/httpapi/httpapitest"
)

// TestReviewQueueAndVersions checks that curators read the queue over HTTP, and decide on the version that they saw.
func TestReviewQueueAndVersions(t *testing.T) {
	d := httpapitest.NewService(t)
	owner, curator := d.SignedInAs("owner@example.com", mapdata.Driver), d.SignedInAs("curator@example.com", mapdata.Curator)
	r := owner.Register(`{"name": "Roads", "direction": "pull", "visibility": "public", "pull_url": "https://example.org:8443/1?key=x"}`)
	d.Advance(time.Minute)
	chargers := owner.RegisterPush("Chargers")
	d.Push(*chargers.Token, "["+httpapitest.Row("a", "charger.destination", 10)+","+httpapitest.Row("b", "charger.destination", 20)+"]").Want(t, http.StatusOK)
	d.WaitForIndex()

	d.Browser().Send(http.MethodGet, "/v2/review/feeds", "").Want(t, http.StatusUnauthorized)
	owner.Send(http.MethodGet, "/v2/review/feeds", "").Want(t, http.StatusForbidden)
	var queue struct {
		Feeds []struct {
			Feed    map[string]any
			Owner   struct{ Email string }
			Origin  *string
			Waiting string `json:"waiting_since"`
		}
		Waiting int
	}
	counted := d.Counted.Load()
	curator.Send(http.MethodGet, "/v2/review/feeds", "").Want(t, http.StatusOK).Decode(t, &queue)
	if n := d.Counted.Load() - counted; n != 0 {
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
	if first.Feed["id"] != r.ID() || first.Owner.Email != "owner@example.com" || *first.Origin != "https://example.org:8443" ||
		first.Waiting != "2026-11-21T08:00:00.000Z" || queue.Feeds[1].Origin != nil {
		t.Errorf("first %+v", first)
	}
	seen := first.Feed["review_version"].(string)
	owner.Send(http.MethodPatch, r.Path(), `{"description": "other"}`).Want(t, http.StatusOK)
	with := fmt.Sprintf(`{"version": %q}`, seen)
	refused := curator.Send(http.MethodPost, r.Path()+"/approve", with).Want(t, http.StatusConflict)
	if wrong := refused.FieldErrors(t); !slices.Equal(wrong, []string{"description changed"}) {
		t.Errorf("what changed: %v", wrong)
	}
	curator.Send(http.MethodPost, r.Path()+"/reject", fmt.Sprintf(`{"version": %q, "note": "No."}`, seen)).Want(t, http.StatusConflict)
	curator.Send(http.MethodPost, r.Path()+"/approve", `{"version": "x"}`).Want(t, http.StatusUnprocessableEntity)
	curator.Send(http.MethodPost, r.Path()+"/approve", `{"note": "x"}`).Want(t, http.StatusUnprocessableEntity)
	curator.Send(http.MethodPost, r.Path()+"/approve", `[`).Want(t, http.StatusBadRequest)
	now := curator.Send(http.MethodGet, r.Path(), "").FeedOf(t)
	with = fmt.Sprintf(`{"version": %q}`, now["review_version"])
	if f := curator.Send(http.MethodPost, r.Path()+"/approve", with).FeedOf(t); f["is_public"] != true {
		t.Errorf("approved: %v", f)
	}
	entries, err := d.DB.Audit(t.Context(), &mapdata.AuditQuery{Limit: 1})
	if err != nil || entries[0].Action != mapdata.AuditFeedApprove || entries[0].Via != mapdata.ViaAPI || entries[0].Reviewed.Description != "other" {
		t.Errorf("audit %+v, %v", entries, err)
	}
}
