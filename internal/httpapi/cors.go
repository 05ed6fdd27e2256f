package httpapi

import (
	"net/http"
	"slices"
)

// allowOrigin lets a page of a named origin read the answer (D12.9). Without names, which is the default, pages of other
// sites get nothing.
func (a *api) allowOrigin(w http.ResponseWriter, r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" || !slices.Contains(a.CORSOrigins, origin) {
		return false
	}
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Expose-Headers", "ETag, RateLimit, RateLimit-Policy, Retry-After")
	return true
}

// preflight answers a browser that asks whether a page may read with an API token. Cookies are never let in from another
// origin: Access-Control-Allow-Credentials is not sent.
func (a *api) preflight(w http.ResponseWriter, r *http.Request) {
	if a.allowOrigin(w, r) {
		h := w.Header()
		h.Set("Access-Control-Allow-Methods", http.MethodGet)
		h.Set("Access-Control-Allow-Headers", "Authorization")
		h.Set("Access-Control-Max-Age", "600")
	}
	w.Header().Set("Vary", "Origin")
	w.WriteHeader(http.StatusNoContent)
}
