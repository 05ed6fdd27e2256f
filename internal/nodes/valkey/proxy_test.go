package valkey_test

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"log/slog"
	"net"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"wayside/internal/nodes/valkey"
	"wayside/internal/proof/testenv"
)

// wire is a proxy between a connection and its server that can hold back the server's answers.
type wire struct {
	net.Listener
	target string
	delay  atomic.Int64
}

// between returns a wire to the server, and the URL by which clients use it.
func between(t *testing.T, l net.Listener, s *testenv.CacheServer, scheme string) (*wire, string) {
	t.Helper()
	u, err := url.Parse(s.URL())
	must(t, err)
	w := &wire{Listener: l, target: u.Host}
	go w.run()
	t.Cleanup(func() { must(t, l.Close()) })
	u.Scheme, u.Host = scheme, l.Addr().String()
	return w, u.String()
}

func (w *wire) run() {
	for {
		from, err := w.Accept()
		if err != nil {
			return
		}
		to, err := net.Dial("tcp", w.target)
		if err != nil {
			_ = from.Close()
			continue
		}
		go func() {
			_, _ = io.Copy(to, from)
			_ = to.Close()
		}()
		go func() {
			_, _ = io.Copy(from, slow{to, w})
			_ = from.Close()
		}()
	}
}

type slow struct {
	io.Reader
	w *wire
}

func (s slow) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	<-time.After(time.Duration(s.w.delay.Load()))
	return n, err
}

// TestSlowServer checks that a server that still answers in time is used, and one that does not is skipped.
func TestSlowServer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	s := servers.Cache(t)
	w, address := between(t, l, s, "redis")
	c := open(t, address, valkey.Options{})
	w.delay.Store(int64(100 * time.Millisecond))
	if !works(t, c)() {
		t.Error("a server that takes a tenth of a second is not used")
	}
	w.delay.Store(int64(2 * time.Second))
	until(t, s, 2*time.Second, "found out", func() bool { return !c.Up() })
	w.delay.Store(0)
	until(t, s, 5*time.Second, "back", works(t, c))
}

func TestTLS(t *testing.T) {
	web := httptest.NewTLSServer(nil) // for its certificate
	defer web.Close()
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: web.TLS.Certificates, MinVersion: tls.VersionTLS12})
	must(t, err)
	_, address := between(t, l, servers.Cache(t), "valkeys")
	roots := x509.NewCertPool()
	roots.AddCert(web.Certificate())
	if c := open(t, address, valkey.Options{Roots: roots}); !works(t, c)() {
		t.Error("it does not work")
	}
	stranger, err := valkey.Open(address, valkey.Options{Log: slog.New(slog.DiscardHandler)})
	must(t, err)
	if stranger.Up() {
		t.Error("a certificate of an unknown issuer is taken")
	}
	if plain := strings.Replace(address, "valkeys:", "valkey:", 1); open(t, plain, valkey.Options{}).Up() {
		t.Error("without TLS it works too")
	}
}
