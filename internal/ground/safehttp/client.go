package safehttp

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"time"

	"wayside/internal/ground/mapdata"
)

// Limits of a fetch (D6.3, D6.6, D6.12).
const (
	maxRedirects    = 5
	maxHeader       = 64 << 10
	defaultTimeout  = 15 * time.Second
	defaultMaxBody  = 64 << 20
	defaultPerHost  = 2
	defaultMaxConns = 256
)

// Options configure a Client. Only UserAgent has no default.
type Options struct {
	UserAgent string                // wayside/<version> (+<base_url>)
	Hosts     map[string]netip.Addr // names with fixed addresses, which are not checked (D6.13)
	RootCAs   *x509.CertPool        // nil: the system's
	Own       []netip.Addr          // the service's own addresses, rejected (D6.4)
	OwnHosts  []string              // the service's own names, rejected without a look-up
	Resolver  Resolver              // nil: the system's name servers

	Timeout time.Duration // of a whole fetch, without queueing; 0: 15 s (D6.6)
	MaxBody int64         // bytes, after decompression; 0: 64 MiB (D6.6)
	AtOnce  int           // maximum connections to all hosts; 0: 256
	PerHost int           // maximum connections per host; 0: 2 (D6.12)
}

// Client fetches URLs. It is safe for concurrent use. Between fetches it only holds idle connections to operators' URLs, at
// most 16, which are not reused after 30 s; Close closes them.
type Client struct {
	userAgent string
	hosts     map[string]netip.Addr
	ownHosts  []string
	policy    *policy
	resolver  Resolver
	tls       *tls.Config
	gate      *gate
	pool      pool
	timeout   time.Duration
	maxBody   int64
	dial      func(ctx context.Context, network, address string) (net.Conn, error)
}

// New creates a Client.
func New(o Options) (*Client, error) {
	allowed, err := newPolicy(o.Own)
	if err != nil {
		return nil, err
	}
	c := &Client{
		userAgent: o.UserAgent, hosts: make(map[string]netip.Addr, len(o.Hosts)), policy: allowed, resolver: o.Resolver,
		tls:     &tls.Config{RootCAs: o.RootCAs, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}},
		timeout: o.Timeout, maxBody: o.MaxBody,
		dial: (&net.Dialer{KeepAlive: -1}).DialContext,
	}
	if c.resolver == nil {
		// The system's resolver (cgo) cannot be cancelled by a context.
		c.resolver = &net.Resolver{PreferGo: true}
	}
	if c.timeout == 0 {
		c.timeout = defaultTimeout
	}
	if c.maxBody == 0 {
		c.maxBody = defaultMaxBody
	}
	if o.AtOnce == 0 {
		o.AtOnce = defaultMaxConns
	}
	if o.PerHost == 0 {
		o.PerHost = defaultPerHost
	}
	c.gate = newGate(o.PerHost, o.AtOnce)
	for name, addr := range o.Hosts {
		c.hosts[canonicalName(name)] = addr
	}
	for _, name := range o.OwnHosts {
		c.ownHosts = append(c.ownHosts, canonicalName(name))
	}
	return c, nil
}

// canonicalName normalizes a configured name as in URLs. An invalid name stays as it is, and never matches.
func canonicalName(name string) string {
	if ascii, err := hostRules.ToASCII(name); err == nil {
		name = ascii
	}
	return strings.TrimSuffix(name, ".")
}

// ReadRoots returns the system's root certificates and those of a PEM file (D6.13). For an empty name it returns nil, the
// system's.
func ReadRoots(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil
	}
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read certificates: %w", err)
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool()
	}
	if !roots.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s holds no certificate in PEM form", file)
	}
	return roots, nil
}

// Request is one fetch.
type Request struct {
	URL        *URL
	AuthHeader string // «Name: value», for the URL's own origin alone (D6.3); empty: none
	Accept     string // empty: application/json
	Started    func() // called after queueing, when the timeout begins to run; may be nil

	// Admit is called for each connection, once its host has room for it, and may block; leave is called when the connection ends. nil: all
	// are admitted.
	Admit func(ctx context.Context) (leave func(), err error)

	// NoRedirects makes a redirect fail with redirect_error. Redirects of an operator's URL always fail.
	NoRedirects bool

	// SameOrigin makes a redirect to another origin fail with redirect_error.
	SameOrigin bool

	// JSON is the body of a POST, to an operator's URL only: a provider's is only ever read. It must be safe to send twice, which happens
	// if a kept connection turns out to be closed. nil: the request is a GET.
	JSON []byte
	// AnyStatus returns a Response for an answer with any status but a redirect, because its body describes the error.
	AnyStatus bool
	// Conditions make the request conditional where it goes to their URL; a 304 is then an answer. nil: unconditional.
	Conditions *Conditions
	// Timeout bounds the fetch, without queueing, where it is shorter than the client's; 0: the client's.
	Timeout time.Duration
	// MaxWire and MaxBody bound the body in bytes as it is sent, and after decompression; 0: the client's bound after decompression.
	MaxWire, MaxBody int64
	// CloseAfter closes the connection after the answer, also to an operator's URL.
	CloseAfter bool
}

// Response is a 2xx answer, or one of any status if the request set AnyStatus, whose body has yet to be read.
type Response struct {
	Status int
	Header http.Header
	URL    *URL // URL of the answer: the last one of redirects
	// Body is decompressed. Reading it fails with an *Error beyond a limit and when the connection breaks. It must be closed;
	// the timeout covers reading it. A connection to an operator's URL is reused if the body was read until io.EOF.
	Body io.ReadCloser

	sent *wireLimit // nil: MaxWire was not given
}

// Sent returns the number of bytes of the body that were read so far, as sent, of a request with MaxWire.
func (r *Response) Sent() int64 {
	if r.sent == nil {
		return 0
	}
	return r.sent.read
}

// Close closes idle connections; those in use are closed when their fetches end.
func (c *Client) Close() { c.pool.close() }

// Fetch gets a URL and follows redirects. It fails with an *Error, or with ctx's cause when ctx ends or its deadline passes,
// which ends queueing, connecting and reading the body.
func (c *Client) Fetch(ctx context.Context, r Request) (*Response, error) {
	var authName, authValue string
	if r.AuthHeader != "" {
		var err error
		if authName, authValue, err = CheckAuthHeader(r.AuthHeader); err != nil {
			return nil, fmt.Errorf("auth header: %w", err)
		}
	}
	if r.JSON != nil && !r.URL.operator {
		return nil, errPostToProvider
	}
	if r.Accept == "" {
		r.Accept = "application/json"
	}
	connected := false
	current, remaining := r.URL, c.timeout
	if r.Timeout > 0 {
		remaining = min(remaining, r.Timeout)
	}
	for hop := 0; ; hop++ {
		header := http.Header{"User-Agent": {c.userAgent}, "Accept": {r.Accept}, "Accept-Encoding": {"gzip"}}
		if authName != "" && current.Origin() == r.URL.Origin() {
			header[authName] = []string{authValue}
		}
		conditional := r.Conditions.add(header, current)
		release, err := c.gate.enter(ctx, current.host, r.Admit)
		if err != nil {
			return nil, err
		}
		if hop == 0 && r.Started != nil {
			r.Started()
		}
		x := newExchange(ctx, remaining, release)
		answer, err := c.roundTrip(x, current, header, r.JSON) //nolint:bodyclose // x.close ends the connection and with it the body
		connected = connected || x.link != nil
		if err == nil && !isRedirect(answer.StatusCode) {
			keep := c.reuseFor(current)
			if r.CloseAfter {
				keep = nil
			}
			return c.accept(x, &accepting{
				answer: answer, keep: keep, url: current, request: &r, notModified: conditional && answer.StatusCode == http.StatusNotModified,
			})
		}
		remaining -= x.close()
		switch {
		case err != nil:
		case r.NoRedirects || current.operator:
			err = badRedirect("", "The answer is a redirect, and none is followed here. Set the URL at which the answer is.", nil)
		default:
			current, err = resolveRedirect(current, answer.Header.Get("Location"), hop)
			if err == nil && r.SameOrigin && current.Origin() != r.URL.Origin() {
				err = badRedirect("", "The answer is a redirect to another origin. Enter the URL at which the page is.", nil)
			}
		}
		if err != nil {
			return nil, withConnected(err, connected)
		}
	}
}

// reuseFor returns the function that puts a connection to the URL back into the pool; nil for a provider, whose address is
// checked for each connection (D6.4).
func (c *Client) reuseFor(u *URL) func(*link) bool {
	if !u.operator {
		return nil
	}
	return c.pool.put
}

func withConnected(err error, connected bool) error {
	var e *Error
	if errors.As(err, &e) {
		e.Connected = connected
	}
	return err
}

func isRedirect(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// resolveRedirect returns the next URL of a redirect, validated by the same rules as the first (D6.3).
func resolveRedirect(from *URL, location string, hop int) (*URL, error) {
	if hop == maxRedirects {
		return nil, badRedirect(mapdata.ReasonTooManyHops, "There are more than 5 redirects. Register the URL at which they end.", nil)
	}
	if location == "" {
		return nil, badRedirect(mapdata.ReasonNoLocation, "The answer is a redirect to nowhere: it has no Location. Register the URL at which the snapshot is.", nil)
	}
	if strings.ContainsFunc(location, forbiddenRune) {
		return nil, badRedirect(mapdata.ReasonBadLocation, "The redirect leads to a URL with white space, control characters or a backslash.", nil)
	}
	if end := strings.IndexAny(location, ":/?#"); end < 0 || location[end] != ':' {
		relative, err := from.parsed.Parse(location)
		if err != nil {
			return nil, badRedirect(mapdata.ReasonBadLocation, "The redirect's target is not a URL.", err)
		}
		location = relative.String()
	}
	next, err := CheckURL(location)
	if err != nil {
		return nil, badRedirect(ReasonOf(err), "The redirect leads to a URL that this service does not call: it "+err.Error()+".", err)
	}
	return next, nil
}
