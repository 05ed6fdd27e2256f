package feed_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"wayside/internal/feeds/feed"
	"wayside/internal/ground/mapdata"
)

// published registers a public feed and approves it.
func (ts *testService) published(by mapdata.Actor) *feed.View {
	ts.t.Helper()
	r := pullOf("https://a.example/1")
	r.Visibility, r.Attribution = ptr("public"), ptr("© A")
	v, _ := ts.register(by, r)
	ts.approve(v)
	return v
}

// TestChangedWordsWaitForReview checks that readers see the approved words of a published feed until a curator has
// approved others, and that the owner sees both (D5.5).
func TestChangedWordsWaitForReview(t *testing.T) {
	ts := newTestService(t)
	_, by := ts.newAccount("owner@example.com", mapdata.Driver)
	_, curator := ts.newAccount("curator@example.com", mapdata.Curator)
	change := feed.Patch{Settings: feed.Settings{
		Name: ptr("N"), Attribution: ptr("A"), Licence: ptr("CC0-1.0"), LayerName: ptr("L"), SpecURL: ptr("https://a.example/s"), Description: ptr("D"),
	}}
	proposed := mapdata.Words{Name: "N", Description: "D", Attribution: "A", Licence: "CC0-1.0", LayerName: "L", SpecURL: "https://a.example/s"}
	for name, tt := range map[string]struct {
		decide   func(v *feed.View, version string) error
		approved bool // afterwards readers see the change
		email    mapdata.EmailKind
	}{
		"approved": {func(v *feed.View, version string) error {
			_, err := ts.Approve(t.Context(), curator, v.ID, version)
			return err
		}, true, mapdata.EmailApproved},
		"rejected": {func(v *feed.View, version string) error {
			_, err := ts.Reject(t.Context(), curator, v.ID, version, "Say whose.")
			return err
		}, false, mapdata.EmailChangeRejected},
		"withdrawn by the owner": {func(v *feed.View, _ string) error {
			before := v.Words()
			_, err := ts.Patch(t.Context(), by, v.ID, &feed.Patch{Settings: feed.Settings{
				Name: &before.Name, Description: &before.Description, Attribution: &before.Attribution, Licence: &before.Licence,
				LayerName: &before.LayerName, SpecURL: &before.SpecURL,
			}})
			return err
		}, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			ts.t = t
			v := ts.published(by)
			before := v.Words()
			ts.now = ts.now.Add(time.Hour)
			got := ts.patch(by, v, change)
			if got.Words() != before || got.ReviewState != mapdata.Approved || !got.Served() {
				t.Errorf("readers see %+v, %s, before the review", got.Words(), got.ReviewState)
			}
			if diff := cmp.Diff(&proposed, got.Proposed); diff != "" {
				t.Error("waiting", diff)
			}
			if got = ts.patch(by, v, feed.Patch{Settings: feed.Settings{PullIntervalSeconds: ptr(60.0)}}); got.Proposed == nil || *got.Proposed != proposed {
				t.Errorf("after another change %+v waits", got.Proposed)
			}
			queue, err := ts.Queue(t.Context(), curator)
			if err != nil || len(queue) != 1 || !queue[0].Since.Equal(ts.now) {
				t.Fatalf("queue %+v, %v", queue, err)
			}
			review, err := ts.Review(t.Context(), curator, v.ID)
			if err != nil || !review.Proposes || len(review.Changes) != 6 || review.Name != "N" {
				t.Fatalf("review %+v, %v", review, err)
			}
			emails := len(ts.emails())
			if err := tt.decide(v, review.Version); err != nil {
				t.Fatal(err)
			}
			after, err := ts.Get(t.Context(), by, v.ID)
			if err != nil || after.Proposed != nil || after.ReviewState != mapdata.Approved || (after.Words() == proposed) != tt.approved {
				t.Errorf("afterwards %+v, %v", after, err)
			}
			if !tt.approved && after.Words() != before {
				t.Errorf("readers see %+v", after.Words())
			}
			if all := ts.emails()[emails:]; tt.email == "" && len(all) != 0 || tt.email != "" && (len(all) != 1 || all[0].Kind != tt.email) {
				t.Errorf("e-mails %+v", all)
			}
			if queue, err := ts.Queue(t.Context(), curator); err != nil || len(queue) != 0 {
				t.Errorf("queue afterwards %+v, %v", queue, err)
			}
		})
	}
}

// TestWordsThatNobodySeesChangeAtOnce checks that only words of a published feed wait, and that waiting words replace
// the feed's own when nobody else sees it any more, and are reviewed with the rest.
func TestWordsThatNobodySeesChangeAtOnce(t *testing.T) {
	for name, more := range map[string]feed.Settings{
		"made private":      {Visibility: ptr("private")},
		"another origin":    {PullURL: ptr("https://b.example/1")},
		"pending as before": {},
	} {
		t.Run(name, func(t *testing.T) {
			ts := newTestService(t)
			_, by := ts.newAccount("owner@example.com", mapdata.Driver)
			var v *feed.View
			if name == "pending as before" {
				v, _ = ts.register(by, pullOf("https://a.example/1"))
			} else {
				v = ts.published(by)
				if got := ts.patch(by, v, feed.Patch{Settings: feed.Settings{Name: ptr("N")}}); got.Proposed == nil {
					t.Fatal("nothing waits")
				}
			}
			more.Attribution = ptr("B")
			got := ts.patch(by, v, feed.Patch{Settings: more})
			if got.Proposed != nil || got.Attribution != "B" || name != "pending as before" && got.Name != "N" {
				t.Errorf("%+v, waiting %+v", got.Words(), got.Proposed)
			}
		})
	}
}
