// Package safehttp is the only way out to addresses that others chose. A provider names a URL; this package says whether
// its text is acceptable (CheckURL, D6.5), whether the addresses behind its name are (D6.4), and fetches it within
// limits that no provider can stretch (Client, D6.2, D6.3, D6.6, D6.12).
//
// One fetch holds one connection at a time, made by this package: resolve, check every answer, dial the very address that
// was checked, shake hands, send one HTTP/1.1 request, read one answer, close. No such connection is used twice, so that
// none escapes the check. HTTP/2 is not spoken: it would share connections, against the count of D6.12, and brings nothing
// to one request.
//
// The operator's own URLs (OperatorURL, D8.1) go the same way with three differences: no address is refused, no redirect is
// followed, and a connection may be used again, for they are called every few seconds. Only the text that is given to
// OperatorURL makes such a URL; nothing that a provider sends ever does.
//
// code.dny.dev/ssrf is not used here but in the tests, as a second opinion: its policy can neither judge an address by
// the one inside it nor refuse the service's own, and every answer must be judged before the first is dialled.
package safehttp

//go:generate go run gen_tlds.go
