package feed_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"wayside/internal/feeds/feed"
	"wayside/internal/ground/mapdata"
)

func TestPatchChangesOnlyGivenFields(t *testing.T) {
	ts := newTestService(t)
	_, by := ts.newAccount("owner@example.com", mapdata.Driver)
	v, _ := ts.register(by, &feed.Registration{Direction: "pull", Settings: feed.Settings{
		Name: ptr("Roads"), Description: ptr("d"), Attribution: ptr("a"), Licence: ptr("c"), SpecURL: ptr("https://a.example/spec"), LayerName: ptr("l"),
		PullURL: ptr("https://a.example/"), PullAuthHeader: ptr("A: b"), PullIntervalSeconds: ptr(60.0),
	}})
	ts.now = ts.now.Add(time.Minute)
	want := v.Feed
	want.UpdatedAt = ts.now
	if diff := cmp.Diff(want, ts.patch(by, v, feed.Patch{}).Feed); diff != "" {
		t.Errorf("an empty change (-want +got):\n%s", diff)
	}
	want.Name, want.Attribution, want.Licence, want.PullInterval = "Streets", "b", "CC0-1.0", 90*time.Second
	want.Generation++ // the interval is part of what a poll depends on
	if diff := cmp.Diff(want, ts.patch(by, v, feed.Patch{Settings: feed.Settings{
		Name: ptr("Streets"), Attribution: ptr("b"), Licence: ptr("CC0-1.0"), PullIntervalSeconds: ptr(90.0),
	}}).Feed); diff != "" {
		t.Errorf("a small change (-want +got):\n%s", diff)
	}
	want.Description, want.Attribution, want.Licence, want.SpecURL, want.Layer.Name = "", "", "", "", "Streets"
	if diff := cmp.Diff(want, ts.patch(by, v, feed.Patch{Settings: feed.Settings{
		Description: ptr(""), Attribution: ptr(""), Licence: ptr(""), SpecURL: ptr(""), LayerName: ptr(""),
	}}).Feed); diff != "" {
		t.Errorf("cleared (-want +got):\n%s", diff)
	}
}

func TestInvalidPatchChangesNothing(t *testing.T) {
	ts := newTestService(t)
	_, by := ts.newAccount("owner@example.com", mapdata.Driver)
	pull, _ := ts.register(by, pullOf("https://a.example/"))
	push, _ := ts.register(by, pushOf("Chargers"))
	tests := []struct {
		name string
		v    *feed.View
		p    feed.Patch
		want []string
	}{
		{"pull", pull, feed.Patch{Active: ptr(false), Settings: feed.Settings{
			Name: ptr(""), PullURL: ptr("http://a.example/"), PullAuthHeader: ptr("x"), SpecURL: ptr("x"), Visibility: ptr("x"),
		}}, []string{
			"name missing", "visibility invalid_visibility", "spec_url invalid_url", "pull_url invalid_url", "pull_auth_header invalid_auth_header",
		}},
		{"pull fields of a push feed", push, feed.Patch{Active: ptr(false), Settings: feed.Settings{
			PullURL: ptr("https://a.example/"), PullAuthHeader: ptr("A: b"), PullIntervalSeconds: ptr(1.0),
		}}, []string{"pull_url not_for_push", "pull_auth_header not_for_push", "pull_interval_seconds not_for_push"}},
		{"clearing a header that a push feed cannot have", push, feed.Patch{ClearAuthHeader: true}, []string{"pull_auth_header not_for_push"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := ts.Patch(t.Context(), by, tt.v.ID, &tt.p)
			if diff := cmp.Diff(tt.want, wrongFields(err)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.want, wrongFields(ts.CheckPatch(t.Context(), by, tt.v.ID, &tt.p))); diff != "" {
				t.Errorf("checked alone (-want +got):\n%s", diff)
			}
			after, err := ts.Get(t.Context(), by, tt.v.ID)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.v.Feed, after.Feed); diff != "" {
				t.Errorf("the feed changed (-before +after):\n%s", diff)
			}
		})
	}
}

// TestPatchResetsReview covers D5.5 and D5.7.
func TestPatchResetsReview(t *testing.T) {
	const url = "https://a.example/1"
	to := func(s feed.Settings) feed.Patch { return feed.Patch{Settings: s} }
	tests := []struct {
		name       string
		visibility string
		state      mapdata.ReviewState
		patch      feed.Patch
		want       mapdata.ReviewState
		noted      bool // the review note contains the reason
	}{
		{"approved, another path", "public", mapdata.Approved, to(feed.Settings{PullURL: ptr("https://a.example/2")}), mapdata.Approved, false},
		{"approved, another query", "public", mapdata.Approved, to(feed.Settings{PullURL: ptr("https://a.example/1?x")}), mapdata.Approved, false},
		{"approved, its own port named", "public", mapdata.Approved, to(feed.Settings{PullURL: ptr("https://a.example:443/1")}), mapdata.Approved, false},
		{"approved, the same again", "public", mapdata.Approved, to(feed.Settings{PullURL: ptr("https://A.example/1")}), mapdata.Approved, false},
		{"approved, another host", "public", mapdata.Approved, to(feed.Settings{PullURL: ptr("https://b.example/1")}), mapdata.Pending, true},
		{"approved, a host below", "public", mapdata.Approved, to(feed.Settings{PullURL: ptr("https://x.a.example/1")}), mapdata.Pending, true},
		{"approved, another port", "public", mapdata.Approved, to(feed.Settings{PullURL: ptr("https://a.example:8443/1")}), mapdata.Pending, true},
		{"approved, other words", "public", mapdata.Approved, to(feed.Settings{Name: ptr("n"), Description: ptr("d"), Attribution: ptr("a")}), mapdata.Approved, false},
		{"approved, another licence", "public", mapdata.Approved, to(feed.Settings{Licence: ptr("CC0-1.0")}), mapdata.Approved, false},
		{"approved, another header", "public", mapdata.Approved, to(feed.Settings{PullAuthHeader: ptr("A: b")}), mapdata.Approved, false},
		{"approved, deactivated", "public", mapdata.Approved, feed.Patch{Active: ptr(false)}, mapdata.Approved, false},
		{"approved, deactivated, another host", "public", mapdata.Approved, feed.Patch{Active: ptr(false), Settings: feed.Settings{PullURL: ptr("https://b.example/1")}}, mapdata.Pending, true},
		{"approved, public to private", "public", mapdata.Approved, to(feed.Settings{Visibility: ptr("private")}), mapdata.Approved, false},
		{"approved, public to public", "public", mapdata.Approved, to(feed.Settings{Visibility: ptr("public")}), mapdata.Approved, false},
		{"approved, private to public", "private", mapdata.Approved, to(feed.Settings{Visibility: ptr("public")}), mapdata.Pending, false},
		{"approved and private, another host", "private", mapdata.Approved, to(feed.Settings{PullURL: ptr("https://b.example/1")}), mapdata.Approved, false},
		{
			"approved and private, another host and public", "private", mapdata.Approved,
			to(feed.Settings{PullURL: ptr("https://b.example/1"), Visibility: ptr("public")}), mapdata.Pending, false,
		},
		{"pending, another host", "public", mapdata.Pending, to(feed.Settings{PullURL: ptr("https://b.example/1")}), mapdata.Pending, false},
		{"rejected, another path", "public", mapdata.Rejected, to(feed.Settings{PullURL: ptr("https://a.example/2")}), mapdata.Pending, false},
		{"rejected, other words", "private", mapdata.Rejected, to(feed.Settings{Description: ptr("better")}), mapdata.Pending, false},
		{"rejected, nothing but a PATCH", "public", mapdata.Rejected, feed.Patch{}, mapdata.Pending, false},
	}
	ts := newTestService(t)
	ts.Limit = 100
	_, by := ts.newAccount("owner@example.com", mapdata.Driver)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := pullOf(url)
			r.Visibility = &tt.visibility
			v, _ := ts.register(by, r)
			switch tt.state {
			case mapdata.Approved:
				ts.approve(v)
			case mapdata.Rejected:
				if _, err := ts.Reject(t.Context(), mapdata.Operator(), v.ID, "", "no"); err != nil {
					t.Fatal(err)
				}
			}
			got := ts.patch(by, v, tt.patch)
			if got.ReviewState != tt.want || (got.ReviewNote != "") != tt.noted {
				t.Errorf("%s with note %q, want %s (noted %v)", got.ReviewState, got.ReviewNote, tt.want, tt.noted)
			}
			if served := tt.want == mapdata.Approved && got.Visibility == mapdata.Public && got.Active; got.Served() != served {
				t.Errorf("served %v", got.Served())
			}
		})
	}
}

// TestPatchReschedules covers D6.1 and the effect of a change on a feed's next poll.
func TestPatchReschedules(t *testing.T) {
	const url = "https://a.example/1"
	tests := []struct {
		name     string
		failures int
		next     time.Duration // time until the next poll
		deactive bool          // deactivated by failed polls
		patch    feed.Patch
		want     time.Duration // time until the next poll; -1: none
		left     int           // failures
	}{
		{"nothing of it", 3, 200 * time.Second, false, feed.Patch{Settings: feed.Settings{Name: ptr("n")}}, 200 * time.Second, 3},
		{"re-activated", 20, 0, true, feed.Patch{Active: ptr(true)}, 0, 0},
		{"deactivated after it was by failures", 20, 0, true, feed.Patch{Active: ptr(false)}, -1, 0},
		{"active already", 3, 200 * time.Second, false, feed.Patch{Active: ptr(true)}, 200 * time.Second, 3},
		{"deactivated", 3, 200 * time.Second, false, feed.Patch{Active: ptr(false)}, -1, 3},
		{"another address", 7, time.Hour, false, feed.Patch{Settings: feed.Settings{PullURL: ptr("https://a.example/2")}}, 0, 0},
		{"the same address", 7, time.Hour, false, feed.Patch{Settings: feed.Settings{PullURL: ptr(url)}}, time.Hour, 7},
		{"another header", 7, time.Hour, false, feed.Patch{Settings: feed.Settings{PullAuthHeader: ptr("A: b")}}, 0, 0},
		{"no header, and there was none", 7, time.Hour, false, feed.Patch{ClearAuthHeader: true}, time.Hour, 7},
		{"another address while deactivated", 20, 0, true, feed.Patch{Settings: feed.Settings{PullURL: ptr("https://a.example/2")}}, -1, 20},
		{"a shorter interval", 0, 200 * time.Second, false, feed.Patch{Settings: feed.Settings{PullIntervalSeconds: ptr(30.0)}}, 30 * time.Second, 0},
		{"a shorter interval, due before", 0, 10 * time.Second, false, feed.Patch{Settings: feed.Settings{PullIntervalSeconds: ptr(30.0)}}, 10 * time.Second, 0},
		{"a longer interval", 0, 200 * time.Second, false, feed.Patch{Settings: feed.Settings{PullIntervalSeconds: ptr(3600.0)}}, 200 * time.Second, 0},
	}
	ts := newTestService(t)
	ts.Limit = 100
	_, by := ts.newAccount("owner@example.com", mapdata.Driver)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v, _ := ts.register(by, pullOf(url))
			polling := mapdata.Polling{ConsecutiveFailures: tt.failures, LastFetchedAt: ts.now, LastOutcome: mapdata.OutcomeTimeout}
			if !tt.deactive {
				polling.NextFetchAt = ts.now.Add(tt.next)
			}
			if err := ts.db.PollFailed(t.Context(), &mapdata.PollFailed{
				Feed: v.ID, Active: !tt.deactive, Polling: polling, Attempt: mapdata.Attempt{At: ts.now, Outcome: mapdata.OutcomeTimeout},
			}); err != nil {
				t.Fatal(err)
			}
			p := ts.patch(by, v, tt.patch).Polling
			want := ts.now.Add(tt.want)
			if tt.want < 0 {
				want = time.Time{}
			}
			if !p.NextFetchAt.Equal(want) || p.ConsecutiveFailures != tt.left {
				t.Errorf("next poll at %v with %d failures, want %v with %d", p.NextFetchAt, p.ConsecutiveFailures, want, tt.left)
			}
		})
	}
}

// TestAuthHeader covers D5.2 and D11.8, as far as this package implements them.
func TestAuthHeader(t *testing.T) {
	ts := newTestService(t)
	owner, by := ts.newAccount("owner@example.com", mapdata.Driver)
	v, _ := ts.register(by, pullOf("https://a.example/"))
	set := ts.patch(by, v, feed.Patch{Settings: feed.Settings{PullAuthHeader: ptr("Authorization: s3cret")}})
	if want := "sealed for " + v.ID.String() + ":A"; string(set.PullAuthSealed) != want {
		t.Errorf("kept as %q, want %q", set.PullAuthSealed, want)
	}
	ts.patch(by, v, feed.Patch{Settings: feed.Settings{Name: ptr("n")}})
	if cleared := ts.patch(by, v, feed.Patch{ClearAuthHeader: true}); cleared.PullAuthSealed != nil {
		t.Errorf("kept as %q", cleared.PullAuthSealed)
	}
	want := []mapdata.AuditEntry{
		{At: start, Actor: owner.ID, Action: "feed.auth_header", Subject: v.ID.String(), Note: "set"},
		{At: start, Actor: owner.ID, Action: "feed.edit", Subject: v.ID.String(), Note: "name"},
		{At: start, Actor: owner.ID, Action: "feed.auth_header", Subject: v.ID.String(), Note: "removed"},
	}
	if diff := cmp.Diff(want, ts.audit()); diff != "" {
		t.Errorf("audit (-want +got):\n%s", diff)
	}
	t.Run("sealing fails", func(t *testing.T) {
		ts.Seal = func([]byte, mapdata.FeedID) ([]byte, error) { return nil, errors.New("no key") }
		if _, err := ts.Patch(t.Context(), by, v.ID, &feed.Patch{Settings: feed.Settings{PullAuthHeader: ptr("A: b")}}); err == nil {
			t.Error("sealing failed without an error")
		}
		if _, _, err := ts.Register(t.Context(), by, &feed.Registration{Direction: "pull", Settings: feed.Settings{
			Name: ptr("x"), PullURL: ptr("https://a.example/"), PullAuthHeader: ptr("A: b"),
		}}); err == nil {
			t.Error("sealing failed without an error")
		}
	})
}

// TestApproveAndReject covers States, D5.7, D11.7 and D11.8.
func TestApproveAndReject(t *testing.T) {
	ts := newTestService(t)
	owner, by := ts.newAccount("owner@example.com", mapdata.Driver)
	curator, reviewer := ts.newAccount("curator@example.com", mapdata.Curator)
	v, _ := ts.register(by, pullOf("https://a.example/"))
	ts.now = ts.now.Add(time.Minute)

	rejected, err := ts.Reject(t.Context(), reviewer, v.ID, "", " The cameras lie in the sea.\r\nAll of them. ")
	const note = "The cameras lie in the sea.\nAll of them."
	if err != nil || rejected.ReviewState != mapdata.Rejected || rejected.ReviewNote != note || !rejected.Active {
		t.Fatalf("rejected: %+v, %v", rejected, err)
	}
	if p := rejected.Polling; p.NextFetchAt.IsZero() {
		t.Error("a rejected feed is no longer polled (D5.7)")
	}
	approved, err := ts.Approve(t.Context(), mapdata.Operator(), v.ID, "")
	if err != nil || approved.ReviewState != mapdata.Approved || approved.ReviewNote != "" || !approved.Listed() {
		t.Fatalf("approved: %+v, %v", approved, err)
	}
	ts.changed()
	if again, err := ts.Approve(t.Context(), reviewer, v.ID, ""); err != nil || !again.Approved() || ts.changed() {
		t.Errorf("approved twice: %v, or notified of it", err)
	}

	data := func(note string) map[string]string {
		return map[string]string{"feed_name": "Roads", "feed_id": v.ID.String(), "note": note}
	}
	wantEmails := []mapdata.Email{
		{Account: owner.ID, Kind: mapdata.EmailRejected, Data: data(note), At: ts.now, Address: owner.Email},
		{Account: owner.ID, Kind: mapdata.EmailApproved, Data: data(""), At: ts.now, Address: owner.Email},
	}
	if diff := cmp.Diff(wantEmails, ts.emails(), cmpopts.IgnoreFields(mapdata.Email{}, "ID", "Due")); diff != "" {
		t.Errorf("e-mails (-want +got):\n%s", diff)
	}
	wantAudit := []mapdata.AuditEntry{
		{At: ts.now, Actor: curator.ID, Action: "feed.reject", Subject: v.ID.String(), Note: note},
		{At: ts.now, Action: "feed.approve", Subject: v.ID.String()},
	}
	if diff := cmp.Diff(wantAudit, ts.audit()); diff != "" {
		t.Errorf("audit (-want +got):\n%s", diff)
	}
}

func TestApproveAndRejectErrors(t *testing.T) {
	ts := newTestService(t)
	_, by := ts.newAccount("owner@example.com", mapdata.Driver)
	_, reviewer := ts.newAccount("curator@example.com", mapdata.Curator)
	v, _ := ts.register(by, pullOf("https://a.example/"))
	unknown, err := mapdata.NewFeedID()
	if err != nil {
		t.Fatal(err)
	}
	for _, who := range []mapdata.Actor{by, {}} {
		_, approved := ts.Approve(t.Context(), who, v.ID, "")
		_, rejected := ts.Reject(t.Context(), who, v.ID, "", "note")
		_, noteless := ts.Reject(t.Context(), who, v.ID, "", "")
		_, targetChanged := ts.Approve(t.Context(), who, unknown, "")
		for what, err := range map[string]error{"approve": approved, "reject": rejected, "reject without a note": noteless, "approve nothing": targetChanged} {
			if !errors.Is(err, mapdata.ErrForbidden) {
				t.Errorf("%+v may %s: %v", who, what, err)
			}
		}
	}
	for note, want := range map[string]string{
		"": "note missing", " \n ": "note missing", strings.Repeat("é", 2001): "note too_long", "a\x00b": "note invalid_characters",
	} {
		_, err := ts.Reject(t.Context(), reviewer, v.ID, "", note)
		if diff := cmp.Diff([]string{want}, wrongFields(err)); diff != "" {
			t.Errorf("note %.10q (-want +got):\n%s", note, diff)
		}
	}
	if _, err := ts.Approve(t.Context(), reviewer, unknown, ""); !errors.Is(err, mapdata.ErrNotFound) {
		t.Errorf("approve nothing: %v", err)
	}
	if got, err := ts.Get(t.Context(), by, v.ID); err != nil || got.ReviewState != mapdata.Pending {
		t.Errorf("%v, %v", got, err)
	}
	if len(ts.emails()) != 0 || len(ts.audit()) != 0 {
		t.Error("a refused decision left e-mails or entries in the audit log")
	}
}
