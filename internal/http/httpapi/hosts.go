package httpapi

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// hsts makes browsers use only HTTPS for a year. It leaves out subdomains, which may belong to others (RFC 6797).
const hsts = "max-age=31536000"

// publicHost returns host and port of the public address, as browsers send it.
func (a *API) publicHost() string {
	u, err := url.Parse(a.BaseURL)
	if err != nil {
		return ""
	}
	return u.Host
}

// guardHost refuses requests under foreign names, and sets Strict-Transport-Security. If the service listens in a private network,
// a foreign page can have its own name resolved to the service's address, and would read the service's answers as its own (DNS
// rebinding).
func (a *API) guardHost(next http.Handler) http.Handler {
	strict := []string{hsts}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if a.https {
			w.Header()["Strict-Transport-Security"] = strict[0:1:1]
		}
		if a.Hosts != nil && r.Host != "" && r.Host != a.host && !a.ownHost(r.Host) && r.URL.Path != "/healthz" && r.URL.Path != "/readyz" {
			writeProblem(w, r, &Problem{
				Type: "foreign-host", Status: http.StatusMisdirectedRequest,
				Detail: "This service is not called by that name. Its operator may add the name to http.hosts.",
			})
			return
		}
		next.ServeHTTP(w, r)
	})
}

// ownHost reports whether a Host header names this service: by the name of the public address, a configured one, localhost, or an
// address, which no foreign page can have as its own name.
func (a *API) ownHost(host string) bool {
	name := host
	if bare, _, err := net.SplitHostPort(host); err == nil {
		name = bare
	}
	name = strings.TrimSuffix(strings.ToLower(strings.Trim(name, "[]")), ".")
	if name == "localhost" || strings.HasSuffix(name, ".localhost") || slices.Contains(a.Hosts, name) || slices.Contains(a.Hosts, "*") {
		return true
	}
	public, _, _ := strings.Cut(a.host, ":")
	if name == public {
		return true
	}
	_, err := netip.ParseAddr(name)
	return err == nil
}

// mapOrigin returns the origin for the map's documents, and whether they may be cached: the origin of the public address, or the
// one by which the service was called, if that is another one of its names.
func (a *API) mapOrigin(r *http.Request) (origin string, cacheable bool) {
	if r.Host == a.host || !a.ownHost(r.Host) {
		return a.BaseURL, r.Host == a.host
	}
	scheme := "http://"
	if a.https || r.TLS != nil {
		scheme = "https://"
	}
	return scheme + r.Host, false
}
