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

	"wayside/internal/mapdata"
)

// Limits of a fetch (D6.3, D6.6, D6.12).
const (
	maxRedirects   = 5
	maxHeader      = 64 << 10
	defaultTimeout = 15 * time.Second
	defaultMaxBody = 64 << 20
	defaultPerHost = 2
	defaultAtOnce  = 256
)

// Options are what a Client needs. Only UserAgent has no default.
type Options struct {
	UserAgent string                // wayside/<version> (+<base_url>)
	Hosts     map[string]netip.Addr // names that lead to this address, unchecked (D6.13)
	RootCAs   *x509.CertPool        // nil: the system's
	Own       []netip.Addr          // the service's own addresses, refused (D6.4)
	OwnHosts  []string              // the service's own names, refused without looking them up
	Resolver  Resolver              // nil: the name servers of the system

	Timeout time.Duration // of a whole fetch, waiting for its turn apart; 0: 15 s, as D6.6 demands
	MaxBody int64         // bytes, after decompression; 0: 64 MiB, as D6.6 demands
	AtOnce  int           // connections at a time, to all hosts; 0: 256
	PerHost int           // connections at a time, to one host; 0: 2, as D6.12 demands
}

// Client fetches. It may be used from many goroutines. While nobody fetches it holds nothing but idle connections to
// operators' URLs, at most 16 and none of them used after 30 s; Close ends those.
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

// New makes a Client.
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
		// The system's own resolver could not be stopped when time is up.
		c.resolver = &net.Resolver{PreferGo: true}
	}
	if c.timeout == 0 {
		c.timeout = defaultTimeout
	}
	if c.maxBody == 0 {
		c.maxBody = defaultMaxBody
	}
	if o.AtOnce == 0 {
		o.AtOnce = defaultAtOnce
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

// canonicalName gives a configured name the form that URLs have; one that is no host name stays, and never matches.
func canonicalName(name string) string {
	if ascii, err := hostRules.ToASCII(name); err == nil {
		name = ascii
	}
	return strings.TrimSuffix(name, ".")
}

// ReadRoots gives the system's authorities and those of a file in PEM (D6.13). An empty name gives nil: the system's.
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
	Started    func() // called when the fetch's turn has come and its time begins to run; nil: nobody asks

	// NoRedirects makes of a redirect a failure, redirect_error. An operator's URL is never redirected, whatever this says.
	NoRedirects bool
}

// Response is a 2xx answer whose body has yet to be read.
type Response struct {
	Status int
	Header http.Header
	// Body is decompressed. Reading it fails with an *Error past a limit and when it breaks off. It must be closed, and the
	// fetch's time runs until then. A connection to an operator's URL is used again if the body was read until io.EOF.
	Body io.ReadCloser
}

// Close ends idle connections, and has those in use end with their fetches.
func (c *Client) Close() { c.pool.close() }

// Fetch gets a URL, by redirects if need be. It fails with an *Error, or with ctx's own cause when ctx ended, by its
// deadline too: waiting for a turn, connecting, and reading the body end with it.
func (c *Client) Fetch(ctx context.Context, r Request) (*Response, error) {
	var authName, authValue string
	if r.AuthHeader != "" {
		var err error
		if authName, authValue, err = CheckAuthHeader(r.AuthHeader); err != nil {
			return nil, fmt.Errorf("auth header: %w", err)
		}
	}
	if r.Accept == "" {
		r.Accept = "application/json"
	}
	connected := false
	at, left := r.URL, c.timeout
	for hop := 0; ; hop++ {
		header := http.Header{"User-Agent": {c.userAgent}, "Accept": {r.Accept}, "Accept-Encoding": {"gzip"}}
		if authName != "" && at.Origin() == r.URL.Origin() {
			header[authName] = []string{authValue}
		}
		leave, err := c.gate.enter(ctx, at.host)
		if err != nil {
			return nil, err
		}
		if hop == 0 && r.Started != nil {
			r.Started()
		}
		x := newExchange(ctx, left, leave)
		answer, err := c.ask(x, at, header) //nolint:bodyclose // x.close ends the connection and with it the body
		connected = connected || x.link != nil
		if err == nil && !isRedirect(answer.StatusCode) {
			return c.accept(x, answer, c.keeper(at))
		}
		left -= x.close()
		switch {
		case err != nil:
		case r.NoRedirects || at.operator:
			err = badRedirect("", "The answer is a redirect, and none is followed here. Set the URL at which the answer is.", nil)
		default:
			at, err = follow(at, answer.Header.Get("Location"), hop)
		}
		if err != nil {
			return nil, withConnected(err, connected)
		}
	}
}

// keeper is what takes a connection to the URL when its exchange is over; nil: nothing does, for a provider's connection is
// checked each time anew (D6.4).
func (c *Client) keeper(u *URL) func(*link) bool {
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

// follow gives the next URL of a redirect, held to the same rules as the first (D6.3).
func follow(from *URL, location string, hop int) (*URL, error) {
	if hop == maxRedirects {
		return nil, badRedirect(mapdata.ReasonTooManyHops, "There are more than 5 redirects. Register the URL at which they end.", nil)
	}
	if location == "" {
		return nil, badRedirect(mapdata.ReasonNoLocation, "The answer is a redirect to nowhere: it has no Location. Register the URL at which the snapshot is.", nil)
	}
	if strings.ContainsFunc(location, unfit) {
		return nil, badRedirect(mapdata.ReasonBadLocation, "The redirect leads to a URL with white space, control characters or a backslash.", nil)
	}
	if end := strings.IndexAny(location, ":/?#"); end < 0 || location[end] != ':' {
		relative, err := from.parsed.Parse(location)
		if err != nil {
			return nil, badRedirect(mapdata.ReasonBadLocation, "The redirect leads to something that is no URL.", err)
		}
		location = relative.String()
	}
	next, err := CheckURL(location)
	if err != nil {
		return nil, badRedirect(ReasonOf(err), "The redirect leads to a URL that this service does not call: it "+err.Error()+".", err)
	}
	return next, nil
}
