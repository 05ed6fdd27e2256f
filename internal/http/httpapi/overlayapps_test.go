package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"wayside/internal/ground/mapdata"
	"wayside/internal/http/httpapi"
)

// pageHead returns the parts of the page for cars that browsers enforce or its script reads.
func pageHead(t *testing.T, b *browser) (frames, marked string, header http.Header) {
	t.Helper()
	r := b.send(http.MethodGet, "/", "").want(t, http.StatusOK)
	for directive := range strings.SplitSeq(r.Header.Get("Content-Security-Policy"), "; ") {
		if sources, ok := strings.CutPrefix(directive, "frame-src "); ok {
			frames = sources
		}
	}
	_, rest, _ := strings.Cut(r.body, `<main id="main"`)
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
	check := func(b *browser, wantFrames, wantMarked string) http.Header {
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

	s.driver.send(http.MethodPut, "/v2/account/apps/"+first, `{"config": {"token": "t"}}`).want(t, http.StatusOK)
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
	s.driver.send(http.MethodGet, "/", "", "If-None-Match", tag).want(t, http.StatusNotModified)

	s.driver.send(http.MethodPut, "/v2/account/apps/"+other, `{"config": {}, "hidden": true}`).want(t, http.StatusOK)
	check(s.driver, "https://apps.example.org https://trip.example.net", `data-apps="https://apps.example.org https://trip.example.net" data-account=""`)
	s.driver.send(http.MethodGet, "/", "", "If-None-Match", tag).want(t, http.StatusOK)
	check(s.guest, none, guest)
	check(s.curator, none, nothing)

	s.curator.send(http.MethodPost, "/v2/apps/"+other+"/suspend", `{"note": "It broke."}`).want(t, http.StatusOK)
	check(s.driver, "https://apps.example.org", `data-apps="https://apps.example.org" data-account=""`)
	s.driver.send(http.MethodDelete, "/v2/account/apps/"+first, "").want(t, http.StatusNoContent)
	check(s.driver, none, nothing)
}

// TestPageWithoutAppsHasNoWordOfThem checks that the page does not mention apps if they are not enabled.
func TestPageWithoutAppsHasNoWordOfThem(t *testing.T) {
	built := builtOverlay(t)
	_, page := newOverlayService(t, built).get("/")
	if strings.Contains(string(page), "data-apps") {
		t.Error("the page of a service without apps speaks of them")
	}
	offering := newReadService(t, func(d *httpapi.Deps) {
		withApps(d)
		d.Overlay = built
	})
	resp, page := offering.get("/")
	if !strings.Contains(string(page), `<main id="main" data-apps="">`) || resp.Header.Get("Content-Security-Policy") != wantOverlayPolicy {
		t.Errorf("a guest's page: %s", resp.Header.Get("Content-Security-Policy"))
	}
}

// TestPageOfDriverWithoutApps checks that if apps are not enabled, the page shows its script that the driver is signed in, such as
// by an e-mail's link, and does not mention apps.
func TestPageOfDriverWithoutApps(t *testing.T) {
	s := newTestServiceWith(t, serviceOptions{manage: 10_000, requests: 60, entities: 10_000, overlay: builtOverlay(t), noApps: true})
	if frames, marked, _ := pageHead(t, s.browser()); frames != "'none'" || marked != "" {
		t.Errorf("a guest's page: frame-src %s, %s", frames, marked)
	}
	frames, marked, header := pageHead(t, s.signedInAs("driver@example.org", mapdata.Driver))
	if frames != "'none'" || marked != `data-account=""` || header.Get("Cache-Control") != "private, no-cache" {
		t.Errorf("a driver's page: frame-src %s, %s, %s", frames, marked, header.Get("Cache-Control"))
	}
}
