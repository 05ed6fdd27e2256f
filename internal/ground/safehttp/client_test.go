package safehttp

import (
	"bufio"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"wayside/internal/ground/mapdata"
)

// Names in the certificate of httptest.
const (
	testHost  = "example.com"
	otherHost = "other.example.com"
)

// testTimeout is the timeout of tests that wait for it.
const testTimeout = 300 * time.Millisecond

// tlsServer starts a TLS server on loopback, and checks that the test leaks no goroutines.
func tlsServer(t *testing.T, answer http.HandlerFunc) *httptest.Server {
	t.Helper()
	before := goleak.IgnoreCurrent() // the servers of an outer test
	t.Cleanup(func() { goleak.VerifyNone(t, before) })
	s := httptest.NewUnstartedServer(answer)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

// rawTLSServer starts a TLS server that runs serve for each connection.
func rawTLSServer(t *testing.T, serve func(net.Conn)) *httptest.Server {
	t.Helper()
	s := tlsServer(t, nil)
	listener, err := tls.Listen("tcp", "127.0.0.1:0", s.TLS)
	if err != nil {
		t.Fatal(err)
	}
	accept(t, listener, func(conn net.Conn) {
		if err := conn.(*tls.Conn).Handshake(); err == nil {
			serve(conn)
		}
	})
	s.URL = "https://" + listener.Addr().String()
	return s
}

func accept(t *testing.T, listener net.Listener, serve func(net.Conn)) {
	var conns sync.WaitGroup
	conns.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			conns.Go(func() {
				defer conn.Close()
				serve(conn)
			})
		}
	})
	t.Cleanup(func() {
		listener.Close()
		conns.Wait()
	})
}

func port(s *httptest.Server) string {
	_, port, _ := strings.Cut(strings.TrimPrefix(s.URL, "https://"), ":")
	return port
}

func urlOf(t *testing.T, s *httptest.Server, host, path string) *URL {
	t.Helper()
	u, err := CheckURL("https://" + host + ":" + port(s) + path)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func rootsOf(s *httptest.Server) *x509.CertPool {
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	return roots
}

func testClient(t *testing.T, s *httptest.Server, change func(*Options)) *Client {
	t.Helper()
	loopback := netip.MustParseAddr("127.0.0.1")
	o := Options{UserAgent: "wayside/test (+http://localhost)", Hosts: map[string]netip.Addr{testHost: loopback, otherHost: loopback}, RootCAs: rootsOf(s)}
	if change != nil {
		change(&o)
	}
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func withTestTimeout(o *Options) { o.Timeout = testTimeout }

// fetch fetches and reads the whole body.
func fetch(ctx context.Context, c *Client, r Request) (body string, err error) {
	answer, err := c.Fetch(ctx, r)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	return string(b), err
}

func wantOutcome(t *testing.T, err error, want mapdata.Outcome, connected bool) *Error {
	t.Helper()
	var failed *Error
	if !errors.As(err, &failed) {
		t.Fatalf("got %v, want %s", err, want)
	}
	if failed.Outcome != want || failed.Connected != connected {
		t.Errorf("%s, connected %v: %v (%v); want %s, %v", failed.Outcome, failed.Connected, failed.Advice, failed.cause, want, connected)
	}
	if failed.Advice == "" || strings.Contains(err.Error(), "hostile") || strings.Contains(err.Error(), "secret") {
		t.Errorf("advice %q", err)
	}
	return failed
}

func TestRequestHeaders(t *testing.T) {
	var got *http.Request
	s := tlsServer(t, func(w http.ResponseWriter, r *http.Request) {
		got = r
		fmt.Fprint(w, "[]")
	})
	body, err := fetch(t.Context(), testClient(t, s, nil), Request{URL: urlOf(t, s, testHost, "/a%2Fb?x=1&x=2"), AuthHeader: "X-api-KEY: s3cret"})
	if err != nil || body != "[]" {
		t.Fatalf("%q, %v", body, err)
	}
	want := http.Header{
		"Accept": {"application/json"}, "User-Agent": {"wayside/test (+http://localhost)"}, "Accept-Encoding": {"gzip"}, "X-Api-Key": {"s3cret"},
	}
	if diff := cmp.Diff(want, got.Header); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
	if got.Method != http.MethodGet || got.RequestURI != "/a%2Fb?x=1&x=2" || got.Host != testHost+":"+port(s) || got.ContentLength != 0 || got.Proto != "HTTP/1.1" || got.TLS.ServerName != testHost {
		t.Errorf("%s %s of %s, %d bytes, %s, for %s", got.Method, got.RequestURI, got.Host, got.ContentLength, got.Proto, got.TLS.ServerName)
	}
}

func TestAuthHeaderIsSentVerbatim(t *testing.T) {
	lines := make(chan string, 1)
	s := rawTLSServer(t, func(conn net.Conn) {
		head := bufio.NewReader(conn)
		var all strings.Builder
		for line := ""; line != "\r\n"; {
			line, _ = head.ReadString('\n')
			all.WriteString(line)
		}
		lines <- all.String()
		fmt.Fprint(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]")
	})
	if _, err := fetch(t.Context(), testClient(t, s, nil), Request{URL: urlOf(t, s, testHost, "/"), AuthHeader: "x-API-key: a  b"}); err != nil {
		t.Fatal(err)
	}
	if got := <-lines; !strings.Contains(got, "\r\nx-API-key: a  b\r\n") {
		t.Errorf("sent %q", got)
	}
}

func TestBodies(t *testing.T) {
	text := strings.Repeat(`[{"kind":"alert.police"}]`, 10000)
	tests := []struct {
		name   string
		answer http.HandlerFunc
		want   string
	}{
		{"plain", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) }, text},
		{"empty", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }, ""},
		{"other 2xx", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusAccepted); fmt.Fprint(w, "[]") }, "[]"},
		{"gzip", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			fmt.Fprint(z, text)
			z.Close()
		}, text},
		{"after interim answers", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusEarlyHints)
			w.WriteHeader(http.StatusProcessing)
			fmt.Fprint(w, "[]")
		}, "[]"},
		{"identity", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "identity")
			fmt.Fprint(w, "[]")
		}, "[]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := tlsServer(t, tt.answer)
			got, err := fetch(t.Context(), testClient(t, s, nil), Request{URL: urlOf(t, s, testHost, "/")})
			if err != nil || got != tt.want {
				t.Errorf("%d bytes, %v; want %d", len(got), err, len(tt.want))
			}
		})
	}
}

func TestBodyLimit(t *testing.T) {
	s := tlsServer(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, strings.Repeat("x", map[string]int{"/full": 1000, "/over": 1001}[r.URL.Path]))
	})
	c := testClient(t, s, func(o *Options) { o.MaxBody = 1000 })
	if got, err := fetch(t.Context(), c, Request{URL: urlOf(t, s, testHost, "/full")}); err != nil || len(got) != 1000 {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	_, err := fetch(t.Context(), c, Request{URL: urlOf(t, s, testHost, "/over")})
	_ = wantOutcome(t, err, mapdata.OutcomeTooLarge, true)
}

func TestRedirects(t *testing.T) {
	var seen []string
	mux := http.NewServeMux()
	mux.HandleFunc("/end", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "[]") })
	for i := range 6 {
		mux.HandleFunc(fmt.Sprintf("/%d", i), func(w http.ResponseWriter, r *http.Request) {
			next := "end"
			if i > 0 {
				next = fmt.Sprint(i - 1)
			}
			http.Redirect(w, r, next, []int{301, 302, 303, 307, 308}[i%5])
		})
	}
	mux.HandleFunc("/there", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Set-Cookie", "a=b")
		http.Redirect(w, r, "https://"+otherHost+":"+r.Host[len(testHost)+1:]+"/back", http.StatusFound)
	})
	mux.HandleFunc("/back", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "https://"+testHost+":"+r.Host[len(otherHost)+1:]+"/end?q", http.StatusFound)
	})
	s := tlsServer(t, func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Host[:strings.Index(r.Host, ":")]+r.RequestURI+" "+r.Header.Get("X-Key")+r.Header.Get("Cookie")+r.Header.Get("Referer"))
		mux.ServeHTTP(w, r)
	})
	c := testClient(t, s, nil)
	t.Run("five are followed", func(t *testing.T) {
		seen = nil
		body, err := fetch(t.Context(), c, Request{URL: urlOf(t, s, testHost, "/4"), AuthHeader: "X-Key: k"})
		want := []string{"example.com/4 k", "example.com/3 k", "example.com/2 k", "example.com/1 k", "example.com/0 k", "example.com/end k"}
		if diff := cmp.Diff(want, seen); err != nil || body != "[]" || diff != "" {
			t.Errorf("%q, %v (-want +got):\n%s", body, err, diff)
		}
	})
	t.Run("a sixth is not", func(t *testing.T) {
		_, err := fetch(t.Context(), c, Request{URL: urlOf(t, s, testHost, "/5")})
		_ = wantOutcome(t, err, mapdata.OutcomeRedirectError, true)
	})
	t.Run("the auth header stays with its origin", func(t *testing.T) {
		seen = nil
		_, err := fetch(t.Context(), c, Request{URL: urlOf(t, s, testHost, "/there"), AuthHeader: "X-Key: k"})
		want := []string{"example.com/there k", "other.example.com/back ", "example.com/end?q k"}
		if diff := cmp.Diff(want, seen); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	})
	t.Run("to another origin, where only the same one is wanted", func(t *testing.T) {
		seen = nil
		_, err := fetch(t.Context(), c, Request{URL: urlOf(t, s, testHost, "/there"), SameOrigin: true})
		_ = wantOutcome(t, err, mapdata.OutcomeRedirectError, true)
		if want := []string{"example.com/there "}; !cmp.Equal(seen, want) {
			t.Errorf("requests %q, want %q", seen, want)
		}
		if body, err := fetch(t.Context(), c, Request{URL: urlOf(t, s, testHost, "/4"), SameOrigin: true}); err != nil || body != "[]" {
			t.Errorf("within the origin: %q, %v", body, err)
		}
	})
	t.Run("another port is another origin", func(t *testing.T) {
		second := tlsServer(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Header.Get("X-Key")) })
		first := tlsServer(t, redirectTo(urlOf(t, second, testHost, "/").String()))
		body, err := fetch(t.Context(), testClient(t, first, nil), Request{URL: urlOf(t, first, testHost, "/"), AuthHeader: "X-Key: k"})
		if err != nil || body != "" {
			t.Errorf("%q, %v", body, err)
		}
	})
}

// TestPerHostLimit checks that there are at most two connections to one host, that more wait without consuming their
// timeout, and that other hosts do not wait (D6.12).
func TestPerHostLimit(t *testing.T) {
	var now, most atomic.Int32
	inside := make(chan struct{}, 10)
	release := make(chan struct{})
	s := tlsServer(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.Host, otherHost) {
			fmt.Fprint(w, "[]")
			return
		}
		most.Store(max(most.Load(), now.Add(1)))
		inside <- struct{}{}
		<-release
		now.Add(-1)
		fmt.Fprint(w, "[]")
	})
	c := testClient(t, s, nil)
	var fetches sync.WaitGroup
	for range 6 {
		fetches.Go(func() {
			if _, err := fetch(t.Context(), c, Request{URL: urlOf(t, s, testHost, "/")}); err != nil {
				t.Error(err)
			}
		})
	}
	<-inside
	<-inside
	if _, err := fetch(t.Context(), c, Request{URL: urlOf(t, s, otherHost, "/")}); err != nil {
		t.Errorf("another host waited: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
	defer cancel()
	if _, err := fetch(ctx, c, Request{URL: urlOf(t, s, testHost, "/")}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a third connection was made: %v", err)
	}
	close(release)
	fetches.Wait()
	if most.Load() != 2 {
		t.Errorf("%d connections at a time", most.Load())
	}
	if len(c.gate.hosts) != 0 || len(c.gate.all) != 0 {
		t.Errorf("the limiter still holds %d hosts, %d connections", len(c.gate.hosts), len(c.gate.all))
	}
}

func TestTimeoutExcludesQueueing(t *testing.T) {
	release := make(chan struct{})
	s := tlsServer(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			<-r.Context().Done()
			return
		}
		fmt.Fprint(w, "[]")
	})
	c := testClient(t, s, func(o *Options) { o.Timeout = 2 * testTimeout })
	var fetches sync.WaitGroup
	for range 2 {
		fetches.Go(func() {
			_, err := fetch(t.Context(), c, Request{URL: urlOf(t, s, testHost, "/slow"), Started: func() { release <- struct{}{} }})
			_ = wantOutcome(t, err, mapdata.OutcomeTimeout, true)
		})
	}
	<-release
	<-release
	// These wait in the queue for two whole timeouts.
	for range 4 {
		fetches.Go(func() {
			_, err := fetch(t.Context(), c, Request{URL: urlOf(t, s, testHost, "/slow")})
			_ = wantOutcome(t, err, mapdata.OutcomeTimeout, true)
		})
	}
	if _, err := fetch(t.Context(), c, Request{URL: urlOf(t, s, testHost, "/")}); err != nil {
		t.Error(err)
	}
	fetches.Wait()
}

// TestCallerCancels checks that a cancellation by the caller is not reported as the provider's failure, in any phase.
func TestCallerCancels(t *testing.T) {
	reached := make(chan struct{})
	s := tlsServer(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/body" {
			fmt.Fprint(w, "[")
			_ = http.NewResponseController(w).Flush()
		}
		reached <- struct{}{}
		<-r.Context().Done()
	})
	c := testClient(t, s, nil)
	for _, path := range []string{"/head", "/body"} {
		ctx, cancel := context.WithCancelCause(t.Context())
		errCaller := errors.New("cancelled by the caller")
		go func() {
			<-reached
			cancel(errCaller)
		}()
		_, err := fetch(ctx, c, Request{URL: urlOf(t, s, testHost, path)})
		var failed *Error
		if !errors.Is(err, errCaller) || errors.As(err, &failed) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestBodyClosedEarly(t *testing.T) {
	s := tlsServer(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.Copy(w, zeros{}) })
	c := testClient(t, s, nil)
	answer, err := c.Fetch(t.Context(), Request{URL: urlOf(t, s, testHost, "/")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.CopyN(sha256.New(), answer.Body, 1000); err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	answer.Body.Close()
	if _, err := answer.Body.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
		t.Errorf("after closing: %v", err)
	}
	if len(c.gate.hosts) != 0 {
		t.Error("the connection is still counted")
	}
}

func TestReadRoots(t *testing.T) {
	if roots, err := ReadRoots(""); roots != nil || err != nil {
		t.Errorf("no file: %v, %v", roots, err)
	}
	if _, err := ReadRoots(t.TempDir() + "/none"); err == nil {
		t.Error("a missing file was taken")
	}
	if _, err := ReadRoots("client_test.go"); err == nil {
		t.Error("a file without certificates was taken")
	}
}
