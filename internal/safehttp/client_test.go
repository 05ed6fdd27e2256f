package safehttp

import (
	"bufio"
	"bytes"
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

	"wayside/internal/mapdata"
)

// The certificate of httptest is for these names.
const (
	here  = "example.com"
	there = "other.example.com"
)

// soon is the limit of time in tests that wait for it.
const soon = 300 * time.Millisecond

// provider starts a TLS server on loopback, and sees to it that nothing of it or of the fetch is left.
func provider(t *testing.T, answer http.HandlerFunc) *httptest.Server {
	t.Helper()
	before := goleak.IgnoreCurrent() // the servers of an outer test
	t.Cleanup(func() { goleak.VerifyNone(t, before) })
	s := httptest.NewUnstartedServer(answer)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

// rawProvider speaks TLS, and then whatever talk does.
func rawProvider(t *testing.T, talk func(net.Conn)) *httptest.Server {
	t.Helper()
	s := provider(t, nil)
	listener, err := tls.Listen("tcp", "127.0.0.1:0", s.TLS)
	if err != nil {
		t.Fatal(err)
	}
	accept(t, listener, func(conn net.Conn) {
		if err := conn.(*tls.Conn).Handshake(); err == nil {
			talk(conn)
		}
	})
	s.URL = "https://" + listener.Addr().String()
	return s
}

func accept(t *testing.T, listener net.Listener, talk func(net.Conn)) {
	var conns sync.WaitGroup
	conns.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			conns.Go(func() {
				defer conn.Close()
				talk(conn)
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

func client(t *testing.T, s *httptest.Server, change func(*Options)) *Client {
	t.Helper()
	loopback := netip.MustParseAddr("127.0.0.1")
	o := Options{UserAgent: "wayside/test (+http://localhost)", Hosts: map[string]netip.Addr{here: loopback, there: loopback}, RootCAs: rootsOf(s)}
	if change != nil {
		change(&o)
	}
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func hurried(o *Options) { o.Timeout = soon }

// fetch reads everything.
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

func TestRequestIsExactlyThis(t *testing.T) {
	var got *http.Request
	s := provider(t, func(w http.ResponseWriter, r *http.Request) {
		got = r
		fmt.Fprint(w, "[]")
	})
	body, err := fetch(t.Context(), client(t, s, nil), Request{URL: urlOf(t, s, here, "/a%2Fb?x=1&x=2"), AuthHeader: "X-api-KEY: s3cret"})
	if err != nil || body != "[]" {
		t.Fatalf("%q, %v", body, err)
	}
	want := http.Header{
		"Accept": {"application/json"}, "User-Agent": {"wayside/test (+http://localhost)"}, "Accept-Encoding": {"gzip"}, "X-Api-Key": {"s3cret"},
	}
	if diff := cmp.Diff(want, got.Header); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
	if got.Method != http.MethodGet || got.RequestURI != "/a%2Fb?x=1&x=2" || got.Host != here+":"+port(s) || got.ContentLength != 0 || got.Proto != "HTTP/1.1" || got.TLS.ServerName != here {
		t.Errorf("%s %s of %s, %d bytes, %s, for %s", got.Method, got.RequestURI, got.Host, got.ContentLength, got.Proto, got.TLS.ServerName)
	}
}

func TestAuthHeaderIsSentVerbatim(t *testing.T) {
	lines := make(chan string, 1)
	s := rawProvider(t, func(conn net.Conn) {
		head := bufio.NewReader(conn)
		var all strings.Builder
		for line := ""; line != "\r\n"; {
			line, _ = head.ReadString('\n')
			all.WriteString(line)
		}
		lines <- all.String()
		fmt.Fprint(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]")
	})
	if _, err := fetch(t.Context(), client(t, s, nil), Request{URL: urlOf(t, s, here, "/"), AuthHeader: "x-API-key: a  b"}); err != nil {
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
			s := provider(t, tt.answer)
			got, err := fetch(t.Context(), client(t, s, nil), Request{URL: urlOf(t, s, here, "/")})
			if err != nil || got != tt.want {
				t.Errorf("%d bytes, %v; want %d", len(got), err, len(tt.want))
			}
		})
	}
}

func TestBodyUpToTheLimit(t *testing.T) {
	s := provider(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, strings.Repeat("x", map[string]int{"/full": 1000, "/over": 1001}[r.URL.Path]))
	})
	c := client(t, s, func(o *Options) { o.MaxBody = 1000 })
	if got, err := fetch(t.Context(), c, Request{URL: urlOf(t, s, here, "/full")}); err != nil || len(got) != 1000 {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	_, err := fetch(t.Context(), c, Request{URL: urlOf(t, s, here, "/over")})
	_ = wantOutcome(t, err, mapdata.OutcomeTooLarge, true)
}

// zeros is an endless text.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '0'
	}
	return len(p), nil
}

func TestHostileAnswers(t *testing.T) {
	endless := func(w io.Writer) { _, _ = io.Copy(w, zeros{}) } // until the client has had enough
	bomb := gzipped(t, io.LimitReader(zeros{}, 10<<20))
	tests := []struct {
		name   string
		answer http.HandlerFunc
		want   mapdata.Outcome
	}{
		{"hangs before the headers", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, mapdata.OutcomeTimeout},
		{"hangs within the body", func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, "[")
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}, mapdata.OutcomeTimeout},
		{"trickles", func(w http.ResponseWriter, r *http.Request) {
			drop := time.NewTicker(10 * time.Millisecond)
			defer drop.Stop()
			for r.Context().Err() == nil {
				<-drop.C
				fmt.Fprint(w, " ")
				_ = http.NewResponseController(w).Flush()
			}
		}, mapdata.OutcomeTimeout},
		{"sends 10 GB", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "10000000000")
			endless(w)
		}, mapdata.OutcomeTooLarge},
		{"sends without end", func(w http.ResponseWriter, _ *http.Request) { endless(w) }, mapdata.OutcomeTooLarge},
		{"sends a gzip bomb", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(bomb)
		}, mapdata.OutcomeTooLarge},
		{"sends two layers of gzip", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip, gzip")
			_, _ = w.Write(gzipped(t, bytes.NewReader(bomb)))
		}, mapdata.OutcomeParseError},
		{"sends another encoding", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "br")
			fmt.Fprint(w, "hostile")
		}, mapdata.OutcomeParseError},
		{"says gzip and sends none", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			fmt.Fprint(w, "hostile hostile hostile")
		}, mapdata.OutcomeParseError},
		{"says gzip and sends nothing", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
		}, mapdata.OutcomeParseError},
		{"sends broken gzip", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			broken := bytes.Clone(bomb[:len(bomb)/2])
			_, _ = w.Write(append(broken[:100], bytes.Repeat([]byte{0xff}, 1000)...))
		}, mapdata.OutcomeParseError},
		{"closes within the body", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			fmt.Fprint(w, "hostile")
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}, mapdata.OutcomeConnectionError},
		{"closes without an answer", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, mapdata.OutcomeConnectionError},
		{"sends headers without end", func(w http.ResponseWriter, _ *http.Request) {
			for i := range 1000 {
				w.Header().Set(fmt.Sprintf("X-%d", i), strings.Repeat("hostile", 100))
			}
		}, mapdata.OutcomeTooLarge},
		{"answers 304", status(http.StatusNotModified), mapdata.OutcomeHTTPStatus},
		{"answers 300", status(http.StatusMultipleChoices), mapdata.OutcomeHTTPStatus},
		{"answers 401", status(http.StatusUnauthorized), mapdata.OutcomeHTTPStatus},
		{"answers 404", status(http.StatusNotFound), mapdata.OutcomeHTTPStatus},
		{"answers 429", status(http.StatusTooManyRequests), mapdata.OutcomeHTTPStatus},
		{"answers 500", status(http.StatusInternalServerError), mapdata.OutcomeHTTPStatus},
		{"answers 999", status(999), mapdata.OutcomeHTTPStatus},
		{"redirects without end", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, r.URL.Path+"x", http.StatusFound)
		}, mapdata.OutcomeRedirectError},
		{"redirects in a circle", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/", http.StatusTemporaryRedirect)
		}, mapdata.OutcomeRedirectError},
		{"redirects to nowhere", status(http.StatusFound), mapdata.OutcomeRedirectError},
		{"redirects to http", redirectTo("http://example.com/hostile"), mapdata.OutcomeRedirectError},
		{"redirects to a file", redirectTo("file:///etc/passwd"), mapdata.OutcomeRedirectError},
		{"redirects to an address", redirectTo("https://127.0.0.1/hostile"), mapdata.OutcomeRedirectError},
		{"redirects to an address, short", redirectTo("//[::1]/hostile"), mapdata.OutcomeRedirectError},
		{"redirects to localhost", redirectTo("https://localhost/hostile"), mapdata.OutcomeRedirectError},
		{"redirects to a bad port", redirectTo("https://example.com:25/hostile"), mapdata.OutcomeRedirectError},
		{"redirects with user information", redirectTo("https://hostile@example.com/"), mapdata.OutcomeRedirectError},
		{"redirects with user information, short", redirectTo("//hostile@example.com/"), mapdata.OutcomeRedirectError},
		{"redirects with a backslash", redirectTo("https:\\\\example.com\\hostile"), mapdata.OutcomeRedirectError},
		{"redirects with a fragment", redirectTo("/a#hostile"), mapdata.OutcomeRedirectError},
		{"redirects to no URL", redirectTo("https://%zz/hostile"), mapdata.OutcomeRedirectError},
		{"redirects to a private address", redirectTo("https://private.example.com/hostile"), mapdata.OutcomeBlockedAddress},
		{"redirects to a name without address", redirectTo("https://unknown.example.com/hostile"), mapdata.OutcomeDNSError},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := provider(t, tt.answer)
			c := client(t, s, func(o *Options) {
				o.MaxBody = 1 << 20
				o.Resolver = names{"private.example.com": {"10.0.0.1"}}
				if tt.want == mapdata.OutcomeTimeout {
					o.Timeout = soon
				}
			})
			began := time.Now()
			_, err := fetch(t.Context(), c, Request{URL: urlOf(t, s, here, "/hostile?secret"), AuthHeader: "X-Key: secret"})
			_ = wantOutcome(t, err, tt.want, true)
			if took := time.Since(began); tt.want == mapdata.OutcomeTimeout && (took < soon || took > 10*soon) {
				t.Errorf("took %v, the limit is %v", took, soon)
			}
		})
	}
}

func gzipped(t *testing.T, r io.Reader) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := io.Copy(z, r); err != nil {
		t.Fatal(err)
	}
	z.Close()
	return b.Bytes()
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		if code != http.StatusNotModified {
			fmt.Fprint(w, "hostile")
		}
	}
}

func redirectTo(location string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", location)
		w.WriteHeader(http.StatusFound)
	}
}

// What a server of net/http would not let itself be talked into.
func TestHostileConnections(t *testing.T) {
	tests := []struct {
		name string
		talk func(net.Conn)
		want mapdata.Outcome
	}{
		{"speaks something else", func(c net.Conn) { fmt.Fprint(c, "220 hostile ESMTP\r\n"); drain(c) }, mapdata.OutcomeConnectionError},
		{"speaks first and then answers", func(c net.Conn) { fmt.Fprint(c, "HTTP/1.1 404 hostile\r\n\r\n"); drain(c) }, mapdata.OutcomeHTTPStatus},
		{"says HTTP/2", func(c net.Conn) { fmt.Fprint(c, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"); drain(c) }, mapdata.OutcomeConnectionError},
		{"one endless header", func(c net.Conn) {
			fmt.Fprint(c, "HTTP/1.1 200 OK\r\nX: ")
			_, _ = io.Copy(c, zeros{})
		}, mapdata.OutcomeTooLarge},
		{"endless interim answers", func(c net.Conn) {
			for {
				if _, err := fmt.Fprint(c, "HTTP/1.1 103 Early Hints\r\n\r\n"); err != nil {
					return
				}
			}
		}, mapdata.OutcomeConnectionError},
		{"switches protocols", func(c net.Conn) {
			fmt.Fprint(c, "HTTP/1.1 101 Switching\r\nUpgrade: hostile\r\nConnection: upgrade\r\n\r\n")
			drain(c)
		}, mapdata.OutcomeHTTPStatus},
		{"two lengths", func(c net.Conn) {
			fmt.Fprint(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n[]")
			drain(c)
		}, mapdata.OutcomeConnectionError},
		{"broken chunks", func(c net.Conn) {
			fmt.Fprint(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nhostile\r\n")
			drain(c)
		}, mapdata.OutcomeConnectionError},
		{"trickles headers", func(c net.Conn) {
			drop := time.NewTicker(10 * time.Millisecond)
			defer drop.Stop()
			for {
				if _, err := fmt.Fprint(c, "H"[:1]); err != nil {
					return
				}
				<-drop.C
			}
		}, mapdata.OutcomeTimeout},
		{"closes at once", func(net.Conn) {}, mapdata.OutcomeConnectionError},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := rawProvider(t, tt.talk)
			_, err := fetch(t.Context(), client(t, s, hurried), Request{URL: urlOf(t, s, here, "/")})
			_ = wantOutcome(t, err, tt.want, true)
		})
	}
}

func drain(c net.Conn) { _, _ = io.Copy(io.Discard, c) }

func TestBrokenTLS(t *testing.T) {
	t.Run("garbage in place of a handshake", func(t *testing.T) {
		failBeforeTLS(t, func(c net.Conn) { fmt.Fprint(c, "HTTP/1.1 400 hostile\r\n\r\n"); drain(c) }, mapdata.OutcomeTLSError)
	})
	t.Run("closes during the handshake", func(t *testing.T) {
		failBeforeTLS(t, func(c net.Conn) { _, _ = io.ReadFull(c, make([]byte, 5)) }, mapdata.OutcomeTLSError)
	})
	t.Run("hangs during the handshake", func(t *testing.T) { failBeforeTLS(t, drain, mapdata.OutcomeTimeout) })
	t.Run("unknown authority", func(t *testing.T) {
		s := provider(t, status(http.StatusOK))
		_, err := fetch(t.Context(), client(t, s, func(o *Options) { o.RootCAs = x509.NewCertPool() }), Request{URL: urlOf(t, s, here, "/")})
		if e := wantOutcome(t, err, mapdata.OutcomeTLSError, true); !strings.Contains(e.Advice, "authority") {
			t.Errorf("advice %q", e.Advice)
		}
	})
	t.Run("certificate for another name", func(t *testing.T) {
		s := provider(t, status(http.StatusOK))
		c := client(t, s, func(o *Options) { o.Hosts["example.org"] = netip.MustParseAddr("127.0.0.1") })
		_, err := fetch(t.Context(), c, Request{URL: urlOf(t, s, "example.org", "/")})
		if e := wantOutcome(t, err, mapdata.OutcomeTLSError, true); !strings.Contains(e.Advice, "not for this name") {
			t.Errorf("advice %q", e.Advice)
		}
	})
	t.Run("an old protocol", func(t *testing.T) {
		s := provider(t, nil)
		old := s.TLS.Clone()
		old.MinVersion, old.MaxVersion = tls.VersionTLS10, tls.VersionTLS11
		listener, err := tls.Listen("tcp", "127.0.0.1:0", old)
		if err != nil {
			t.Fatal(err)
		}
		accept(t, listener, func(c net.Conn) { _ = c.(*tls.Conn).Handshake() })
		s.URL = "https://" + listener.Addr().String()
		_, err = fetch(t.Context(), client(t, s, nil), Request{URL: urlOf(t, s, here, "/")})
		_ = wantOutcome(t, err, mapdata.OutcomeTLSError, true)
	})
}

func failBeforeTLS(t *testing.T, talk func(net.Conn), want mapdata.Outcome) {
	t.Helper()
	s := provider(t, nil)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	accept(t, listener, talk)
	s.URL = "https://" + listener.Addr().String()
	_, err = fetch(t.Context(), client(t, s, hurried), Request{URL: urlOf(t, s, here, "/")})
	_ = wantOutcome(t, err, want, true)
}

func TestNothingListens(t *testing.T) {
	s := provider(t, nil)
	c := client(t, s, nil)
	u := urlOf(t, s, here, "/")
	s.Close()
	_, err := fetch(t.Context(), c, Request{URL: u})
	_ = wantOutcome(t, err, mapdata.OutcomeConnectionError, false)
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
		http.Redirect(w, r, "https://"+there+":"+r.Host[len(here)+1:]+"/back", http.StatusFound)
	})
	mux.HandleFunc("/back", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "https://"+here+":"+r.Host[len(there)+1:]+"/end?q", http.StatusFound)
	})
	s := provider(t, func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Host[:strings.Index(r.Host, ":")]+r.RequestURI+" "+r.Header.Get("X-Key")+r.Header.Get("Cookie")+r.Header.Get("Referer"))
		mux.ServeHTTP(w, r)
	})
	c := client(t, s, nil)
	t.Run("five are followed", func(t *testing.T) {
		seen = nil
		body, err := fetch(t.Context(), c, Request{URL: urlOf(t, s, here, "/4"), AuthHeader: "X-Key: k"})
		want := []string{"example.com/4 k", "example.com/3 k", "example.com/2 k", "example.com/1 k", "example.com/0 k", "example.com/end k"}
		if diff := cmp.Diff(want, seen); err != nil || body != "[]" || diff != "" {
			t.Errorf("%q, %v (-want +got):\n%s", body, err, diff)
		}
	})
	t.Run("a sixth is not", func(t *testing.T) {
		_, err := fetch(t.Context(), c, Request{URL: urlOf(t, s, here, "/5")})
		_ = wantOutcome(t, err, mapdata.OutcomeRedirectError, true)
	})
	t.Run("the auth header stays with its origin", func(t *testing.T) {
		seen = nil
		_, err := fetch(t.Context(), c, Request{URL: urlOf(t, s, here, "/there"), AuthHeader: "X-Key: k"})
		want := []string{"example.com/there k", "other.example.com/back ", "example.com/end?q k"}
		if diff := cmp.Diff(want, seen); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	})
	t.Run("another port is another origin", func(t *testing.T) {
		second := provider(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Header.Get("X-Key")) })
		first := provider(t, redirectTo(urlOf(t, second, here, "/").String()))
		body, err := fetch(t.Context(), client(t, first, nil), Request{URL: urlOf(t, first, here, "/"), AuthHeader: "X-Key: k"})
		if err != nil || body != "" {
			t.Errorf("%q, %v", body, err)
		}
	})
}

// names is a resolver; a name with several answers parted by "|" gives another one each time.
type names map[string][]string

func (n names) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
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

// turns is a resolver that gives one answer after the other.
type turns struct {
	answers [][]netip.Addr
	asked   atomic.Int32
}

func (r *turns) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return r.answers[min(int(r.asked.Add(1)), len(r.answers))-1], nil
}

// dialled redirects dials to a server on loopback, and keeps where they should have gone.
func dialled(c *Client, s *httptest.Server) *[]string {
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
			s := provider(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "[]") })
			c := client(t, s, func(o *Options) {
				o.Hosts = nil
				o.Resolver = names{here: tt.answers}
				o.Own = []netip.Addr{netip.MustParseAddr("93.184.216.99")}
			})
			to := dialled(c, s)
			_, err := fetch(t.Context(), c, Request{URL: urlOf(t, s, here, "/")})
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

// A name that is public when it is asked for first and private afterwards gains nothing: each connection is to an address
// that was checked for it.
func TestRebinding(t *testing.T) {
	public, private := netip.MustParseAddr("93.184.216.34"), netip.MustParseAddr("127.0.0.1")
	s := provider(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/again" {
			http.Redirect(w, r, "/", http.StatusFound)
		}
		fmt.Fprint(w, "[]")
	})
	rebinding := func() (*Client, *[]string) {
		c := client(t, s, func(o *Options) {
			o.Hosts = nil
			o.Resolver = &turns{answers: [][]netip.Addr{{public}, {private}}}
		})
		return c, dialled(c, s)
	}
	t.Run("between fetches", func(t *testing.T) {
		c, to := rebinding()
		if _, err := fetch(t.Context(), c, Request{URL: urlOf(t, s, here, "/")}); err != nil {
			t.Fatal(err)
		}
		_, err := fetch(t.Context(), c, Request{URL: urlOf(t, s, here, "/")})
		_ = wantOutcome(t, err, mapdata.OutcomeBlockedAddress, false)
		if len(*to) != 1 {
			t.Errorf("dialled %v", *to)
		}
	})
	t.Run("between redirects", func(t *testing.T) {
		c, to := rebinding()
		_, err := fetch(t.Context(), c, Request{URL: urlOf(t, s, here, "/again")})
		_ = wantOutcome(t, err, mapdata.OutcomeBlockedAddress, true)
		if len(*to) != 1 {
			t.Errorf("dialled %v", *to)
		}
	})
}

func TestSecondAddressWhenTheFirstIsDown(t *testing.T) {
	s := provider(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "[]") })
	c := client(t, s, func(o *Options) {
		o.Hosts = nil
		o.Resolver = names{here: {"93.184.216.34", "93.184.216.35"}}
	})
	to := dialled(c, s)
	dial := c.dial
	c.dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if len(*to) == 1 && err == nil {
			conn.Close()
			return nil, errors.New("refused")
		}
		return conn, err
	}
	if _, err := fetch(t.Context(), c, Request{URL: urlOf(t, s, here, "/")}); err != nil || len(*to) != 2 {
		t.Errorf("%v, dialled %v", err, *to)
	}
}

func TestNameServersThatHang(t *testing.T) {
	s := provider(t, nil)
	hanging := resolverFunc(func(ctx context.Context) ([]netip.Addr, error) {
		<-ctx.Done()
		return nil, &net.DNSError{Err: ctx.Err().Error(), IsTimeout: true}
	})
	c := client(t, s, func(o *Options) { o.Hosts, o.Resolver, o.Timeout = nil, hanging, soon })
	_, err := fetch(t.Context(), c, Request{URL: urlOf(t, s, here, "/")})
	_ = wantOutcome(t, err, mapdata.OutcomeTimeout, false)

	gaveUp := resolverFunc(func(context.Context) ([]netip.Addr, error) {
		return nil, &net.DNSError{Err: "i/o timeout", IsTimeout: true}
	})
	c = client(t, s, func(o *Options) { o.Hosts, o.Resolver = nil, gaveUp })
	_, err = fetch(t.Context(), c, Request{URL: urlOf(t, s, here, "/")})
	_ = wantOutcome(t, err, mapdata.OutcomeDNSError, false)
}

type resolverFunc func(context.Context) ([]netip.Addr, error)

func (f resolverFunc) LookupNetIP(ctx context.Context, _, _ string) ([]netip.Addr, error) {
	return f(ctx)
}

func TestOwnNameIsNotCalled(t *testing.T) {
	s := provider(t, nil)
	c := client(t, s, func(o *Options) {
		o.Hosts = nil
		o.OwnHosts = []string{"EXAMPLE.com."}
		o.Resolver = names{here: {"93.184.216.34"}}
	})
	to := dialled(c, s)
	_, err := fetch(t.Context(), c, Request{URL: urlOf(t, s, here, "/")})
	_ = wantOutcome(t, err, mapdata.OutcomeBlockedAddress, false)
	if len(*to) != 0 {
		t.Errorf("dialled %v", *to)
	}
}

func TestNoProxyAndNoSearchDomain(t *testing.T) {
	for _, name := range []string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "ALL_PROXY"} {
		t.Setenv(name, "http://127.0.0.1:1")
	}
	s := provider(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "[]") })
	if _, err := fetch(t.Context(), client(t, s, nil), Request{URL: urlOf(t, s, here, "/")}); err != nil {
		t.Error(err)
	}
}

// At most two connections to one host; the next ones wait, their time does not run, and other hosts wait for nobody (D6.12).
func TestTwoConnectionsToOneHost(t *testing.T) {
	var now, most atomic.Int32
	inside := make(chan struct{}, 10)
	release := make(chan struct{})
	s := provider(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.Host, there) {
			fmt.Fprint(w, "[]")
			return
		}
		most.Store(max(most.Load(), now.Add(1)))
		inside <- struct{}{}
		<-release
		now.Add(-1)
		fmt.Fprint(w, "[]")
	})
	c := client(t, s, nil)
	var fetches sync.WaitGroup
	for range 6 {
		fetches.Go(func() {
			if _, err := fetch(t.Context(), c, Request{URL: urlOf(t, s, here, "/")}); err != nil {
				t.Error(err)
			}
		})
	}
	<-inside
	<-inside
	if _, err := fetch(t.Context(), c, Request{URL: urlOf(t, s, there, "/")}); err != nil {
		t.Errorf("another host had to wait: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	defer cancel()
	if _, err := fetch(ctx, c, Request{URL: urlOf(t, s, here, "/")}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a third came through: %v", err)
	}
	close(release)
	fetches.Wait()
	if most.Load() != 2 {
		t.Errorf("%d connections at a time", most.Load())
	}
	if len(c.gate.hosts) != 0 || len(c.gate.all) != 0 {
		t.Errorf("the gate still holds %d hosts, %d connections", len(c.gate.hosts), len(c.gate.all))
	}
}

func TestWaitingCostsNoTime(t *testing.T) {
	release := make(chan struct{})
	s := provider(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			<-r.Context().Done()
			return
		}
		fmt.Fprint(w, "[]")
	})
	c := client(t, s, func(o *Options) { o.Timeout = 2 * soon })
	var fetches sync.WaitGroup
	for range 2 {
		fetches.Go(func() {
			_, err := fetch(t.Context(), c, Request{URL: urlOf(t, s, here, "/slow"), Started: func() { release <- struct{}{} }})
			_ = wantOutcome(t, err, mapdata.OutcomeTimeout, true)
		})
	}
	<-release
	<-release
	// These wait for two whole limits of time, one after the other, before a turn comes.
	for range 4 {
		fetches.Go(func() {
			_, err := fetch(t.Context(), c, Request{URL: urlOf(t, s, here, "/slow")})
			_ = wantOutcome(t, err, mapdata.OutcomeTimeout, true)
		})
	}
	if _, err := fetch(t.Context(), c, Request{URL: urlOf(t, s, here, "/")}); err != nil {
		t.Error(err)
	}
	fetches.Wait()
}

// The caller's wish is no fault of the provider, at whatever step it comes.
func TestCallerEndsIt(t *testing.T) {
	reached := make(chan struct{})
	s := provider(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/body" {
			fmt.Fprint(w, "[")
			_ = http.NewResponseController(w).Flush()
		}
		reached <- struct{}{}
		<-r.Context().Done()
	})
	c := client(t, s, nil)
	for _, path := range []string{"/head", "/body"} {
		ctx, cancel := context.WithCancelCause(t.Context())
		enough := errors.New("enough")
		go func() {
			<-reached
			cancel(enough)
		}()
		_, err := fetch(ctx, c, Request{URL: urlOf(t, s, here, path)})
		var failed *Error
		if !errors.Is(err, enough) || errors.As(err, &failed) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestBodyMayBeLeft(t *testing.T) {
	s := provider(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.Copy(w, zeros{}) })
	c := client(t, s, nil)
	answer, err := c.Fetch(t.Context(), Request{URL: urlOf(t, s, here, "/")})
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
