package safehttp

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"wayside/internal/ground/mapdata"
)

// TestConnectionReuse checks that three requests use one connection, or one each.
func TestConnectionReuse(t *testing.T) {
	tests := []struct {
		name   string
		answer http.HandlerFunc
		again  bool
	}{
		{"length", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "{}") }, true},
		{"nothing", func(http.ResponseWriter, *http.Request) {}, true},
		{"204", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }, true},
		{"chunks", func(w http.ResponseWriter, _ *http.Request) {
			for range 3 {
				fmt.Fprint(w, strings.Repeat("x", 1000))
				_ = http.NewResponseController(w).Flush()
			}
		}, true},
		{"gzip in chunks", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			fmt.Fprint(z, strings.Repeat("x", 100000))
			z.Close()
			_ = http.NewResponseController(w).Flush()
		}, true},
		{"asks to close", func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Connection", "close") }, false},
		{"not found", status(http.StatusNotFound), false},
		{"too much", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, strings.Repeat("x", 200001)) }, false},
		{"redirect", redirectTo("/"), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			plain, overPlain := plainServer(t, tt.answer)
			secure := httptest.NewUnstartedServer(tt.answer)
			secure.Config.ErrorLog = log.New(io.Discard, "", 0)
			overTLS := count(secure)
			secure.StartTLS()
			defer secure.Close()
			c := operatorClient(t, func(o *Options) { o.RootCAs, o.MaxBody = rootsOf(secure), 200000 })
			for range 3 {
				for _, s := range []*httptest.Server{plain, secure} {
					if _, err := fetch(t.Context(), c, Request{URL: mustOperatorURL(t, s.URL)}); err != nil && tt.again {
						t.Error(err)
					}
				}
			}
			want := int32(3)
			if tt.again {
				want = 1
			}
			if !tt.again && len(c.pool.idle) > 0 {
				t.Error("a connection was kept")
			}
			if overPlain.Load() != want || overTLS.Load() != want {
				t.Errorf("%d connections, %d in TLS; want %d of each", overPlain.Load(), overTLS.Load(), want)
			}
		})
	}
}

// TestNoReuseAfterPartialBody checks that a connection with an unread rest of a body is not reused, because the rest
// would be taken for the next response.
func TestNoReuseAfterPartialBody(t *testing.T) {
	s, made := plainServer(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, strings.Repeat("x", 100)) })
	c := operatorClient(t, nil)
	for _, size := range []int64{0, 99, 100} { // at 100 the body is complete but io.EOF was not read
		answer, err := c.Fetch(t.Context(), Request{URL: mustOperatorURL(t, s.URL)})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.CopyN(io.Discard, answer.Body, size); err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
	}
	if body, err := fetch(t.Context(), c, Request{URL: mustOperatorURL(t, s.URL)}); err != nil || len(body) != 100 {
		t.Errorf("%d bytes, %v", len(body), err)
	}
	if n := made.Load(); n < 3 || n > 4 {
		t.Errorf("%d connections", n)
	}
}

// TestNoReuseForProviders checks that a provider's connection is not pooled, and that pooled connections are not used
// for it, because its address is checked each time (D6.4).
func TestNoReuseForProviders(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "{}") }))
	made := count(s)
	s.StartTLS()
	defer s.Close()
	c := testClient(t, s, nil)
	defer c.Close()
	theirs := urlOf(t, s, testHost, "/")
	ours := mustOperatorURL(t, theirs.String())
	if ours.Origin() != theirs.Origin() {
		t.Fatalf("%s and %s", ours.Origin(), theirs.Origin())
	}
	for i, u := range []*URL{theirs, ours, theirs, theirs, ours} {
		if _, err := fetch(t.Context(), c, Request{URL: u}); err != nil {
			t.Error(err)
		}
		if want := []int32{1, 2, 3, 4, 4}[i]; made.Load() != want {
			t.Errorf("call %d: %d connections, want %d", i, made.Load(), want)
		}
	}
}

const empty = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"

// TestStaleConnections checks that a request is retried if its idle connection was closed, and in no other case.
func TestStaleConnections(t *testing.T) {
	tests := []struct {
		name   string
		words  string           // unsolicited data after the first response of the first connection
		second func(c net.Conn) // what the server does then, before it closes the connection
		fails  bool
		made   int32
	}{
		{"closed while idle", "", func(net.Conn) {}, false, 2},
		{"closed upon the request", "", func(c net.Conn) { readRequest(c) }, false, 2},
		{"closed with a response while idle", "HTTP/1.1 408 evil\r\nConnection: close\r\n\r\n", drain, false, 2},
		{"unsolicited response", "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil", drain, false, 2},
		{"closed within the head", "", func(c net.Conn) { readRequest(c); fmt.Fprint(c, "H") }, true, 1},
		{"answered with nonsense", "", func(c net.Conn) { readRequest(c); fmt.Fprint(c, "evil\r\n\r\n") }, true, 1},
		{"answered", "", func(c net.Conn) { readRequest(c); fmt.Fprint(c, empty) }, false, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var first atomic.Bool
			release, said := make(chan struct{}), make(chan struct{})
			u, made := plainListener(t, func(c net.Conn) {
				readRequest(c)
				fmt.Fprint(c, empty)
				if first.CompareAndSwap(false, true) {
					<-release
					fmt.Fprint(c, tt.words)
					close(said)
					tt.second(c)
				}
			})
			c := operatorClient(t, nil)
			_, err := fetch(t.Context(), c, Request{URL: u})
			close(release)
			if err != nil {
				t.Fatal(err)
			}
			<-said
			body, err := fetch(t.Context(), c, Request{URL: u})
			if tt.fails {
				_ = wantOutcome(t, err, mapdata.OutcomeConnectionError, true)
			} else if err != nil || body != "{}" {
				t.Errorf("%q, %v", body, err)
			}
			if made.Load() != tt.made {
				t.Errorf("%d connections, want %d", made.Load(), tt.made)
			}
		})
	}
}

// TestRetryOnce checks that a request is retried once, so that an upstream that always closes the connection does not
// cause a loop.
func TestRetryOnce(t *testing.T) {
	var requests atomic.Int32
	u, made := plainListener(t, func(c net.Conn) {
		for readRequest(c) && requests.Add(1) == 1 {
			fmt.Fprint(c, empty)
		}
	})
	c := operatorClient(t, nil)
	if _, err := fetch(t.Context(), c, Request{URL: u}); err != nil {
		t.Fatal(err)
	}
	_, err := fetch(t.Context(), c, Request{URL: u})
	_ = wantOutcome(t, err, mapdata.OutcomeConnectionError, true)
	if requests.Load() != 3 || made.Load() != 2 {
		t.Errorf("%d requests over %d connections", requests.Load(), made.Load())
	}
}

// TestDeadlineOnReusedConnection checks that the deadline applies to a reused connection, and is not mistaken for a
// stale connection.
func TestDeadlineOnReusedConnection(t *testing.T) {
	u, made := plainListener(t, func(c net.Conn) {
		readRequest(c)
		fmt.Fprint(c, empty)
		drain(c)
	})
	c := operatorClient(t, nil)
	if _, err := fetch(t.Context(), c, Request{URL: u}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout/3)
	defer cancel()
	if _, err := fetch(ctx, c, Request{URL: u}); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	if made.Load() != 1 || len(c.pool.idle) != 0 {
		t.Errorf("%d connections, %d idle", made.Load(), len(c.pool.idle))
	}
	// The deadline of one exchange does not apply to the next.
	s, again := plainServer(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "{}") })
	for range 3 {
		ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
		if _, err := fetch(ctx, c, Request{URL: mustOperatorURL(t, s.URL)}); err != nil {
			t.Error(err)
		}
		cancel()
	}
	if again.Load() != 1 {
		t.Errorf("%d connections", again.Load())
	}
}

// TestNoReuseAfterCancel checks that a late cancellation of a finished request does not affect the next one.
func TestNoReuseAfterCancel(t *testing.T) {
	s, _ := plainServer(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "{}") })
	c := operatorClient(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	answer, err := c.Fetch(ctx, Request{URL: mustOperatorURL(t, s.URL)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(answer.Body); err != nil {
		t.Fatal(err)
	}
	cancel()
	answer.Body.Close()
	if len(c.pool.idle) > 0 {
		t.Error("the connection was kept")
	}
}

func TestClose(t *testing.T) {
	s, made := plainServer(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "{}") })
	c := operatorClient(t, nil)
	u := mustOperatorURL(t, s.URL)
	if _, err := fetch(t.Context(), c, Request{URL: u}); err != nil {
		t.Fatal(err)
	}
	idle := c.pool.idle[0]
	c.Close()
	c.Close()
	if _, err := idle.raw.Write([]byte("x")); !errors.Is(err, net.ErrClosed) {
		t.Errorf("the connection is still open: %v", err)
	}
	for range 2 {
		if _, err := fetch(t.Context(), c, Request{URL: u}); err != nil {
			t.Error(err)
		}
	}
	if made.Load() != 3 || len(c.pool.idle) != 0 {
		t.Errorf("%d connections, %d idle", made.Load(), len(c.pool.idle))
	}
}

// dialPipes connects the client to a server over pipes, for virtual time. The server ends with its
// connections.
func dialPipes(c *Client) (closed *atomic.Int32) {
	closed = new(atomic.Int32)
	c.dial = func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		go func() {
			defer closed.Add(1)
			for readRequest(theirs) {
				fmt.Fprint(theirs, empty)
			}
		}()
		return ours, nil
	}
	return closed
}

func TestIdleTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := operatorClient(t, nil)
		closed := dialPipes(c)
		for _, step := range []struct {
			wait   time.Duration
			host   string
			closed int32
		}{
			{0, "192.0.2.1", 0},
			{29 * time.Second, "192.0.2.1", 0},
			{29 * time.Second, "192.0.2.1", 0}, // use restarts the idle time
			{31 * time.Second, "192.0.2.2", 1}, // a request to another host sweeps it too
			{0, "192.0.2.1", 1},
			{31 * time.Second, "192.0.2.1", 3},
		} {
			time.Sleep(step.wait)
			if body, err := fetch(t.Context(), c, Request{URL: mustOperatorURL(t, "http://"+step.host)}); err != nil || body != "{}" {
				t.Fatalf("%q, %v", body, err)
			}
			synctest.Wait()
			if closed.Load() != step.closed {
				t.Errorf("after %v for %s: %d closed, want %d", step.wait, step.host, closed.Load(), step.closed)
			}
		}
		c.Close()
		synctest.Wait()
		if closed.Load() != 4 {
			t.Errorf("%d closed in the end", closed.Load())
		}
	})
}

func TestMaxIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := operatorClient(t, func(o *Options) { o.PerHost = 40 })
		closed := dialPipes(c)
		var open []*Response
		for range 40 {
			answer, err := c.Fetch(t.Context(), Request{URL: mustOperatorURL(t, "http://192.0.2.1")})
			if err != nil {
				t.Fatal(err)
			}
			open = append(open, answer)
		}
		var reads sync.WaitGroup
		for _, answer := range open {
			reads.Go(func() {
				defer answer.Body.Close()
				if _, err := io.ReadAll(answer.Body); err != nil {
					t.Error(err)
				}
			})
		}
		reads.Wait()
		synctest.Wait()
		if closed.Load() != 40-maxIdle || len(c.pool.idle) != maxIdle {
			t.Errorf("%d closed, %d idle", closed.Load(), len(c.pool.idle))
		}
		c.Close()
		synctest.Wait()
		if closed.Load() != 40 {
			t.Errorf("%d closed in the end", closed.Load())
		}
	})
}
