package pages

import (
	"bytes"
	"html"
	"net/http"
	"strings"

	"wayside/internal/ground/response"
)

// AppsOfDriver is what the page for cars contains about its driver and the driver's apps (D16).
type AppsOfDriver struct {
	SignedIn bool
	None     bool     // the service has no apps
	Origins  []string // of the pages that the driver installed, each as "https://app.example"; none for guests
}

// noFrames is the directive of the page's policy that withFrames replaces.
const noFrames = "frame-src 'none'"

// withFrames returns the policy with which the page may frame the origins, and nothing else.
func withFrames(policy string, origins []string) string {
	if len(origins) == 0 {
		return policy
	}
	return strings.Replace(policy, noFrames, "frame-src "+strings.Join(origins, " "), 1)
}

// framePermissions denies frames the features that browsers allow every frame by default; the attribute allow="" denies the others.
// Browsers ignore features that they do not know.
const framePermissions = "geolocation=(self), picture-in-picture=(), sync-xhr=(self), gamepad=(), interest-cohort=(), storage-access=(), attribution-reporting=(), " +
	"browsing-topics=(), join-ad-interest-group=(), run-ad-auction=(), shared-storage=(), shared-storage-select-url=(), " +
	"private-aggregation=(), private-state-token-issuance=(), private-state-token-redemption=(), deferred-fetch-minimal=(), unload=(), " +
	"aria-notify=(), media-playback-while-not-visible=(), ch-save-data=(), ch-ua=(), ch-ua-high-entropy-values=(), ch-ua-mobile=(), ch-ua-platform=()"

// mainElement is the element in which the page's script reads about apps.
const mainElement = `<main id="main">`

// markApps writes into the page which origins its policy allows and whether the driver is signed in, so that the page's script
// needs no request to know.
func markApps(page []byte, apps *AppsOfDriver) []byte {
	marked := `<main id="main"`
	if !apps.None {
		marked += ` data-apps="` + html.EscapeString(strings.Join(apps.Origins, " ")) + `"`
	}
	if apps.SignedIn {
		marked += ` data-account=""`
	}
	marked += ">"
	return bytes.Replace(page, []byte(mainElement), []byte(marked), 1)
}

// servePersonal answers with the page of a signed-in driver. The page is for one driver, so that shared caches must not keep it.
func (o *Overlay) servePersonal(w http.ResponseWriter, r *http.Request, page []byte, apps *AppsOfDriver) {
	body := markApps(page, apps)
	h := w.Header()
	h.Set("Content-Security-Policy", withFrames(o.policy, apps.Origins))
	if len(apps.Origins) > 0 {
		h.Set("Permissions-Policy", framePermissions)
	}
	h.Set("Cache-Control", "private, "+cacheRevalidate)
	h.Set("Vary", "Accept-Encoding, Cookie")
	etag := response.ETag(body)
	h.Set("ETag", etag)
	if response.MatchesETag(r.Header["If-None-Match"], etag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	response.Write(w, r, http.StatusOK, contentType(overlayPage), body)
}
