package httpserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

const halfHeader = "GET / HTTP/1.1\r\nHost: a\r\n"

// memoryInUse returns the bytes of the heap and of stacks after a collection.
func memoryInUse() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc + m.StackInuse
}

// TestWaitingConnectionsAreSmall checks that net/http does not get a connection before the header of its first request has arrived, and
// that a connection takes little memory until then.
func TestWaitingConnectionsAreSmall(t *testing.T) {
	const count, most = 500, 4 << 10 // bytes, both ends: net/http alone keeps 17 KB
	for name, text := range map[string]string{"silent": "", "half a header": halfHeader, "a header of some length": halfHeader + "X-Filler: " + strings.Repeat("a", 3000)} {
		t.Run(name, func(t *testing.T) {
			s := boundedServer(t, Limits{Total: 2 * count})
			before := memoryInUse()
			conns := make([]net.Conn, count)
			for i := range conns {
				if conns[i] = dial(t, s, fmt.Sprintf("127.0.1.%d", 1+i/100), text); conns[i] == nil {
					t.Fatal("a connection was refused")
				}
			}
			for s.Connections() < count {
				runtime.Gosched()
			}
			if each := (int64(memoryInUse()) - int64(before)) / count; each > most { //nolint:gosec // bytes
				t.Errorf("a connection takes %d bytes, want at most %d", each, most)
			}
			if n := s.open.Load(); n > 0 {
				t.Errorf("net/http has %d connections", n)
			}
			for _, conn := range conns[:3] {
				rest := "\r\n\r\n"
				if text == "" {
					rest = get
				}
				if _, err := io.WriteString(conn, rest); err != nil || !answered(t, conn) {
					t.Errorf("no answer after the end of the header: %v", err)
				}
			}
			runtime.KeepAlive(conns)
		})
	}
}

// TestLongHeaderIsServed checks that a header that is longer than what the server looks at is read by net/http.
func TestLongHeaderIsServed(t *testing.T) {
	s := boundedServer(t, Limits{})
	if !answered(t, dial(t, s, "127.0.0.2", halfHeader+"X-Filler: "+strings.Repeat("a", 40<<10)+"\r\n\r\n")) {
		t.Error("no answer")
	}
}

// TestHalfHeaderOfClosedClient checks that a client that ends its side in the middle of a header is told so.
func TestHalfHeaderOfClosedClient(t *testing.T) {
	s := boundedServer(t, Limits{})
	for _, pause := range []bool{false, true} {
		conn := dial(t, s, "127.0.0.2", halfHeader)
		for pause && s.first.waiting.Load() == 0 {
			runtime.Gosched()
		}
		if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(conn); err != nil || !strings.HasPrefix(string(text), "HTTP/1.1 400") {
			t.Errorf("answer %q, %v", text, err)
		}
	}
}

// TestHeaderPollerDrops checks that the server waits for a header no longer than it says, and not for a client that is gone.
func TestHeaderPollerDrops(t *testing.T) {
	for name, timeout := range map[string]time.Duration{"slow": time.Millisecond, "gone": time.Hour} {
		t.Run(name, func(t *testing.T) {
			s := boundedServer(t, Limits{})
			s.first.poller.mu.Lock()
			s.first.poller.timeout = timeout
			s.first.poller.mu.Unlock()
			conn := dial(t, s, "127.0.0.2", halfHeader[:len("GET")])
			if name == "gone" {
				_ = conn.(*net.TCPConn).SetLinger(0) // a reset
				_ = conn.Close()
			}
			for accepted := false; !accepted || s.Connections() > 0; runtime.Gosched() {
				accepted = accepted || s.Connections() > 0 || s.first.poller.numbers() > 0
			}
			for s.first.waiting.Load() > 0 {
				runtime.Gosched()
			}
			if text, err := io.ReadAll(conn); name == "slow" && (len(text) > 0 || err != nil && !errors.Is(err, syscall.ECONNRESET)) {
				t.Errorf("answer %q, %v", text, err)
			}
		})
	}
}

// numbers returns how many connections the poller has had.
func (p *headerPoller) numbers() int32 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.last
}

// TestStopAnswersWaitingConnections checks that a connection that was opened before a stop, and whose request comes after it, is answered,
// and that silent connections do not delay the stop.
func TestStopAnswersWaitingConnections(t *testing.T) {
	s, err := Listen(t.Context(), "127.0.0.1:0", Limits{}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	s.Handle(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	silent, late := dial(t, s, "127.0.0.2", ""), dial(t, s, "127.0.0.2", halfHeader)
	for s.first.waiting.Load() < 2 {
		runtime.Gosched()
	}
	cancel()
	for !s.draining.Load() {
		runtime.Gosched()
	}
	if _, err := io.WriteString(late, "\r\n"); err != nil || !answered(t, late) {
		t.Errorf("the late request was not answered: %v", err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if _, err := io.Copy(io.Discard, silent); err != nil {
		t.Logf("the silent connection ended with %v", err) // reset or closed
	}
}

// TestIdleConnectionsAreBounded checks that connections that were answered and wait for their clients are closed beyond their share, those
// of the addresses with most of them first, and that connections that are being answered are kept.
func TestIdleConnectionsAreBounded(t *testing.T) {
	const total, most = 320, 320 / idleShare
	s := boundedServer(t, Limits{Total: total})
	var busy []net.Conn
	for range 3 {
		busy = append(busy, dial(t, s, "127.0.2.1", wait))
		if !answered(t, busy[len(busy)-1]) {
			t.Fatal("no answer")
		}
	}
	awaitAnswering(s, len(busy))
	quiet := dial(t, s, "127.0.2.9", get) // waits the longest, and is the only one of its address
	if !answered(t, quiet) {
		t.Fatal("no answer")
	}
	var last net.Conn
	for i := range 2 * most {
		last = dial(t, s, fmt.Sprintf("127.0.2.%d", 2+i%2), get)
		if !answered(t, last) {
			t.Fatal("no answer")
		}
	}
	if n := s.Connections(); n > most+most/16+len(busy)+1 {
		t.Errorf("%d connections are open", n)
	}
	if _, err := io.WriteString(last, get); err != nil || !answered(t, last) {
		t.Errorf("the newest connection was closed: %v", err)
	}
	for _, conn := range append(busy, quiet) {
		if !stillOpen(t, conn) {
			t.Error("a connection was closed that is being answered, or the only one of its address")
		}
	}
}

// stillOpen reports whether a connection from which there is nothing to read is open.
func stillOpen(t *testing.T, conn net.Conn) bool {
	t.Helper()
	if err := conn.SetReadDeadline(time.Now().Add(time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := conn.Read(make([]byte, 100)); err != nil {
			failed, ok := err.(net.Error) //nolint:errorlint // the connection's own
			return ok && failed.Timeout()
		}
	}
}
