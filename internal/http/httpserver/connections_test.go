package httpserver

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// boundedServer starts a server with limits; / answers immediately, /wait until the test ends.
func boundedServer(t *testing.T, limits Limits) *Server {
	t.Helper()
	s, err := Listen(t.Context(), "127.0.0.1:0", limits, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	release := make(chan struct{})
	s.Handle(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if r.URL.Path == "/take" {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err == nil {
				_, err = io.WriteString(conn, "HTTP/1.1 200 OK\r\n")
				t.Cleanup(func() { _ = conn.Close() })
			}
			if err != nil {
				t.Error(err)
			}
			return
		}
		if r.URL.Path == "/wait" {
			_ = http.NewResponseController(w).Flush()
			<-release
		}
	}))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	t.Cleanup(func() {
		close(release)
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return s
}

// dial connects from an address of this machine and sends text. It returns nil if the connection was refused.
func dial(t *testing.T, s *Server, from, text string) net.Conn {
	t.Helper()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	conn, err := dialer.DialContext(t.Context(), "tcp", s.Addr().String())
	if errors.Is(err, syscall.ECONNRESET) { // refused so fast that connecting failed
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_, err = io.WriteString(conn, text)
	if errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) { // refused before the text was sent
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

// answered reads the header of an answer and reports whether there was one.
func answered(t *testing.T, conn net.Conn) bool {
	t.Helper()
	if conn == nil {
		return false
	}
	if err := conn.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(conn).ReadString('\n')
	return err == nil && strings.HasPrefix(line, "HTTP/1.1 200")
}

const (
	wait     = "GET /wait HTTP/1.1\r\nHost: a\r\n\r\n"
	get      = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
	halfBody = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhalf"
)

func TestNewConnectionTakesPlaceOfWaitingOne(t *testing.T) {
	for name, text := range map[string]string{"nothing sent": "", "half a header": "GET / HTT", "half a body": halfBody, "idle": get} {
		t.Run(name, func(t *testing.T) {
			s := boundedServer(t, Limits{Total: 100, PerAddress: 2})
			busy := dial(t, s, "127.0.0.2", wait)
			if !answered(t, busy) {
				t.Fatal("the first connection was not answered")
			}
			awaitAnswering(s, 1)
			waiting := dial(t, s, "127.0.0.2", text)
			if text == get && !answered(t, waiting) {
				t.Fatal("the second connection was not answered")
			}
			found := false // not immediately, because the server may have read the header without waiting for the body yet
			for range 1000 {
				if found = found || answered(t, dial(t, s, "127.0.0.2", get)); found {
					break
				}
			}
			if !found {
				t.Error("the third connection found no room")
			}
			if _, err := io.Copy(io.Discard, waiting); err != nil {
				t.Logf("the waiting connection ended with %v", err) // reset or closed
			}
			if n := s.Connections(); n > 2 {
				t.Errorf("%d connections are open", n)
			}
		})
	}
}

// TestManyConnectionsMakeRoomFirst checks that a new connection takes the place of one of the address with the most waiting ones, and not
// of the one that has waited longest, which may be the only one of its address.
func TestManyConnectionsMakeRoomFirst(t *testing.T) {
	const total, each = 32, 16
	s := boundedServer(t, Limits{Total: total, PerAddress: each})
	quiet := dial(t, s, "127.0.0.9", "")
	for i := range total + reservedConns - 1 { // this machine's reserve is open to all of 127.0.0.0/8
		dial(t, s, fmt.Sprintf("127.0.0.%d", 2+i/each), "")
	}
	for s.Connections() < total+reservedConns {
		runtime.Gosched()
	}
	if !answered(t, dial(t, s, "127.0.0.10", get)) {
		t.Error("a new connection found no room")
	}
	if n := s.Connections(); n > total+reservedConns-2 {
		t.Errorf("%d connections are open: too few made room", n)
	}
	if !stillOpen(t, quiet) {
		t.Error("the only connection of an address made room")
	}
}

// BenchmarkNoRoom measures a new connection that finds as many connections as there may be, all but one of them being answered.
func BenchmarkNoRoom(b *testing.B) {
	s := &connections{limits: Limits{Total: maxDefaultTotal}.withDefaults(), groups: make(map[netip.Prefix][]*boundedConn)}
	s.limits.Total = maxDefaultTotal
	for i := range maxDefaultTotal {
		c := &boundedConn{set: s, member: true, inAll: i, inGroup: 0, group: netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)}), 32)}
		s.all, s.groups[c.group] = append(s.all, c), []*boundedConn{c}
	}
	for b.Loop() {
		if s.evict(s.all) {
			b.Fatal("a connection that is being answered made room")
		}
	}
}

// awaitAnswering waits until the server has written the answers that the clients have read already, because a connection counts as
// waiting for its client while the server writes.
func awaitAnswering(s *Server, count int) {
	for answering := 0; answering < count; runtime.Gosched() {
		answering = 0
		s.conns.mu.Lock()
		for _, c := range s.conns.all {
			if c.waiting.Load() == 0 {
				answering++
			}
		}
		s.conns.mu.Unlock()
	}
}

func TestConnectionsBeingAnsweredAreKept(t *testing.T) {
	s := boundedServer(t, Limits{Total: 6, PerAddress: 2, Exempt: []netip.Prefix{netip.MustParsePrefix("127.0.0.9/32")}})
	for _, from := range []string{"127.0.0.2", "127.0.0.2", "127.0.0.9", "127.0.0.9", "127.0.0.9", "127.0.0.9"} {
		if !answered(t, dial(t, s, from, wait)) {
			t.Fatalf("a connection of %s was not answered", from)
		}
	}
	awaitAnswering(s, 6)
	if conn := dial(t, s, "127.0.0.2", get); answered(t, conn) {
		t.Error("a third connection of one address was answered")
	}
	if s.Crowded() != 1 {
		t.Errorf("%d connections were refused", s.Crowded())
	}
	if !answered(t, dial(t, s, "127.0.0.3", get)) {
		t.Error("this machine's reserve is not open beyond the total")
	}
}

func TestCloseIdleSparesConnectionsInUse(t *testing.T) {
	s := boundedServer(t, Limits{Total: 100})
	busy, idle := dial(t, s, "127.0.0.2", wait), dial(t, s, "127.0.0.2", get)
	if !answered(t, busy) || !answered(t, idle) {
		t.Fatal("no answer")
	}
	for s.Connections() > 1 { // the handler's end may follow its answer
		s.conns.closeIdle(time.Now())
	}
	if _, err := io.Copy(io.Discard, idle); err != nil {
		t.Errorf("the idle connection was not closed in order: %v", err)
	}
}

func TestAddressGroup(t *testing.T) {
	for addr, want := range map[string]string{
		"192.0.2.7": "192.0.2.7/32", "2001:db8:1:2:3::4": "2001:db8:1:2::/64", "fe80::1%eth0": "fe80::/64",
	} {
		if got := addressGroup(netip.MustParseAddr(addr)); got.String() != want {
			t.Errorf("%s is counted with %s, want %s", addr, got, want)
		}
	}
}

func TestDefaultTotalLeavesDescriptors(t *testing.T) {
	if total, files := DefaultTotal(), maxOpenFiles(); total < 1 || total >= files {
		t.Errorf("%d connections of %d descriptors", total, files)
	}
	if l := (Limits{Total: 10, PerAddress: 50}).withDefaults(); l.PerAddress != 5 {
		t.Errorf("one address may have %d of 10", l.PerAddress)
	}
}

// TestConnectionsThatWereTakenOverAreKept checks that a handler that took a connection over continues to answer on it after it
// returned.
func TestConnectionsThatWereTakenOverAreKept(t *testing.T) {
	s := boundedServer(t, Limits{Total: 100, PerAddress: 2})
	held := dial(t, s, "127.0.0.2", "GET /take HTTP/1.1\r\nHost: a\r\n\r\n")
	if !answered(t, held) {
		t.Fatal("the first connection was not answered")
	}
	for s.running.Load() > 0 { // its handler and the code after it are about to return
		runtime.Gosched()
	}
	s.conns.closeIdle(time.Now())
	for range 3 { // the idle one makes room for the next
		if !answered(t, dial(t, s, "127.0.0.2", get)) {
			t.Error("a connection beside the one that was taken over found no room")
		}
	}
	if err := held.SetReadDeadline(time.Now().Add(20 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if _, err := held.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the connection that was taken over ended: %v", err)
	}
}
