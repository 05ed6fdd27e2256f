package safehttp

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"

	"wayside/internal/ground/mapdata"
)

// Error is a failed fetch, caused by the provider, its network or this node's.
type Error struct {
	Outcome mapdata.Outcome // one of D6.7, never ok
	Advice  string          // the failure and its remedy, for the feed's owner (D6.8); never contains the response or the URL
	Reason  mapdata.Reason  // detail of the outcome: one of mapdata.Reasons, or a Refusal's code; may be empty
	Status  int             // the response's status when Outcome is http_status, else 0

	// RetryAfter is the pause that the server requests, with 429 or 503; 0: none, or unreadable.
	RetryAfter time.Duration

	// Connected reports whether any connection was made, to the provider or a host of its redirects: without one, this
	// node's own network may be at fault (D6.11).
	Connected bool

	cause error
}

func (e *Error) Error() string { return string(e.Outcome) + ": " + e.Advice }

// Unwrap returns the cause, for errors.Is and errors.As. Its text may contain data from the provider, and must neither be
// shown to the owner nor logged.
func (e *Error) Unwrap() error { return e.cause }

func failed(outcome mapdata.Outcome, reason mapdata.Reason, advice string, cause error) *Error {
	return &Error{Outcome: outcome, Reason: reason, Advice: advice, cause: cause}
}

// Causes of exceeded limits (D6.6, D6.3) and of blocked addresses (D6.4).
var (
	errHeaderTooLarge = errors.New("headers too large")
	errBodyTooLarge   = errors.New("body too large")
	errBlocked        = errors.New("address not allowed")
)

var errPostToProvider = errors.New("a POST goes to an operator's URL alone")

func timedOut(cause error) error {
	return failed(mapdata.OutcomeTimeout, "",
		"No complete response within 15 seconds. Respond faster, for example from a file generated in advance, or with gzip.", cause)
}

func lookupFailed(err error) error {
	var dns *net.DNSError
	if errors.As(err, &dns) && dns.IsNotFound {
		return failed(mapdata.OutcomeDNSError, mapdata.ReasonNoAddress, "The name of the host has no address. Check its spelling and its DNS records.", err)
	}
	return failed(mapdata.OutcomeDNSError, mapdata.ReasonNoNameServer, "The name of the host could not be looked up. Check that its name servers answer.", err)
}

func blocked() error {
	return failed(mapdata.OutcomeBlockedAddress, "",
		"The name of the host leads to an address that is not public. Every address in its DNS records must be reachable for everybody.", errBlocked)
}

func dialFailed(err error) error {
	return failed(mapdata.OutcomeConnectionError, mapdata.ReasonUnreachable,
		"The host could not be reached. Check that the server runs, that its port is open, and that no firewall keeps this service out.", err)
}

func exchangeFailed(err error) error {
	return failed(mapdata.OutcomeConnectionError, mapdata.ReasonBroken,
		"The connection broke before the response was complete, or the response was not HTTP/1.1. Check the log of the server and of any proxy in front of it.", err)
}

func headersTooLarge() error {
	return failed(mapdata.OutcomeTooLarge, mapdata.ReasonHeaders, "The headers of the answer have more than 64 KiB. Send fewer.", errHeaderTooLarge)
}

func bodyTooLarge(limit int64) error {
	return failed(mapdata.OutcomeTooLarge, mapdata.ReasonBody,
		fmt.Sprintf("The body has more than %d MiB, decompressed. Publish fewer rows or shorter properties.", limit>>20), errBodyTooLarge)
}

func wireTooLarge(err error) error {
	return failed(mapdata.OutcomeTooLarge, mapdata.ReasonBody, "The body has more than 64 MiB as it is sent. Ask for a smaller area, or for a compressed form.", err)
}

func badCompression(err error) error {
	return failed(mapdata.OutcomeParseError, mapdata.ReasonCompression,
		"The body can't be decompressed. Send it as it is, or with one layer of gzip and Content-Encoding: gzip.", err)
}

func badRedirect(reason mapdata.Reason, advice string, cause error) error {
	return failed(mapdata.OutcomeRedirectError, reason, advice, cause)
}

// handshakeFailed explains the common faults of certificates.
func handshakeFailed(err error) error {
	var (
		name      x509.HostnameError
		authority x509.UnknownAuthorityError
		invalid   x509.CertificateInvalidError
		record    tls.RecordHeaderError
	)
	reason, advice := mapdata.Reason(""), "The TLS handshake failed. Check that the port speaks HTTPS, with TLS 1.2 or later."
	switch {
	case errors.As(err, &name):
		reason, advice = mapdata.ReasonWrongName, "The certificate is not for this name. Get one for the host that the URL names."
	case errors.As(err, &authority):
		reason, advice = mapdata.ReasonUnknownAuthority, "The certificate comes from an unknown authority. Check that the server sends the whole chain, with the intermediate certificates."
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		reason, advice = mapdata.ReasonExpired, "The certificate has expired, or is not valid yet. Renew it, and check the server's clock."
	case errors.As(err, &invalid):
		reason, advice = mapdata.ReasonBadCertificate, "The certificate is not valid for a server. Get one from a public authority."
	case errors.As(err, &record):
		reason, advice = mapdata.ReasonNoTLS, "The port does not speak TLS. Check the port, and that the server is set up for HTTPS."
	}
	return failed(mapdata.OutcomeTLSError, reason, advice, err)
}

// badStatus returns the error for an answer with an unsuccessful status.
func badStatus(status int, header http.Header) error {
	advice := "The server must answer 200 with the snapshot."
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		advice = "Check pull_auth_header, and that the server lets this service in."
	case status == http.StatusNotFound || status == http.StatusGone:
		advice = "Check the path of pull_url."
	case status == http.StatusTooManyRequests:
		advice = "Raise pull_interval_seconds, or the server's limit for this service."
	case status >= http.StatusInternalServerError:
		advice = "The fault is the server's own: see its log."
	}
	e := failed(mapdata.OutcomeHTTPStatus, "", "The server answered "+strconv.Itoa(status)+". "+advice, nil)
	if e.Status = status; status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
		e.RetryAfter = retryAfter(header.Get("Retry-After"), time.Now())
	}
	return e
}
