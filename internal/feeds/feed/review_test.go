package feed_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"wayside/internal/feeds/feed"
	"wayside/internal/ground/mapdata"
)

// changedFields lists the fields of a *mapdata.ChangedError.
func changedFields(t *testing.T, err error) []string {
	t.Helper()
	var changed *mapdata.ChangedError
	if !errors.As(err, &changed) || !errors.Is(err, mapdata.ErrConflict) {
		t.Fatalf("got %v, want a conflict that says what changed", err)
	}
	var all []string
	for _, f := range changed.Fields {
		all = append(all, f.Field+" "+f.Message)
	}
	return all
}

// TestDecisionFailsAfterChange checks that a decision with a version fails if the owner has changed any reviewed field
// since, and lists the difference.
func TestDecisionFailsAfterChange(t *testing.T) {
	ts := newTestService(t)
	_, by := ts.newAccount("owner@example.com", mapdata.Driver)
	_, curator := ts.newAccount("curator@example.com", mapdata.Curator)
	for name, tt := range map[string]struct {
		change feed.Settings
		want   []string
	}{
		"name":        {feed.Settings{Name: ptr("Police traps")}, []string{"name is now «Police traps»"}},
		"description": {feed.Settings{Description: ptr("d")}, []string{"description is now «d»"}},
		"attribution": {feed.Settings{Attribution: ptr("a")}, []string{"attribution is now «a»"}},
		"licence":     {feed.Settings{Licence: ptr("c")}, []string{"licence is now «c»"}},
		"path":        {feed.Settings{PullURL: ptr("https://a.example/2")}, []string{"pull_url is now «https://a.example/2»"}},
		"visibility":  {feed.Settings{Visibility: ptr("private")}, []string{"visibility is now «private»"}},
		"two": {
			feed.Settings{LayerName: ptr("l"), SpecURL: ptr("https://a.example/s")},
			[]string{"layer_name is now «l»", "spec_url is now «https://a.example/s»"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			ts.t = t
			r := pullOf("https://a.example/")
			r.Visibility = ptr("public")
			v, _ := ts.register(by, r)
			seen := feed.Version(&v.Feed)
			ts.patch(by, v, feed.Patch{Settings: tt.change})
			before := len(ts.emails())
			_, err := ts.Approve(t.Context(), curator, v.ID, seen)
			if diff := cmp.Diff(tt.want, changedFields(t, err)); diff != "" {
				t.Errorf("approve (-want +got):\n%s", diff)
			}
			_, err = ts.Reject(t.Context(), curator, v.ID, seen, "no")
			if diff := cmp.Diff(tt.want, changedFields(t, err)); diff != "" {
				t.Errorf("reject (-want +got):\n%s", diff)
			}
			after, err := ts.Get(t.Context(), curator, v.ID)
			if err != nil || after.ReviewState != mapdata.Pending || len(ts.emails()) != before {
				t.Fatalf("after refused decisions: %v, %v, %d e-mails", after.ReviewState, err, len(ts.emails())-before)
			}
			if got, err := ts.Approve(t.Context(), curator, v.ID, feed.Version(&after.Feed)); err != nil || !got.Approved() {
				t.Errorf("approve as it is now: %v, %v", got, err)
			}
			ts.Delete(t.Context(), by, v.ID) //nolint:errcheck // stays below the limit of feeds
		})
	}
}

// TestVersionCoversReviewedFieldsOnly checks that changes of fields that are not reviewed, such as the schedule, do not
// change the version.
func TestVersionCoversReviewedFieldsOnly(t *testing.T) {
	ts := newTestService(t)
	_, by := ts.newAccount("owner@example.com", mapdata.Driver)
	v, _ := ts.register(by, pullOf("https://a.example/"))
	seen := feed.Version(&v.Feed)
	ts.now = ts.now.Add(time.Minute)
	ts.patch(by, v, feed.Patch{Active: ptr(false), Settings: feed.Settings{PullIntervalSeconds: ptr(77.0), PullAuthHeader: ptr("A: b")}})
	if _, err := ts.Approve(t.Context(), mapdata.Operator(), v.ID, seen); err != nil {
		t.Error(err)
	}
	for _, version := range []string{"x", seen[1:], seen + "00", "g" + seen[1:], seen[:75] + "\x00"} {
		_, err := ts.Reject(t.Context(), mapdata.Operator(), v.ID, version, "no")
		if diff := cmp.Diff([]string{"version invalid_version"}, wrongFields(err)); diff != "" {
			t.Errorf("version %q (-want +got):\n%s", version, diff)
		}
	}
	// The hash separates fields.
	a, b := mapdata.Feed{Name: "ab", Description: "c"}, mapdata.Feed{Name: "a", Description: "bc"}
	if feed.Version(&a)[:32] == feed.Version(&b)[:32] {
		t.Error("two feeds have one version")
	}
}

// TestConcurrentDecisions checks that of two concurrent decisions one is stored and the other fails with a conflict,
// and that an equal decision succeeds.
func TestConcurrentDecisions(t *testing.T) {
	ts := newTestService(t)
	_, by := ts.newAccount("owner@example.com", mapdata.Driver)
	_, one := ts.newAccount("one@example.com", mapdata.Curator)
	_, two := ts.newAccount("two@example.com", mapdata.Curator)
	for range 5 {
		v, _ := ts.register(by, pullOf("https://a.example/"))
		seen, emails := feed.Version(&v.Feed), len(ts.emails())
		var (
			both                sync.WaitGroup
			approved, rejected  error
			approvedToo, sameAs error
		)
		both.Go(func() { _, approved = ts.Approve(t.Context(), one, v.ID, seen) })
		both.Go(func() { _, rejected = ts.Reject(t.Context(), two, v.ID, seen, "no") })
		both.Wait()
		if (approved == nil) == (rejected == nil) {
			t.Fatalf("approved: %v, rejected: %v; want that one decision counts", approved, rejected)
		}
		state, forbidden := "rejected", approved
		if approved == nil {
			state, forbidden = "approved", rejected
		}
		if diff := cmp.Diff([]string{"review_state is now «" + state + "»"}, changedFields(t, forbidden)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if approved == nil {
			_, approvedToo = ts.Approve(t.Context(), two, v.ID, seen)
		} else {
			_, sameAs = ts.Reject(t.Context(), one, v.ID, seen, "no")
		}
		if approvedToo != nil || sameAs != nil || len(ts.emails()) != emails+1 {
			t.Errorf("who agrees: %v, %v; %d e-mails, want 1", approvedToo, sameAs, len(ts.emails())-emails)
		}
	}
}

// TestReviewListsChanges checks that a review lists the changes since the last approval by field, and that the log
// records actor, action and channel.
func TestReviewListsChanges(t *testing.T) {
	ts := newTestService(t)
	owner, by := ts.newAccount("owner@example.com", mapdata.Driver)
	boss, curator := ts.newAccount("curator@example.com", mapdata.Curator)
	r := pullOf("https://a.example/1?key=s3cret")
	r.Visibility = ptr("public")
	v, _ := ts.register(by, r)
	other, _ := ts.register(by, pushOf("Chargers"))
	ts.now = ts.now.Add(time.Hour)
	page := mapdata.WithVia(t.Context(), mapdata.ViaPage)
	if _, err := ts.Approve(page, curator, v.ID, feed.Version(&v.Feed)); err != nil {
		t.Fatal(err)
	}
	ts.now = ts.now.Add(time.Hour)
	ts.patch(by, v, feed.Patch{Settings: feed.Settings{Description: ptr("new"), PullURL: ptr("https://b.example/1?key=s3cret")}})
	got, err := ts.Review(t.Context(), curator, v.ID)
	if err != nil {
		t.Fatal(err)
	}
	want := []mapdata.FieldChange{
		{Field: "description", Was: "", Is: "new"}, {Field: "pull_url", Was: "https://a.example/1?key=s3cret", Is: "https://b.example/1?key=s3cret"},
	}
	if diff := cmp.Diff(want, got.Changes); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	if !got.Since.Equal(ts.now) || got.Owner.ID != owner.ID || len(got.Others) != 1 || got.Others[0].ID != other.ID || got.Version == feed.Version(&v.Feed) {
		t.Errorf("since %v, of %v, others %v", got.Since, got.Owner, got.Others)
	}
	var log []string
	for _, e := range got.Log {
		log = append(log, string(e.Via)+" "+e.ActorEmail+" "+e.Action+" "+e.Note)
	}
	if diff := cmp.Diff([]string{
		" owner@example.com feed.review_again approved",
		" owner@example.com feed.edit description",
		" owner@example.com feed.url https://a.example to https://b.example",
		"page " + boss.Email + " feed.approve ",
		" owner@example.com feed.register ",
	}, log); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
	queue, err := ts.Queue(t.Context(), curator)
	if err != nil || len(queue) != 2 || queue[0].ID != other.ID || queue[1].ID != v.ID {
		t.Errorf("queue %v, %v", queue, err)
	}
	for _, who := range []mapdata.Actor{by, {}} {
		if _, err := ts.Review(t.Context(), who, v.ID); !errors.Is(err, mapdata.ErrForbidden) {
			t.Errorf("%+v may review: %v", who, err)
		}
		if _, err := ts.Queue(t.Context(), who); !errors.Is(err, mapdata.ErrForbidden) {
			t.Errorf("%+v sees the queue: %v", who, err)
		}
	}
}

func TestOrigin(t *testing.T) {
	for address, want := range map[string]string{
		"https://a.example/x?key=1": "https://a.example", "https://a.example:443/": "https://a.example",
		"https://a.example:8443/x": "https://a.example:8443", "": "", "::": "",
	} {
		if got := feed.Origin(address); got != want {
			t.Errorf("%q: %q, want %q", address, got, want)
		}
	}
}
