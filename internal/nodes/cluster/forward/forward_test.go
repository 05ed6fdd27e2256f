package forward

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// node is a node at a public address.
type node struct {
	*Links
	public *httptest.Server
	at     netip.AddrPort
	opened atomic.Int64 // connections of the public address
	end    func()
}

func startNode(t *testing.T, secret byte) *node {
	t.Helper()
	links, err := New(Config{Key: bytes.Repeat([]byte{secret}, 32), Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	n := &node{Links: links}
	n.public = httptest.NewUnstartedServer(links.Before(http.NotFoundHandler()))
	n.public.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			n.opened.Add(1)
		}
	}
	n.public.Start()
	n.at = netip.MustParseAddrPort(n.public.Listener.Addr().String())
	ctx, cancel := context.WithCancel(context.Background())
	ran := make(chan error, 1)
	go func() { ran <- links.Run(ctx) }()
	n.end = sync.OnceFunc(func() {
		cancel()
		if err := <-ran; err != nil {
			t.Error(err)
		}
		n.public.CloseClientConnections()
		n.public.Close()
	})
	t.Cleanup(n.end)
	return n
}

// ask sends a request and reads its answer.
func (n *node) ask(t *testing.T, to *node, method, path, body string) (status int, text string, err error) {
	t.Helper()
	resp, err := n.Ask(t.Context(), to.at, method, path, http.Header{"X-Mark": {"m"}}, strings.NewReader(body), false)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(got), err
}

func TestRequestsReachTheOtherNode(t *testing.T) {
	a, b := startNode(t, 1), startNode(t, 1)
	b.Serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.WriteHeader(http.StatusTeapot)
		fmt.Fprintf(w, "%s %s %s %s %s", r.Method, r.URL.Path, r.Header.Get("X-Mark"), body, r.Proto)
	}))
	status, text, err := a.ask(t, b, http.MethodPut, "/x/y", "where")
	if err != nil || status != http.StatusTeapot || text != "PUT /x/y m where HTTP/2.0" {
		t.Errorf("%d %q %v", status, text, err)
	}
}

// TestManyRequestsShareConnections checks that two nodes need few connections, because the public address limits connections per
// address. More than two are opened when many requests come at the same moment, but they are not kept.
func TestManyRequestsShareConnections(t *testing.T) {
	a, b := startNode(t, 1), startNode(t, 1)
	const streams = 300
	began := make(chan bool, streams)
	b.Serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "event\n")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))
	ctx, cancel := context.WithCancel(t.Context())
	var group sync.WaitGroup
	for range streams {
		group.Go(func() {
			resp, err := a.Ask(ctx, b.at, http.MethodGet, "/events", nil, nil, true)
			if err != nil {
				t.Error(err)
				return
			}
			defer resp.Body.Close()
			began <- true
			if _, err := io.Copy(io.Discard, resp.Body); err == nil {
				t.Error("a stream ended cleanly although its client left")
			}
		})
	}
	for range streams {
		<-began
	}
	if n := b.opened.Load(); n > 8 {
		t.Errorf("%d streams opened %d connections", streams, n)
	}
	cancel()
	group.Wait()
}

// TestStrangersAreNotServed checks that no request is served without the key: not with the proof of another key, an old proof or
// none, and not with a proof that was intercepted.
func TestStrangersAreNotServed(t *testing.T) {
	b, stranger := startNode(t, 1), startNode(t, 2)
	b.Serve(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a stranger is served") }))
	if _, _, err := stranger.ask(t, b, http.MethodGet, "/x", ""); !errors.Is(err, ErrGone) {
		t.Errorf("with another key: %v", err)
	}
	for name, proof := range map[string]string{
		"no proof": "", "another key's": stranger.keys.prove(time.Now()), "an old one": b.keys.prove(time.Now().Add(-10 * time.Minute)),
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, b.public.URL+Path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		req.Header = http.Header{"Connection": {"Upgrade"}, "Upgrade": {protocol}, proofKey: {proof}}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if err := resp.Body.Close(); err != nil || resp.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %d %v", name, resp.StatusCode, err)
		}
	}
	// A proof that was intercepted opens a connection, but the stranger has no certificate for it.
	stranger.keys.proof = b.keys.proof
	stranger.down = make(map[string]time.Time)
	if _, _, err := stranger.ask(t, b, http.MethodGet, "/x", ""); err == nil {
		t.Error("a stolen proof is enough")
	}
}

// TestAStrangerIsNotAsked checks that a node without the key gets no request, because another service may have taken over the
// address.
func TestAStrangerIsNotAsked(t *testing.T) {
	a, stranger := startNode(t, 1), startNode(t, 2)
	stranger.keys.proof = a.keys.proof // accepts every proof
	stranger.Serve(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a stranger is asked") }))
	if _, _, err := a.ask(t, stranger, http.MethodPut, "/x", "where"); !errors.Is(err, ErrGone) {
		t.Errorf("%v", err)
	}
}

// TestANodeThatIsGone checks that the loss of a node is reported as ErrGone, also if the node answered just before, and that a node
// that is back is asked again.
func TestANodeThatIsGone(t *testing.T) {
	a, b := startNode(t, 1), startNode(t, 1)
	b.Serve(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	if _, _, err := a.ask(t, b, http.MethodGet, "/x", ""); err != nil {
		t.Fatal(err)
	}
	b.end()
	for began := time.Now(); ; {
		_, _, err := a.ask(t, b, http.MethodGet, "/x", "")
		if errors.Is(err, ErrGone) {
			break
		}
		if time.Since(began) > time.Minute {
			t.Fatalf("a node that is gone is asked: %v", err)
		}
	}
	if !a.isDown(b.at.String()) || len(a.down) != 1 {
		t.Error("it is asked again at once")
	}
}

// TestStreamsEndWithTheNode checks that a node that stops ends the streams that it forwards, and starts no new ones.
func TestStreamsEndWithTheNode(t *testing.T) {
	a, b := startNode(t, 1), startNode(t, 1)
	b.Serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))
	resp, err := a.Ask(t.Context(), b.at, http.MethodGet, "/events", nil, nil, true)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	ended := make(chan error, 1)
	go func() { _, err := io.Copy(io.Discard, resp.Body); ended <- err }()
	a.end()
	if err := <-ended; err == nil {
		t.Error("the stream ended as if the other node had ended it")
	}
	if _, err := a.Ask(t.Context(), b.at, http.MethodGet, "/events", nil, nil, true); !errors.Is(err, ErrStopping) {
		t.Errorf("a stream that begins while the node stops: %v", err)
	}
}

// TestBounds checks the values of the bounds, because ten times as much would be too much.
func TestBounds(t *testing.T) {
	for name, c := range map[string][2]int{
		"connections to a node": {maxConnections, 2}, "connections from nodes": {maxIncoming, 256}, "requests of a connection": {maxStreams, 10_000},
		"bytes of an answer that wait": {streamBuffer, 64 << 10}, "addresses that are down": {maxDown, 1024}, "seconds for an answer": {int(answerTimeout.Seconds()), 12},
	} {
		if c[0] != c[1] {
			t.Errorf("%s: %d, want %d", name, c[0], c[1])
		}
	}
	l := &Links{down: make(map[string]time.Time)}
	for i := range 5000 {
		l.markDown(fmt.Sprint(i))
	}
	if len(l.down) > 1024 {
		t.Errorf("%d addresses are remembered", len(l.down))
	}
	q := newQueue()
	q.open.Store(256)
	if !q.full() {
		t.Error("more than 256 nodes are let in")
	}
}
