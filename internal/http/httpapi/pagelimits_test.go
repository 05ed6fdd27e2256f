package httpapi_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"wayside/internal/ground/mapdata"
	"wayside/internal/http/httpapi/httpapitest"
	"wayside/internal/http/httpapi/public"
)

// TestGuestPagesAreLimited requests pages as a guest, and checks that they have the rate of a guest's reads, in a separate bucket
// (F20).
func TestGuestPagesAreLimited(t *testing.T) {
	s := httpapitest.NewReadService(t, func(d *public.Deps) { d.Limits.GuestReads = 20 })
	for i := range 20 {
		path := []string{"/sources", "/about", "/status", "/sources?from=7"}[i%4]
		if resp, _ := s.Get(path); resp.StatusCode != http.StatusOK {
			t.Fatalf("page %d: %s", i+1, resp.Status)
		}
	}
	resp, _ := s.Get("/sources")
	if resp.StatusCode != http.StatusTooManyRequests || resp.Header.Get("Retry-After") == "" {
		t.Errorf("page 21: %s, Retry-After %q", resp.Status, resp.Header.Get("Retry-After"))
	}
	for _, path := range []string{"/docs/style.css", "/v2/kinds", "/healthz"} {
		if resp, _ := s.Get(path); resp.StatusCode != http.StatusOK {
			t.Errorf("%s: %s", path, resp.Status)
		}
	}
	s.Advance(time.Minute)
	if resp, _ := s.Get("/sources"); resp.StatusCode != http.StatusOK {
		t.Errorf("a minute later: %s", resp.Status)
	}
}

// TestSourcesPageIsMadeTwiceASecond reads the page of sources as a guest, and checks that it is rendered again when the sources
// change or half a second has passed, and that no parameter changes it (F20).
func TestSourcesPageIsMadeTwiceASecond(t *testing.T) {
	d, owner, feed := httpapitest.NewPushService(t)
	guest := d.Browser()
	page := func(path string) string { return guest.Send(http.MethodGet, path, "").Want(t, http.StatusOK).Body }
	d.Approve(feed)
	d.Push(*feed.Token, httpapitest.Rows(1, 52, 5)).Want(t, http.StatusOK)
	d.WaitForIndex()
	first := page("/sources")
	if !strings.Contains(first, "Cameras") {
		t.Fatalf("the feed is not listed: %s", first)
	}
	d.Push(*feed.Token, httpapitest.Rows(7, 52, 5)).Want(t, http.StatusOK)
	d.WaitForIndex()
	for _, path := range []string{"/sources", "/sources?from=1", "/sources?x=%3Cscript%3E"} {
		if page(path) != first {
			t.Errorf("%s was made again at the same moment", path)
		}
	}
	d.Advance(500 * time.Millisecond)
	if page("/sources") == first {
		t.Error("half a second later the page was not made again")
	}
	second := owner.RegisterPush("Second")
	d.SignedInAs("another@example.com", mapdata.Curator).Send(http.MethodPost, second.Path()+"/approve", "").Want(t, http.StatusOK)
	d.WaitForIndex()
	if !strings.Contains(page("/sources"), "Second") {
		t.Error("a new source is not on the page")
	}
}
