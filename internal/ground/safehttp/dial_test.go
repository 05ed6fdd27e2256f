package safehttp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"wayside/internal/ground/mapdata"
)

// fakeResolver is a resolver with fixed addresses by name.
type fakeResolver map[string][]string

func (n fakeResolver) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	host, dotted := strings.CutSuffix(host, ".")
	if !dotted {
		return nil, errors.New("asked for a relative name")
	}
	var all []netip.Addr
	for _, text := range n[host] {
		all = append(all, netip.MustParseAddr(text))
	}
	if all == nil {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	return all, nil
}

// sequenceResolver is a resolver that returns one answer after the other.
type sequenceResolver struct {
	answers [][]netip.Addr
	asked   atomic.Int32
}

func (r *sequenceResolver) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return r.answers[min(int(r.asked.Add(1)), len(r.answers))-1], nil
}

// recordDials redirects dials to a server on loopback, and records the dialled addresses.
func recordDials(c *Client, s *httptest.Server) *[]string {
	var to []string
	c.dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		to = append(to, address)
		return (&net.Dialer{}).DialContext(ctx, network, "127.0.0.1:"+port(s))
	}
	return &to
}

func TestResolvedAddresses(t *testing.T) {
	tests := []struct {
		name    string
		answers []string
		want    mapdata.Outcome
	}{
		{"public", []string{"93.184.216.34"}, ""},
		{"public, twice", []string{"2606:2800:220:1::1", "93.184.216.34"}, ""},
		{"private", []string{"10.0.0.1"}, mapdata.OutcomeBlockedAddress},
		{"loopback", []string{"127.0.0.1"}, mapdata.OutcomeBlockedAddress},
		{"metadata", []string{"169.254.169.254"}, mapdata.OutcomeBlockedAddress},
		{"mapped", []string{"::ffff:127.0.0.1"}, mapdata.OutcomeBlockedAddress},
		{"one private among several", []string{"93.184.216.34", "2606:2800:220:1::1", "192.168.1.1"}, mapdata.OutcomeBlockedAddress},
		{"the service's own", []string{"93.184.216.99"}, mapdata.OutcomeBlockedAddress},
		{"none", nil, mapdata.OutcomeDNSError},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := tlsServer(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "[]") })
			c := testClient(t, s, func(o *Options) {
				o.Hosts = nil
				o.Resolver = fakeResolver{testHost: tt.answers}
				o.Own = []netip.Addr{netip.MustParseAddr("93.184.216.99")}
			})
			to := recordDials(c, s)
			_, err := fetch(t.Context(), c, Request{URL: urlOf(t, s, testHost, "/")})
			if tt.want != "" {
				_ = wantOutcome(t, err, tt.want, false)
				if len(*to) > 0 {
					t.Errorf("dialled %v", *to)
				}
				return
			}
			if want := []string{net.JoinHostPort(tt.answers[0], port(s))}; err != nil || !cmp.Equal(*to, want) {
				t.Errorf("dialled %v, %v; want %v", *to, err, want)
			}
		})
	}
}

// TestDNSRebinding checks that a name that resolves to a public address first and to a private one later is blocked,
// because the address of each connection is checked.
func TestDNSRebinding(t *testing.T) {
	public, private := netip.MustParseAddr("93.184.216.34"), netip.MustParseAddr("127.0.0.1")
	s := tlsServer(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/again" {
			http.Redirect(w, r, "/", http.StatusFound)
		}
		fmt.Fprint(w, "[]")
	})
	rebinding := func() (*Client, *[]string) {
		c := testClient(t, s, func(o *Options) {
			o.Hosts = nil
			o.Resolver = &sequenceResolver{answers: [][]netip.Addr{{public}, {private}}}
		})
		return c, recordDials(c, s)
	}
	t.Run("between fetches", func(t *testing.T) {
		c, to := rebinding()
		if _, err := fetch(t.Context(), c, Request{URL: urlOf(t, s, testHost, "/")}); err != nil {
			t.Fatal(err)
		}
		_, err := fetch(t.Context(), c, Request{URL: urlOf(t, s, testHost, "/")})
		_ = wantOutcome(t, err, mapdata.OutcomeBlockedAddress, false)
		if len(*to) != 1 {
			t.Errorf("dialled %v", *to)
		}
	})
	t.Run("between redirects", func(t *testing.T) {
		c, to := rebinding()
		_, err := fetch(t.Context(), c, Request{URL: urlOf(t, s, testHost, "/again")})
		_ = wantOutcome(t, err, mapdata.OutcomeBlockedAddress, true)
		if len(*to) != 1 {
			t.Errorf("dialled %v", *to)
		}
	})
}

func TestFallbackToSecondAddress(t *testing.T) {
	s := tlsServer(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "[]") })
	c := testClient(t, s, func(o *Options) {
		o.Hosts = nil
		o.Resolver = fakeResolver{testHost: {"93.184.216.34", "93.184.216.35"}}
	})
	to := recordDials(c, s)
	dial := c.dial
	c.dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if len(*to) == 1 && err == nil {
			conn.Close()
			return nil, errors.New("refused")
		}
		return conn, err
	}
	if _, err := fetch(t.Context(), c, Request{URL: urlOf(t, s, testHost, "/")}); err != nil || len(*to) != 2 {
		t.Errorf("%v, dialled %v", err, *to)
	}
}

// TestDialsAreBounded holds that of a name with many addresses four are tried.
func TestDialsAreBounded(t *testing.T) {
	s := tlsServer(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "[]") })
	var addresses []string
	for i := range 60 {
		addresses = append(addresses, fmt.Sprint("93.184.216.", 40+i))
	}
	c := testClient(t, s, func(o *Options) {
		o.Hosts = nil
		o.Resolver = fakeResolver{testHost: addresses}
	})
	dials := 0
	c.dial = func(context.Context, string, string) (net.Conn, error) {
		dials++
		return nil, errors.New("refused")
	}
	if _, err := fetch(t.Context(), c, Request{URL: urlOf(t, s, testHost, "/")}); err == nil || dials != 4 {
		t.Errorf("%v, dialled %d times, want 4", err, dials)
	}
}

func TestResolverTimeouts(t *testing.T) {
	s := tlsServer(t, nil)
	hanging := resolverFunc(func(ctx context.Context) ([]netip.Addr, error) {
		<-ctx.Done()
		return nil, &net.DNSError{Err: ctx.Err().Error(), IsTimeout: true}
	})
	c := testClient(t, s, func(o *Options) { o.Hosts, o.Resolver, o.Timeout = nil, hanging, testTimeout })
	_, err := fetch(t.Context(), c, Request{URL: urlOf(t, s, testHost, "/")})
	_ = wantOutcome(t, err, mapdata.OutcomeTimeout, false)

	gaveUp := resolverFunc(func(context.Context) ([]netip.Addr, error) {
		return nil, &net.DNSError{Err: "i/o timeout", IsTimeout: true}
	})
	c = testClient(t, s, func(o *Options) { o.Hosts, o.Resolver = nil, gaveUp })
	_, err = fetch(t.Context(), c, Request{URL: urlOf(t, s, testHost, "/")})
	_ = wantOutcome(t, err, mapdata.OutcomeDNSError, false)
}

type resolverFunc func(context.Context) ([]netip.Addr, error)

func (f resolverFunc) LookupNetIP(ctx context.Context, _, _ string) ([]netip.Addr, error) {
	return f(ctx)
}

func TestOwnHostIsBlocked(t *testing.T) {
	s := tlsServer(t, nil)
	c := testClient(t, s, func(o *Options) {
		o.Hosts = nil
		o.OwnHosts = []string{"EXAMPLE.com."}
		o.Resolver = fakeResolver{testHost: {"93.184.216.34"}}
	})
	to := recordDials(c, s)
	_, err := fetch(t.Context(), c, Request{URL: urlOf(t, s, testHost, "/")})
	_ = wantOutcome(t, err, mapdata.OutcomeBlockedAddress, false)
	if len(*to) != 0 {
		t.Errorf("dialled %v", *to)
	}
}

func TestNoProxyAndNoSearchDomain(t *testing.T) {
	for _, name := range []string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "ALL_PROXY"} {
		t.Setenv(name, "http://127.0.0.1:1")
	}
	s := tlsServer(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "[]") })
	if _, err := fetch(t.Context(), testClient(t, s, nil), Request{URL: urlOf(t, s, testHost, "/")}); err != nil {
		t.Error(err)
	}
}
