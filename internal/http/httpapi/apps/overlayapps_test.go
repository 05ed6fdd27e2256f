package apps_test

import (
	"net/http"
	"strings"
	"testing"

	"wayside/internal/ground/mapdata"
	"wayside/internal/http/httpapi/httpapitest"
	"wayside/internal/http/httpapi/public"
)

// pageHead returns the parts of the page for cars that browsers enforce or its script reads.
func pageHead(t *testing.T, b *httpapitest.Browser) (frames, marked string, header http.Header) {
	t.Helper()
	r := b.Send(http.MethodGet, "/", "").Want(t, http.StatusOK)
	for directive := range strings.SplitSeq(r.Header.Get("Content-Security-Policy"), "; ") {
		if sources, ok := strings.CutPrefix(directive, "frame-src "); ok {
			frames = sources
		}
	}
	_, rest, _ := strings.Cut(r.Body, `<main id="main"`)
	marked, _, _ = strings.Cut(rest, ">")
	return frames, strings.TrimSpace(marked), r.Header
}

// TestPageFramesWhatItsDriverInstalled checks that the policy of the page allows exactly the origins of the apps that this driver
// installed, and that the page lists them for its script. Guests and drivers without apps get none.
func TestPageFramesWhatItsDriverInstalled(t *testing.T) {
	s := newAppTest(t)
	first := s.approved(nil)
	other := s.approved(map[string]any{"name": "Trip", "widget_url": "https://trip.example.net/", "config_schema": nil})
	s.approved(map[string]any{"name": "Never", "widget_url": "https://never.example.net/", "config_schema": nil})
	check := func(b *httpapitest.Browser, wantFrames, wantMarked string) http.Header {
		t.Helper()
		frames, marked, header := pageHead(t, b)
		if frames != wantFrames || marked != wantMarked {
			t.Errorf("frame-src %s and %s, not %s and %s", frames, marked, wantFrames, wantMarked)
		}
		return header
	}
	const none, guest, nothing = "'none'", `data-apps=""`, `data-apps="" data-account=""`
	check(s.guest, none, guest)
	check(s.driver, none, nothing)

	s.driver.Send(http.MethodPut, "/v2/account/apps/"+first, `{"config": {"token": "t"}}`).Want(t, http.StatusOK)
	header := check(s.driver, "https://apps.example.org", `data-apps="https://apps.example.org" data-account=""`)
	for name, want := range map[string]string{"Cache-Control": "private, no-cache", "Vary": "Accept-Encoding, Cookie"} {
		if got := header.Get(name); got != want {
			t.Errorf("%s is %q, not %q", name, got, want)
		}
	}
	if got := header.Get("Permissions-Policy"); !strings.HasPrefix(got, "geolocation=(self), picture-in-picture=()") {
		t.Errorf("Permissions-Policy %q", got)
	}
	tag := header.Get("ETag")
	s.driver.Send(http.MethodGet, "/", "", "If-None-Match", tag).Want(t, http.StatusNotModified)

	s.driver.Send(http.MethodPut, "/v2/account/apps/"+other, `{"config": {}, "hidden": true}`).Want(t, http.StatusOK)
	check(s.driver, "https://apps.example.org https://trip.example.net", `data-apps="https://apps.example.org https://trip.example.net" data-account=""`)
	s.driver.Send(http.MethodGet, "/", "", "If-None-Match", tag).Want(t, http.StatusOK)
	check(s.guest, none, guest)
	check(s.curator, none, nothing)

	s.curator.Send(http.MethodPost, "/v2/apps/"+other+"/suspend", `{"note": "It broke."}`).Want(t, http.StatusOK)
	check(s.driver, "https://apps.example.org", `data-apps="https://apps.example.org" data-account=""`)
	s.driver.Send(http.MethodDelete, "/v2/account/apps/"+first, "").Want(t, http.StatusNoContent)
	check(s.driver, none, nothing)
}

// TestPageWithoutAppsHasNoWordOfThem checks that the page does not mention apps if they are not enabled.
func TestPageWithoutAppsHasNoWordOfThem(t *testing.T) {
	built := httpapitest.BuiltOverlay(t)
	_, page := httpapitest.NewOverlayService(t, built).Get("/")
	if strings.Contains(string(page), "data-apps") {
		t.Error("the page of a service without apps speaks of them")
	}
	offering := httpapitest.NewReadService(t, func(d *public.Deps) {
		httpapitest.WithApps(d)
		d.Overlay = built
	})
	resp, page := offering.Get("/")
	if !strings.Contains(string(page), `<main id="main" data-apps="">`) || resp.Header.Get("Content-Security-Policy") != httpapitest.WantOverlayPolicy {
		t.Errorf("a guest's page: %s", resp.Header.Get("Content-Security-Policy"))
	}
}

// TestPageOfDriverWithoutApps checks that if apps are not enabled, the page shows its script that the driver is signed in, such as
// by an e-mail's link, and does not mention apps.
func TestPageOfDriverWithoutApps(t *testing.T) {
	s := httpapitest.NewServiceWith(t, httpapitest.Options{Manage: 10_000, Requests: 60, Entities: 10_000, Overlay: httpapitest.BuiltOverlay(t), NoApps: true})
	if frames, marked, _ := pageHead(t, s.Browser()); frames != "'none'" || marked != "" {
		t.Errorf("a guest's page: frame-src %s, %s", frames, marked)
	}
	frames, marked, header := pageHead(t, s.SignedInAs("driver@example.org", mapdata.Driver))
	if frames != "'none'" || marked != `data-account=""` || header.Get("Cache-Control") != "private, no-cache" {
		t.Errorf("a driver's page: frame-src %s, %s, %s", frames, marked, header.Get("Cache-Control"))
	}
}
