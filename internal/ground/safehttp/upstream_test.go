package safehttp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"wayside/internal/ground/mapdata"
)

// plainServer starts a server without TLS that counts its connections.
func plainServer(t *testing.T, answer http.HandlerFunc) (*httptest.Server, *atomic.Int32) {
	t.Helper()
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, before) })
	s := httptest.NewUnstartedServer(answer)
	made := count(s)
	s.Start()
	t.Cleanup(s.Close)
	return s, made
}

func count(s *httptest.Server) *atomic.Int32 {
	var made atomic.Int32
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			made.Add(1)
		}
	}
	return &made
}

// plainListener starts a listener without TLS that runs serve for each connection. Its URL is an operator's.
func plainListener(t *testing.T, serve func(net.Conn)) (*URL, *atomic.Int32) {
	t.Helper()
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, before) })
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var made atomic.Int32
	accept(t, listener, func(c net.Conn) {
		made.Add(1)
		serve(c)
	})
	return mustOperatorURL(t, "http://"+listener.Addr().String()), &made
}

// readRequest reads one request, and reports whether there was one.
func readRequest(c net.Conn) bool {
	var heard strings.Builder
	one := make([]byte, 1)
	for !strings.HasSuffix(heard.String(), "\r\n\r\n") {
		if n, err := c.Read(one); n == 0 || err != nil {
			return false
		}
		heard.WriteByte(one[0])
	}
	return true
}

// operatorClient returns a client as the service configures it, with its own addresses and names, and without fixed
// hosts.
func operatorClient(t *testing.T, change func(*Options)) *Client {
	t.Helper()
	o := Options{
		UserAgent: "wayside/test", Own: []netip.Addr{netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("::1")},
		OwnHosts: []string{"localhost", "relay"}, Resolver: privateNames{"relay": "127.0.0.1", "localhost": "127.0.0.1"},
	}
	if change != nil {
		change(&o)
	}
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// privateNames is a resolver with a search domain, as in a private network: its names resolve only without a trailing dot.
type privateNames map[string]string

func (n privateNames) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	addr, ok := n[host]
	if !ok {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	return []netip.Addr{netip.MustParseAddr(addr)}, nil
}

func TestOperatorURLRequests(t *testing.T) {
	var got *http.Request
	answer := func(w http.ResponseWriter, r *http.Request) {
		got = r
		fmt.Fprint(w, "{}")
	}
	plain, _ := plainServer(t, answer)
	secure := tlsServer(t, answer)
	_, plainPort, _ := net.SplitHostPort(plain.Listener.Addr().String())
	tests := []struct{ name, text, host string }{
		{"plain, by address", plain.URL + "/base", "127.0.0.1:" + plainPort},
		{"plain, by a name of the machine", "http://localhost:" + plainPort + "/base/", "localhost:" + plainPort},
		{"plain, by a private name", "http://relay:" + plainPort + "/base/", "relay:" + plainPort},
		{"plain, by a name of egress.hosts", "http://elsewhere:" + plainPort + "/base/", "elsewhere:" + plainPort},
		{"TLS, by address", secure.URL + "/base", "127.0.0.1:" + port(secure)},
		{"TLS, by a name of egress.hosts", "https://" + testHost + ":" + port(secure) + "/base/", testHost + ":" + port(secure)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			loopback := netip.MustParseAddr("127.0.0.1")
			c := operatorClient(t, func(o *Options) {
				o.RootCAs = rootsOf(secure)
				o.Hosts = map[string]netip.Addr{testHost: loopback, "elsewhere": loopback}
			})
			u := mustOperatorURL(t, tt.text).With("relay/incidents", url.Values{"lat": {"52.5"}, "lng": {"13.4"}})
			body, err := fetch(t.Context(), c, Request{URL: u, AuthHeader: "X-Service-Auth: s3cret"})
			if err != nil || body != "{}" {
				t.Fatalf("%q, %v", body, err)
			}
			want := http.Header{"Accept": {"application/json"}, "User-Agent": {"wayside/test"}, "Accept-Encoding": {"gzip"}, "X-Service-Auth": {"s3cret"}}
			if diff := cmp.Diff(want, got.Header); diff != "" {
				t.Errorf("headers (-want +got):\n%s", diff)
			}
			if got.Method != http.MethodGet || got.RequestURI != "/base/relay/incidents?lat=52.5&lng=13.4" || got.Host != tt.host {
				t.Errorf("%s %s of %s", got.Method, got.RequestURI, got.Host)
			}
		})
	}
}

func TestOperatorURLByIPv6(t *testing.T) {
	listener, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		t.Skip("there is no IPv6 here")
	}
	hosts := make(chan string, 1)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { hosts <- r.Host }))
	s.Listener.Close()
	s.Listener = listener
	s.StartTLS()
	t.Cleanup(s.Close)
	c := operatorClient(t, func(o *Options) { o.RootCAs = rootsOf(s) })
	if _, err := fetch(t.Context(), c, Request{URL: mustOperatorURL(t, "https://"+listener.Addr().String())}); err != nil {
		t.Fatal(err)
	}
	if got := <-hosts; got != listener.Addr().String() {
		t.Errorf("asked for %s", got)
	}
}

// TestProviderPolicyStillApplies checks that a client that requests operators' URLs still checks providers' (D6.4),
// also at the same address.
func TestProviderPolicyStillApplies(t *testing.T) {
	var asked atomic.Int32
	s := tlsServer(t, func(http.ResponseWriter, *http.Request) { asked.Add(1) })
	c := operatorClient(t, func(o *Options) {
		o.RootCAs = rootsOf(s)
		o.Resolver = fakeResolver{testHost: {"127.0.0.1"}}
	})
	if _, err := fetch(t.Context(), c, Request{URL: mustOperatorURL(t, s.URL)}); err != nil {
		t.Fatalf("the operator's URL: %v", err)
	}
	_, err := fetch(t.Context(), c, Request{URL: urlOf(t, s, testHost, "/")})
	_ = wantOutcome(t, err, mapdata.OutcomeBlockedAddress, false)
	if asked.Load() != 1 {
		t.Errorf("asked %d times", asked.Load())
	}
}

func TestOperatorCertificatesAreVerified(t *testing.T) {
	s := tlsServer(t, status(http.StatusOK))
	_, err := fetch(t.Context(), operatorClient(t, nil), Request{URL: mustOperatorURL(t, s.URL)})
	_ = wantOutcome(t, err, mapdata.OutcomeTLSError, true)
	c := operatorClient(t, func(o *Options) {
		o.RootCAs = rootsOf(s)
		o.Hosts = map[string]netip.Addr{"relay.lan": netip.MustParseAddr("127.0.0.1")}
	})
	_, err = fetch(t.Context(), c, Request{URL: mustOperatorURL(t, "https://relay.lan:"+port(s))})
	_ = wantOutcome(t, err, mapdata.OutcomeTLSError, true)
}

func TestNoRedirects(t *testing.T) {
	for _, code := range []int{301, 302, 303, 307, 308} {
		t.Run(strconv.Itoa(code), func(t *testing.T) {
			var asked, led atomic.Int32
			secure := tlsServer(t, func(_ http.ResponseWriter, _ *http.Request) { led.Add(1) })
			end := urlOf(t, secure, testHost, "/end").String() // a URL that a provider may redirect to
			answer := func(w http.ResponseWriter, r *http.Request) {
				asked.Add(1)
				http.Redirect(w, r, end, code)
			}
			plain, _ := plainServer(t, answer)
			leading := tlsServer(t, answer)
			c := testClient(t, secure, nil)
			defer c.Close()
			for name, r := range map[string]Request{
				"operator":                {URL: mustOperatorURL(t, plain.URL+"/start"), AuthHeader: "X-Service-Auth: k"},
				"operator, TLS":           {URL: mustOperatorURL(t, leading.URL+"/start")},
				"operator, with the flag": {URL: mustOperatorURL(t, plain.URL+"/start"), NoRedirects: true},
				"provider, with the flag": {URL: urlOf(t, leading, testHost, "/start"), NoRedirects: true},
			} {
				asked.Store(0)
				_, err := fetch(t.Context(), c, r)
				_ = wantOutcome(t, err, mapdata.OutcomeRedirectError, true)
				if asked.Load() != 1 || led.Load() != 0 {
					t.Errorf("%s: asked %d times, led %d times", name, asked.Load(), led.Load())
				}
			}
			if _, err := fetch(t.Context(), c, Request{URL: urlOf(t, leading, testHost, "/start")}); err != nil || led.Load() != 1 {
				t.Errorf("a provider's redirect is not followed any more: %v", err)
			}
		})
	}
}

// TestRedirectsAreNeverOperatorURLs checks that a provider's redirect cannot reach URLs that only an operator may
// configure.
func TestRedirectsAreNeverOperatorURLs(t *testing.T) {
	for _, to := range []string{"http://127.0.0.1:1/", "https://127.0.0.1:1/", "https://localhost/", "http://example.com/", "https://relay/", "https://example.com:80/"} {
		from, err := CheckURL("https://example.org/a")
		if err != nil {
			t.Fatal(err)
		}
		if next, err := resolveRedirect(from, to, 0); err == nil {
			t.Errorf("%s led to %v", to, next)
		}
	}
	from, err := CheckURL("https://example.org/a")
	if err != nil {
		t.Fatal(err)
	}
	if next, err := resolveRedirect(from, "https://example.com/b", 0); err != nil || next.operator {
		t.Errorf("%v, %v", next, err)
	}
}

// TestDeadlineInEveryPhase checks that the caller's deadline ends a fetch in every phase, with the caller's error.
func TestDeadlineInEveryPhase(t *testing.T) {
	hang := func(c net.Conn) { drain(c) }
	plain, _ := plainListener(t, hang)
	trickle, _ := plainListener(t, func(c net.Conn) {
		if !readRequest(c) {
			return
		}
		fmt.Fprint(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
		ticker := time.NewTicker(5 * time.Millisecond)
		defer ticker.Stop()
		for range ticker.C {
			if _, err := fmt.Fprint(c, "1\r\n \r\n"); err != nil {
				return
			}
		}
	})
	short, _ := plainListener(t, func(c net.Conn) {
		readRequest(c)
		fmt.Fprint(c, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{}")
		drain(c)
	})
	slowHead, _ := plainListener(t, func(c net.Conn) {
		readRequest(c)
		fmt.Fprint(c, "HTTP/1.1 200 OK\r\nX: ")
		ticker := time.NewTicker(5 * time.Millisecond)
		defer ticker.Stop()
		for range ticker.C {
			if _, err := fmt.Fprint(c, "x"); err != nil {
				return
			}
		}
	})
	hangDial := func(c *Client) {
		c.dial = func(ctx context.Context, _, _ string) (net.Conn, error) {
			<-ctx.Done()
			return nil, &net.OpError{Op: "dial", Err: ctx.Err()}
		}
	}
	hangLookup := func(c *Client) {
		c.resolver = resolverFunc(func(ctx context.Context) ([]netip.Addr, error) {
			<-ctx.Done()
			return nil, &net.DNSError{Err: "i/o timeout", IsTimeout: true}
		})
	}
	occupyHost := func(c *Client) { _, _ = c.gate.enter(context.Background(), "127.0.0.1", nil) }
	occupyAll := func(c *Client) { _, _ = c.gate.enter(context.Background(), "another", nil) }
	tests := []struct {
		name   string
		u      *URL
		change func(*Client)
	}{
		{"waiting for the host", plain, occupyHost},
		{"waiting for all", plain, occupyAll},
		{"looking up", mustOperatorURL(t, "http://relay"), hangLookup},
		{"connecting", plain, hangDial},
		{"shaking hands", mustOperatorURL(t, strings.Replace(plain.String(), "http:", "https:", 1)), nil},
		{"waiting for the head", plain, nil},
		{"a head that trickles", slowHead, nil},
		{"a body that trickles", trickle, nil},
		{"a body that ends too early", short, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := operatorClient(t, func(o *Options) { o.PerHost, o.AtOnce = 1, 1 })
			if tt.change != nil {
				tt.change(c)
			}
			ctx, cancel := context.WithTimeout(t.Context(), testTimeout/3)
			defer cancel()
			began := time.Now()
			_, err := fetch(ctx, c, Request{URL: tt.u})
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got %v", err)
			}
			var failed *Error
			if errors.As(err, &failed) {
				t.Errorf("the caller's deadline is reported as the upstream's failure: %v", err)
			}
			if took := time.Since(began); took > 10*testTimeout {
				t.Errorf("took %v", took)
			}
			if len(c.pool.idle) > 0 {
				t.Error("the connection was kept")
			}
		})
	}
}

// TestDeadlineSeenByNetworkFirst checks a deadline that the network notices before the context's timer fires.
func TestDeadlineSeenByNetworkFirst(t *testing.T) {
	c := operatorClient(t, nil)
	c.dial = func(ctx context.Context, _, _ string) (net.Conn, error) {
		deadline, _ := ctx.Deadline()
		for time.Now().Before(deadline) { // without waiting for the context
		}
		return nil, &net.OpError{Op: "dial", Err: errors.New("i/o timeout")}
	}
	for range 20 {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Millisecond)
		if _, err := c.Fetch(ctx, Request{URL: mustOperatorURL(t, "http://192.0.2.1")}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		cancel()
	}
}

// TestAddressesShareTimeout checks that several addresses share the timeout, so that the last one is tried.
func TestAddressesShareTimeout(t *testing.T) {
	s, _ := plainServer(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "{}") })
	c := operatorClient(t, func(o *Options) {
		o.Resolver = resolverFunc(func(context.Context) ([]netip.Addr, error) {
			return []netip.Addr{netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2"), netip.MustParseAddr("127.0.0.1")}, nil
		})
	})
	dial := c.dial
	c.dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		if strings.HasPrefix(address, "192.0.2.") {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		return dial(ctx, network, address)
	}
	_, port, _ := net.SplitHostPort(s.Listener.Addr().String())
	ctx, cancel := context.WithTimeout(t.Context(), 2*testTimeout)
	defer cancel()
	if body, err := fetch(ctx, c, Request{URL: mustOperatorURL(t, "http://relay:"+port)}); err != nil || body != "{}" {
		t.Errorf("%q, %v", body, err)
	}
}

func TestPerHost(t *testing.T) {
	const maxConns = 8
	inside, release := make(chan struct{}), make(chan struct{})
	s, _ := plainServer(t, func(http.ResponseWriter, *http.Request) {
		inside <- struct{}{}
		<-release
	})
	c := operatorClient(t, func(o *Options) { o.PerHost = maxConns })
	var fetches sync.WaitGroup
	for range maxConns {
		fetches.Go(func() {
			if _, err := fetch(t.Context(), c, Request{URL: mustOperatorURL(t, s.URL)}); err != nil {
				t.Error(err)
			}
		})
	}
	for range maxConns { // all of them concurrently
		<-inside
	}
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout/3)
	defer cancel()
	if _, err := fetch(ctx, c, Request{URL: mustOperatorURL(t, s.URL)}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("one more: %v", err)
	}
	close(release)
	fetches.Wait()
}

func TestUpstreamBodyLimits(t *testing.T) {
	tests := []struct {
		name, answer, body string
		want               mapdata.Outcome // empty: a body is returned
	}{
		{"length shorter than the body", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil", "{}", ""},
		{"length longer than the body", "HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n{}", "", mapdata.OutcomeConnectionError},
		{"length that is too long", "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n{}", "", mapdata.OutcomeTooLarge},
		{"negative length", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n{}", "", mapdata.OutcomeConnectionError},
		{"body without a length, up to the limit", "HTTP/1.1 200 OK\r\n\r\n" + strings.Repeat("x", 100), strings.Repeat("x", 100), ""},
		{"body without a length, beyond the limit", "HTTP/1.1 200 OK\r\n\r\n" + strings.Repeat("x", 101), "", mapdata.OutcomeTooLarge},
		{"five interim answers", strings.Repeat("HTTP/1.1 103 Early Hints\r\n\r\n", 5) + "HTTP/1.1 200 OK\r\n\r\n{}", "{}", ""},
		{"six interim answers", strings.Repeat("HTTP/1.1 103 Early Hints\r\n\r\n", 6) + "HTTP/1.1 200 OK\r\n\r\n{}", "", mapdata.OutcomeConnectionError},
		{"header of 60 KiB", "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 60<<10) + "\r\n\r\n{}", "{}", ""},
		{"header of 65 KiB", "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 65<<10) + "\r\n\r\n{}", "", mapdata.OutcomeTooLarge},
		{"status", "HTTP/1.1 503 no\r\nContent-Length: 0\r\n\r\n", "", mapdata.OutcomeHTTPStatus},
		{"secret refused", "HTTP/1.1 401 no\r\nContent-Length: 0\r\n\r\n", "", mapdata.OutcomeHTTPStatus},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			u, _ := plainListener(t, func(c net.Conn) {
				readRequest(c)
				fmt.Fprint(c, tt.answer)
			})
			c := operatorClient(t, func(o *Options) { o.MaxBody = 100 })
			body, err := fetch(t.Context(), c, Request{URL: u})
			if tt.want == "" {
				if err != nil || body != tt.body {
					t.Errorf("%q, %v", body, err)
				}
			} else if e := wantOutcome(t, err, tt.want, true); tt.want == mapdata.OutcomeHTTPStatus && !strings.Contains(tt.answer, strconv.Itoa(e.Status)) {
				t.Errorf("status %d", e.Status)
			}
			if len(c.pool.idle) > 0 {
				t.Error("the connection was kept")
			}
		})
	}
}

// TestPostJSON posts to an operator's URL, over a connection that is reused and after it broke, and reads the answer
// whatever its status is. It checks that nothing is ever posted to a provider.
func TestPostJSON(t *testing.T) {
	heard := make(chan string, 3)
	s, made := plainServer(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		heard <- r.Method + " " + r.Header.Get("Content-Type") + " " + string(body)
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"code":"NoRoute"}`)
	})
	c := operatorClient(t, nil)
	for i := range 3 {
		if i == 2 {
			s.CloseClientConnections() // the one that was kept
		}
		answer, err := c.Fetch(t.Context(), Request{URL: mustOperatorURL(t, s.URL), JSON: []byte(`{"a":1}`), AnyStatus: true})
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		if err := errors.Join(err, answer.Body.Close()); err != nil || answer.Status != http.StatusBadRequest || string(body) != `{"code":"NoRoute"}` {
			t.Errorf("%d %s, %v", answer.Status, body, err)
		}
		if got := <-heard; got != `POST application/json {"a":1}` {
			t.Errorf("the server was sent %q", got)
		}
	}
	if made.Load() != 2 {
		t.Errorf("%d connections, want 2", made.Load())
	}
	provider, err := CheckURL("https://data.example.org/")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Fetch(t.Context(), Request{URL: provider, JSON: []byte("{}")}); !errors.Is(err, errPostToProvider) {
		t.Errorf("a POST to a provider: %v", err)
	}
}
