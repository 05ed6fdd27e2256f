package safehttp

import (
	"bytes"
	"compress/gzip"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"wayside/internal/ground/mapdata"
)

// zeros is an endless stream.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '0'
	}
	return len(p), nil
}

func TestMalformedResponses(t *testing.T) {
	endless := func(w io.Writer) { _, _ = io.Copy(w, zeros{}) } // until the client closes the connection
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
			ticker := time.NewTicker(10 * time.Millisecond)
			defer ticker.Stop()
			for r.Context().Err() == nil {
				<-ticker.C
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
			s := tlsServer(t, tt.answer)
			c := testClient(t, s, func(o *Options) {
				o.MaxBody = 1 << 20
				o.Resolver = fakeResolver{"private.example.com": {"10.0.0.1"}}
				if tt.want == mapdata.OutcomeTimeout {
					o.Timeout = testTimeout
				}
			})
			began := time.Now()
			_, err := fetch(t.Context(), c, Request{URL: urlOf(t, s, testHost, "/hostile?secret"), AuthHeader: "X-Key: secret"})
			_ = wantOutcome(t, err, tt.want, true)
			if took := time.Since(began); tt.want == mapdata.OutcomeTimeout && (took < testTimeout || took > 10*testTimeout) {
				t.Errorf("took %v, the limit is %v", took, testTimeout)
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

// TestMalformedConnections checks responses that a net/http server cannot produce.
func TestMalformedConnections(t *testing.T) {
	tests := []struct {
		name  string
		serve func(net.Conn)
		want  mapdata.Outcome
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
			ticker := time.NewTicker(10 * time.Millisecond)
			defer ticker.Stop()
			for {
				if _, err := fmt.Fprint(c, "H"[:1]); err != nil {
					return
				}
				<-ticker.C
			}
		}, mapdata.OutcomeTimeout},
		{"closes at once", func(net.Conn) {}, mapdata.OutcomeConnectionError},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := rawTLSServer(t, tt.serve)
			_, err := fetch(t.Context(), testClient(t, s, withTestTimeout), Request{URL: urlOf(t, s, testHost, "/")})
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
		s := tlsServer(t, status(http.StatusOK))
		_, err := fetch(t.Context(), testClient(t, s, func(o *Options) { o.RootCAs = x509.NewCertPool() }), Request{URL: urlOf(t, s, testHost, "/")})
		if e := wantOutcome(t, err, mapdata.OutcomeTLSError, true); !strings.Contains(e.Advice, "authority") {
			t.Errorf("advice %q", e.Advice)
		}
	})
	t.Run("certificate for another name", func(t *testing.T) {
		s := tlsServer(t, status(http.StatusOK))
		c := testClient(t, s, func(o *Options) { o.Hosts["example.org"] = netip.MustParseAddr("127.0.0.1") })
		_, err := fetch(t.Context(), c, Request{URL: urlOf(t, s, "example.org", "/")})
		if e := wantOutcome(t, err, mapdata.OutcomeTLSError, true); !strings.Contains(e.Advice, "not for this name") {
			t.Errorf("advice %q", e.Advice)
		}
	})
	t.Run("an old protocol", func(t *testing.T) {
		s := tlsServer(t, nil)
		old := s.TLS.Clone()
		old.MinVersion, old.MaxVersion = tls.VersionTLS10, tls.VersionTLS11
		listener, err := tls.Listen("tcp", "127.0.0.1:0", old)
		if err != nil {
			t.Fatal(err)
		}
		accept(t, listener, func(c net.Conn) { _ = c.(*tls.Conn).Handshake() })
		s.URL = "https://" + listener.Addr().String()
		_, err = fetch(t.Context(), testClient(t, s, nil), Request{URL: urlOf(t, s, testHost, "/")})
		_ = wantOutcome(t, err, mapdata.OutcomeTLSError, true)
	})
}

func failBeforeTLS(t *testing.T, serve func(net.Conn), want mapdata.Outcome) {
	t.Helper()
	s := tlsServer(t, nil)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	accept(t, listener, serve)
	s.URL = "https://" + listener.Addr().String()
	_, err = fetch(t.Context(), testClient(t, s, withTestTimeout), Request{URL: urlOf(t, s, testHost, "/")})
	_ = wantOutcome(t, err, want, true)
}

func TestConnectionRefused(t *testing.T) {
	s := tlsServer(t, nil)
	c := testClient(t, s, nil)
	u := urlOf(t, s, testHost, "/")
	s.Close()
	_, err := fetch(t.Context(), c, Request{URL: u})
	_ = wantOutcome(t, err, mapdata.OutcomeConnectionError, false)
}
