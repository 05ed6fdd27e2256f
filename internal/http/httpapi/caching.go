package httpapi

import (
	"net/http"

	"wayside/internal/ground/response"
)

// CacheDocs is the Cache-Control of documents that change only with the program.
const CacheDocs = "public, max-age=300"

// Cache-Control of reads (Limits: Read caching; D4.13).
const (
	NoStore      = "no-store" // for answers that may hold live incidents or drivers' reports
	cacheShared  = "public, max-age=10"
	cachePrivate = "private, max-age=10"
	varyReads    = "Accept-Encoding, Authorization, Cookie"
	varyOrigins  = varyReads + ", Origin" // if CORS is configured
	inForms      = "Accept, "             // before these, for answers that there are in several forms
)

// MaxPooledBody is the largest body, in bytes, whose memory is kept for the next response.
const MaxPooledBody = 1 << 20

// Vary returns the names of the headers on which a read's response depends.
func (a *API) Vary() string {
	if len(a.CORSOrigins) > 0 {
		return varyOrigins
	}
	return varyReads
}

// VaryForms returns the names of the headers on which a response in several forms depends.
func (a *API) VaryForms() string {
	if len(a.CORSOrigins) > 0 {
		return inForms + varyOrigins
	}
	return inForms + varyReads
}

// WriteCacheHeaders sets ETag and Cache-Control. If the client has this version, it writes 304 and returns true.
func (a *API) WriteCacheHeaders(w http.ResponseWriter, r *http.Request, c *Caller, body []byte) bool {
	etag := response.ETag(body)
	h := w.Header()
	values := [...]string{etag, cacheControl(c)}
	h["Etag"], h["Cache-Control"] = values[0:1:1], values[1:2:2]
	if match := r.Header["If-None-Match"]; match != nil && response.MatchesETag(match, etag) {
		w.WriteHeader(http.StatusNotModified)
		return true
	}
	return false
}

func cacheControl(c *Caller) string {
	if c.Account == nil {
		return cacheShared
	}
	return cachePrivate
}

// CacheListing is the Cache-Control of the lists of sources and kinds (Limits: Read caching).
const CacheListing = "public, max-age=60"
