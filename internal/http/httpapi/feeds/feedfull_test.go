package feeds_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"wayside/internal/ground/mapdata"
	"wayside/internal/http/httpapi/httpapitest"
)

// TestFullFeeds checks D5.10 from a provider's view: new rows beyond the bound are rejected one by one, refreshes and retirements
// pass, an approval makes room, and the feed's JSON shows how full it is.
func TestFullFeeds(t *testing.T) {
	d := httpapitest.NewServiceWith(t, httpapitest.Options{Manage: 100, Requests: 60, Storage: mapdata.StorageLimits{
		EntitiesPerFeed: 4, BytesPerFeed: 10_000, UnreviewedEntitiesPerFeed: 2, UnreviewedBytesPerFeed: 1000, BytesPerAccount: 1500,
	}})
	owner := d.SignedInAs("owner@example.com", mapdata.Driver)
	r := owner.RegisterPush("Cameras")
	row := func(id, more string) string {
		return fmt.Sprintf(`{"external_id":%q,"kind":"camera.speed","lat":52,"lng":5,"properties":{%s}}`, id, more)
	}
	push := func(accepted int, rejected string, rows ...string) {
		t.Helper()
		var report struct {
			Accepted int
			Errors   []struct {
				Code       string
				ExternalID string `json:"external_id"`
			}
		}
		d.Push(*r.Token, "["+strings.Join(rows, ",")+"]").Want(t, http.StatusOK).Decode(t, &report)
		var full []string
		for _, e := range report.Errors {
			full = append(full, e.Code+" "+e.ExternalID)
		}
		if got := strings.Join(full, ","); report.Accepted != accepted || got != rejected {
			t.Errorf("%d accepted, rejected %q; want %d, %q", report.Accepted, got, accepted, rejected)
		}
	}
	storage := func(entities, entityLimit, bytes, byteLimit float64) {
		t.Helper()
		var got struct {
			Feed struct{ Storage map[string]float64 }
		}
		owner.Send(http.MethodGet, r.Path(), "").Want(t, http.StatusOK).Decode(t, &got)
		want := map[string]float64{"entities": entities, "entity_limit": entityLimit, "bytes": bytes, "byte_limit": byteLimit}
		if diff := cmp.Diff(want, got.Feed.Storage); diff != "" {
			t.Errorf("storage (-want +got):\n%s", diff)
		}
	}
	push(2, "feed_full c", row("a", ""), row("b", ""), row("c", ""))
	storage(2, 2, 6, 1000)
	push(2, "feed_full c", row("c", ""), row("a", ""), row("b", ""))
	push(2, "", row("c", ""), `{"external_id":"a","kind":"camera.speed","lat":52,"lng":5,"properties":{},"ttl_seconds":1}`)
	push(0, "feed_full b", row("b", `"x":"`+strings.Repeat("x", 1000)+`"`))
	storage(2, 2, 6, 1000)
	d.Approve(r)
	push(2, "", row("d", ""), row("e", ""))
	push(1, "", row("b", `"x":"`+strings.Repeat("x", 1000)+`"`))
	push(0, "feed_full f", row("f", ""))
	storage(4, 4, 1018, 10_000)
	// Another feed of the account: their bytes together are bounded.
	second := r
	r = owner.RegisterPush("More")
	push(1, "feed_full b", row("a", `"x":"`+strings.Repeat("x", 400)+`"`), row("b", `"x":"`+strings.Repeat("x", 400)+`"`))
	owner.Send(http.MethodDelete, second.Path(), "").Want(t, http.StatusNoContent)
	push(1, "", row("b", `"x":"`+strings.Repeat("x", 400)+`"`))
}

// TestFullFeedsAreTranslated checks that the page of a German account shows how full the feed is, and why a row was rejected.
func TestFullFeedsAreTranslated(t *testing.T) {
	d := httpapitest.NewServiceWith(t, httpapitest.Options{Manage: 100, Requests: 60, Storage: mapdata.StorageLimits{EntitiesPerFeed: 1, BytesPerFeed: 100_000}})
	owner := d.SignedInAs("ada@example.org", mapdata.Driver)
	owner.Form("/language", url.Values{"language": {"de"}, "back": {"/account"}}).Want(t, http.StatusOK)
	address, token := owner.NewFeed(pushFields("Straßen"))
	var report struct{ Errors []struct{ Message string } }
	d.Push(token, httpapitest.Rows(2, 52, 5)).Want(t, http.StatusOK).Decode(t, &report)
	if len(report.Errors) != 1 || !strings.Contains(report.Errors[0].Message, "at most 1 and 100000") {
		t.Fatalf("errors %+v", report.Errors)
	}
	body := owner.Page(address, 200)
	checkGerman(t, body, []string{report.Errors[0].Message})
	httpapitest.Contains(t, httpapitest.TextOf(t, body), "Gespeichert: 1 von höchstens 1 Objekten", "Der Feed hat sein Limit")
}

// TestReviewShowsHowFullAFeedIs checks that a curator sees how much of its bounds the feed uses, and how much all feeds of its
// owner use (D5.10).
func TestReviewShowsHowFullAFeedIs(t *testing.T) {
	d := httpapitest.NewServiceWith(t, httpapitest.Options{Manage: 100, Requests: 60, Storage: mapdata.StorageLimits{EntitiesPerFeed: 5, BytesPerFeed: 20_000, BytesPerAccount: 30_000}})
	owner, curator := d.SignedInAs("ada@example.org", mapdata.Driver), d.SignedInAs("cleo@example.org", mapdata.Curator)
	first, token := owner.NewFeed(pushFields("Roads"))
	owner.NewFeed(pushFields("More roads"))
	d.Push(token, httpapitest.Rows(2, 52, 5)).Want(t, http.StatusOK)
	text := httpapitest.TextOf(t, curator.Page(strings.Replace(first, "/feeds/", "/review/", 1), 200))
	httpapitest.Contains(t, text, "Stored: 2 of at most 5 entities", "of at most 20 kB.", "All feeds of the owner together:", "of at most 30 kB.")
}
