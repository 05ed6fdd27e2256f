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

	"wayside/internal/mapdata"
	"wayside/internal/testenv"
)

// TestStandby: a server that cannot be written to is none that nodes stay with, and what is not on a standby that is waited
// for was not stored.
func TestStandby(t *testing.T) {
	first := testenv.Postgres(t)
	door := newDoor(t, first.URL())
	second := first.Standby(t)
	db := open(t, door.url)
	f := newFeed(t, db, first.URL(), 1)
	store := func(id string) error { return put(t.Context(), db, f, entity(f, id)) }
	if err := store("at first"); err != nil {
		t.Fatal(err)
	}

	t.Run("the address leads to a standby for a while", func(t *testing.T) {
		door.leadTo(second.URL())
		door.cut()
		var all sync.WaitGroup
		for range 8 { // all connections of the pool are to the standby now
			all.Go(func() {
				if err := store("refused"); !errors.Is(err, mapdata.ErrUnavailable) {
					t.Errorf("stored through a standby: %v", err)
				}
			})
		}
		all.Wait()
		door.leadTo(first.URL())
		if err := store("again"); err != nil {
			t.Errorf("the address leads to the right server again: %v", err)
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
			t.Errorf("the standby is back: %v", err)
		}
	})

	t.Run("the primary stands still", func(t *testing.T) {
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
		<-time.After(1100 * time.Millisecond) // until they count as idle
		if err := first.Pause(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { // to end a connection waits for the server, too
			if err := first.Resume(); err != nil {
				t.Error(err)
			}
		})
		if err := put(t.Context(), hosts, f, entity(f, "nowhere")); !errors.Is(err, mapdata.ErrUnavailable) {
			t.Errorf("stored where nobody answers: %v", err)
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

// door is an address that leads to one server and later to another, as a name does that moves.
type door struct {
	t   *testing.T
	url string

	mu   sync.Mutex
	to   string
	open []net.Conn
}

func newDoor(t *testing.T, databaseURL string) *door {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d := &door{t: t}
	d.leadTo(databaseURL)
	u, err := url.Parse(databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	u.Host = listener.Addr().String()
	d.url = u.String()
	var all sync.WaitGroup
	all.Go(func() {
		for {
			in, err := listener.Accept()
			if err != nil {
				return
			}
			all.Go(func() { d.join(in) })
		}
	})
	t.Cleanup(func() {
		if err := listener.Close(); err != nil {
			t.Error(err)
		}
		d.cut()
		all.Wait()
	})
	return d
}

// leadTo is for connections to come.
func (d *door) leadTo(databaseURL string) {
	d.t.Helper()
	u, err := url.Parse(databaseURL)
	if err != nil {
		d.t.Fatal(err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.to = u.Host
}

// cut ends those that there are.
func (d *door) cut() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, c := range d.open {
		_ = c.Close()
	}
	d.open = nil
}

func (d *door) join(in net.Conn) {
	defer in.Close()
	d.mu.Lock()
	out, err := net.Dial("tcp", d.to)
	if err == nil {
		d.open = append(d.open, in, out)
	}
	d.mu.Unlock()
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
