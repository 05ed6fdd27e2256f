package httpapi

import (
	"net/http"
	"slices"
	"strings"
)

// allowOrigin lets a page of a configured origin read the response (D12.9). No origin is configured by default.
func (a *API) allowOrigin(w http.ResponseWriter, r *http.Request) bool {
	if len(a.CORSOrigins) == 0 {
		return false
	}
	w.Header()["Vary"] = []string{varyOrigins} // also for a foreign origin, whose answer lacks the header
	origin := r.Header.Get("Origin")
	if origin == "" || !slices.Contains(a.CORSOrigins, origin) {
		return false
	}
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Expose-Headers", "Deprecation, ETag, Link, RateLimit, RateLimit-Policy, Retry-After, Sunset")
	return true
}

// preflight answers the CORS preflight of a read with an API token. Access-Control-Allow-Credentials is never sent, so
// that cookies do not work across origins.
func (a *API) preflight(w http.ResponseWriter, r *http.Request) {
	if a.allowOrigin(w, r) {
		h := w.Header()
		methods, headers := http.MethodGet, "Authorization"
		if strings.HasPrefix(r.URL.Path, NavigationPath) {
			methods, headers = "GET, POST", "Authorization, Content-Type"
		}
		if strings.HasPrefix(r.URL.Path, DrivesPath+"/") {
			methods = "GET, PUT, DELETE"
		}
		h.Set("Access-Control-Allow-Methods", methods)
		h.Set("Access-Control-Allow-Headers", headers)
		h.Set("Access-Control-Max-Age", "600")
	}
	w.Header().Set("Vary", "Origin")
	w.WriteHeader(http.StatusNoContent)
}
