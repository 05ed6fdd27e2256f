// Package safehttp is the HTTP client for URLs that providers chose. It protects against SSRF: it validates the URL
// (CheckURL, D6.5) and the addresses of its host (D6.4), and fetches it within limits of time, size and connections (Client,
// D6.2, D6.3, D6.6, D6.12).
//
// One fetch holds one connection at a time: resolve, check every address, dial an address that was checked, TLS handshake,
// one HTTP/1.1 request, one response, close. Connections to providers are not reused, so that each one is checked. HTTP/2
// is not used: it shares connections, which would defeat the limit of D6.12, and has no benefit for a single request.
//
// The operator's own URLs (OperatorURL, D8.1) differ in four ways: every address is allowed, no redirect is followed,
// connections are reused, because they are requested every few seconds, and JSON may be posted to them. Only OperatorURL creates such a URL; data from a
// provider never does.
//
// code.dny.dev/ssrf is only used in the tests, for comparison: its policy neither checks embedded addresses nor rejects the
// service's own, and every address must be checked before the first is dialled.
package safehttp

//go:generate go run gen_tlds.go
