package feed_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"wayside/internal/feed"
	"wayside/internal/mapdata"
)

// differs lists the fields of a refusal because of a change.
func differs(t *testing.T, err error) []string {
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

// A decision is about what was looked at: whatever the owner changes meanwhile has it refused, with the difference.
func TestDecisionsAreAboutWhatWasLookedAt(t *testing.T) {
	o := newOffice(t)
	_, by := o.someone("owner@example.com", mapdata.Driver)
	_, curator := o.someone("curator@example.com", mapdata.Curator)
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
			o.t = t
			r := pullOf("https://a.example/")
			r.Visibility = ptr("public")
			v, _ := o.register(by, r)
			seen := feed.Version(&v.Feed)
			o.patch(by, v, feed.Patch{Settings: tt.change})
			before := len(o.letters())
			_, err := o.Approve(t.Context(), curator, v.ID, seen)
			if diff := cmp.Diff(tt.want, differs(t, err)); diff != "" {
				t.Errorf("approve (-want +got):\n%s", diff)
			}
			_, err = o.Reject(t.Context(), curator, v.ID, seen, "no")
			if diff := cmp.Diff(tt.want, differs(t, err)); diff != "" {
				t.Errorf("reject (-want +got):\n%s", diff)
			}
			after, err := o.Get(t.Context(), curator, v.ID)
			if err != nil || after.ReviewState != mapdata.Pending || len(o.letters()) != before {
				t.Fatalf("after refused decisions: %v, %v, %d letters", after.ReviewState, err, len(o.letters())-before)
			}
			if got, err := o.Approve(t.Context(), curator, v.ID, feed.Version(&after.Feed)); err != nil || !got.Approved() {
				t.Errorf("approve as it is now: %v, %v", got, err)
			}
			o.Delete(t.Context(), by, v.ID) //nolint:errcheck // only room for the next
		})
	}
}

// What is not reviewed may change meanwhile: polls above all.
func TestVersionsNameWhatIsReviewed(t *testing.T) {
	o := newOffice(t)
	_, by := o.someone("owner@example.com", mapdata.Driver)
	v, _ := o.register(by, pullOf("https://a.example/"))
	seen := feed.Version(&v.Feed)
	o.now = o.now.Add(time.Minute)
	o.patch(by, v, feed.Patch{Active: ptr(false), Settings: feed.Settings{PullIntervalSeconds: ptr(77.0), PullAuthHeader: ptr("A: b")}})
	if _, err := o.Approve(t.Context(), feed.Operator(), v.ID, seen); err != nil {
		t.Error(err)
	}
	for _, version := range []string{"x", seen[1:], seen + "00", "g" + seen[1:], seen[:75] + "\x00"} {
		_, err := o.Reject(t.Context(), feed.Operator(), v.ID, version, "no")
		if diff := cmp.Diff([]string{"version invalid_version"}, wrongFields(err)); diff != "" {
			t.Errorf("version %q (-want +got):\n%s", version, diff)
		}
	}
	// Fields do not flow into each other.
	a, b := mapdata.Feed{Name: "ab", Description: "c"}, mapdata.Feed{Name: "a", Description: "bc"}
	if feed.Version(&a)[:32] == feed.Version(&b)[:32] {
		t.Error("two feeds have one version")
	}
}

// Two curators at once: one decision counts, and the other curator is told; whoever agrees is not.
func TestTwoCuratorsAtOnce(t *testing.T) {
	o := newOffice(t)
	_, by := o.someone("owner@example.com", mapdata.Driver)
	_, one := o.someone("one@example.com", mapdata.Curator)
	_, two := o.someone("two@example.com", mapdata.Curator)
	for range 5 {
		v, _ := o.register(by, pullOf("https://a.example/"))
		seen, letters := feed.Version(&v.Feed), len(o.letters())
		var (
			both                sync.WaitGroup
			approved, rejected  error
			approvedToo, sameAs error
		)
		both.Go(func() { _, approved = o.Approve(t.Context(), one, v.ID, seen) })
		both.Go(func() { _, rejected = o.Reject(t.Context(), two, v.ID, seen, "no") })
		both.Wait()
		if (approved == nil) == (rejected == nil) {
			t.Fatalf("approved: %v, rejected: %v; want that one decision counts", approved, rejected)
		}
		state, refused := "rejected", approved
		if approved == nil {
			state, refused = "approved", rejected
		}
		if diff := cmp.Diff([]string{"review_state is now «" + state + "»"}, differs(t, refused)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if approved == nil {
			_, approvedToo = o.Approve(t.Context(), two, v.ID, seen)
		} else {
			_, sameAs = o.Reject(t.Context(), one, v.ID, seen, "no")
		}
		if approvedToo != nil || sameAs != nil || len(o.letters()) != letters+1 {
			t.Errorf("who agrees: %v, %v; %d letters, want 1", approvedToo, sameAs, len(o.letters())-letters)
		}
	}
}

// What changed since the last approval is shown field by field, and the log tells who did what through which door.
func TestReviewTellsWhatChanged(t *testing.T) {
	o := newOffice(t)
	owner, by := o.someone("owner@example.com", mapdata.Driver)
	boss, curator := o.someone("curator@example.com", mapdata.Curator)
	r := pullOf("https://a.example/1?key=s3cret")
	r.Visibility = ptr("public")
	v, _ := o.register(by, r)
	other, _ := o.register(by, pushOf("Chargers"))
	o.now = o.now.Add(time.Hour)
	page := mapdata.WithVia(t.Context(), mapdata.ViaPage)
	if _, err := o.Approve(page, curator, v.ID, feed.Version(&v.Feed)); err != nil {
		t.Fatal(err)
	}
	o.now = o.now.Add(time.Hour)
	o.patch(by, v, feed.Patch{Settings: feed.Settings{Description: ptr("new"), PullURL: ptr("https://b.example/1?key=s3cret")}})
	got, err := o.Review(t.Context(), curator, v.ID)
	if err != nil {
		t.Fatal(err)
	}
	want := []mapdata.FieldChange{
		{Field: "description", Was: "", Is: "new"}, {Field: "pull_url", Was: "https://a.example/1?key=s3cret", Is: "https://b.example/1?key=s3cret"},
	}
	if diff := cmp.Diff(want, got.Changes); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	if !got.Since.Equal(o.now) || got.Owner.ID != owner.ID || len(got.Others) != 1 || got.Others[0].ID != other.ID || got.Version == feed.Version(&v.Feed) {
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
	queue, err := o.Queue(t.Context(), curator)
	if err != nil || len(queue) != 2 || queue[0].ID != other.ID || queue[1].ID != v.ID {
		t.Errorf("queue %v, %v", queue, err)
	}
	for _, who := range []feed.Actor{by, {}} {
		if _, err := o.Review(t.Context(), who, v.ID); !errors.Is(err, mapdata.ErrForbidden) {
			t.Errorf("%+v may review: %v", who, err)
		}
		if _, err := o.Queue(t.Context(), who); !errors.Is(err, mapdata.ErrForbidden) {
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
