package postgres_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"sync"
	"testing"
	"time"

	"wayside/internal/ground/mapdata"
	"wayside/internal/proof/testenv"
)

// TestStandby checks that a node closes its connections to a server that accepts no writes, and that a commit that did
// not reach the synchronous standby is reported as failed.
func TestStandby(t *testing.T) {
	first := testenv.Postgres(t)
	proxy := newTCPProxy(t, first.URL())
	second := first.Standby(t)
	db := open(t, proxy.url)
	f := newFeed(t, db, first.URL(), 1)
	store := func(id string) error { return put(t.Context(), db, f, entity(f, id)) }
	if err := store("at first"); err != nil {
		t.Fatal(err)
	}

	standby := operator(t, second.URL())
	eventually(t, "the standby has what was stored", func() bool { // commits wait for its disk alone
		var there bool
		return standby.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM entities)`).Scan(&there) == nil && there
	})

	t.Run("the address temporarily leads to a standby", func(t *testing.T) {
		proxy.forwardTo(second.URL())
		proxy.closeAll()
		var all sync.WaitGroup
		for range 8 { // every connection of the pool now leads to the standby
			all.Go(func() {
				if err := store("refused"); !errors.Is(err, mapdata.ErrUnavailable) {
					t.Errorf("stored through a standby: %v", err)
				}
			})
		}
		all.Wait()
		proxy.forwardTo(first.URL())
		if err := store("again"); err != nil {
			t.Errorf("after the address leads to the primary again: %v", err)
		}
	})

	t.Run("a commit that waits for the standby is cancelled", func(t *testing.T) {
		conn := operator(t, first.URL())
		if err := second.Pause(); err != nil {
			t.Fatal(err)
		}
		stored := make(chan error, 1)
		go func() { stored <- store("here alone") }()
		const waits = `FROM pg_stat_activity WHERE wait_event = 'SyncRep'`
		eventually(t, "the commit waits", func() bool {
			var n int
			return conn.QueryRow(t.Context(), `SELECT count(*) `+waits).Scan(&n) == nil && n == 1
		})
		run(t, conn, `SELECT pg_cancel_backend(pid) `+waits)
		if err := <-stored; !errors.Is(err, mapdata.ErrUnavailable) {
			t.Errorf("stored on one server alone: %v", err)
		}
		if err := second.Resume(); err != nil {
			t.Fatal(err)
		}
		if err := store("here alone"); err != nil {
			t.Errorf("after the standby was resumed: %v", err)
		}
	})

	t.Run("the primary is paused", func(t *testing.T) {
		hosts := open(t, first.URLs(second)+"&connect_timeout=1")
		var all sync.WaitGroup
		for range 16 { // the whole pool has connections
			all.Go(func() {
				if _, err := hosts.State(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		<-time.After(1100 * time.Millisecond) // until the pool probes them as idle
		if err := first.Pause(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { // closing a connection waits for the server, too
			if err := first.Resume(); err != nil {
				t.Error(err)
			}
		})
		if err := put(t.Context(), hosts, f, entity(f, "nowhere")); !errors.Is(err, mapdata.ErrUnavailable) {
			t.Errorf("stored on a paused server: %v", err)
		}
		if err := second.Promote(); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if err := put(ctx, hosts, f, entity(f, "elsewhere")); err != nil {
			t.Errorf("stored after the promotion: %v", err)
		}
		t.Logf("stored %v after the promotion", time.Since(began))
	})
}

// tcpProxy is a fixed address that forwards to one server and later to another, like a DNS name that changes.
type tcpProxy struct {
	t   *testing.T
	url string

	mu   sync.Mutex
	to   string
	open []net.Conn
}

func newTCPProxy(t *testing.T, databaseURL string) *tcpProxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &tcpProxy{t: t}
	p.forwardTo(databaseURL)
	u, err := url.Parse(databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	u.Host = listener.Addr().String()
	p.url = u.String()
	var all sync.WaitGroup
	all.Go(func() {
		for {
			in, err := listener.Accept()
			if err != nil {
				return
			}
			all.Go(func() { p.forward(in) })
		}
	})
	t.Cleanup(func() {
		if err := listener.Close(); err != nil {
			t.Error(err)
		}
		p.closeAll()
		all.Wait()
	})
	return p
}

// forwardTo sets the server for new connections.
func (p *tcpProxy) forwardTo(databaseURL string) {
	p.t.Helper()
	u, err := url.Parse(databaseURL)
	if err != nil {
		p.t.Fatal(err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.to = u.Host
}

// closeAll closes the open connections.
func (p *tcpProxy) closeAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.open {
		_ = c.Close()
	}
	p.open = nil
}

func (p *tcpProxy) forward(in net.Conn) {
	defer in.Close()
	p.mu.Lock()
	out, err := net.Dial("tcp", p.to)
	if err == nil {
		p.open = append(p.open, in, out)
	}
	p.mu.Unlock()
	if err != nil {
		return
	}
	defer out.Close()
	var both sync.WaitGroup
	for _, way := range [][2]net.Conn{{in, out}, {out, in}} {
		both.Go(func() {
			_, _ = io.Copy(way[0], way[1])
			_ = way[0].Close()
		})
	}
	both.Wait()
}
