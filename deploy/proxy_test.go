package deploy

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"wayside/internal/proof/testenv"
)

const near = "/v2/entities/nearby?lat=48.137154&lng=11.576124&radius=500"

// TestProxy sends requests through the proxy as drivers and providers do, and checks that limits count clients, that the death of a
// node is invisible, that streams are not buffered, and that the proxy's log contains no personal data.
func TestProxy(t *testing.T) {
	lookHAProxy(t)
	binary := testenv.Program(t)
	const limits = "limits = { guest_reads_per_minute = 3 }\n"
	nodes := []*node{startNode(t, binary, "https://map.example.org", limits), startNode(t, binary, "https://map.example.org", limits)}
	p := startProxy(t, nodes[0].address, nodes[1].address, "127.0.0.1:"+freePort(t))

	t.Run("limits count clients", func(t *testing.T) { checkLimits(t, p) })
	t.Run("a node dies", func(t *testing.T) {
		nodes[1].kill()
		for i := range 40 {
			if resp, body := p.client(t, fmt.Sprintf("127.0.3.%d", i+1)).do(t, http.MethodGet, near, ""); resp.StatusCode != http.StatusOK {
				t.Fatalf("read %d after a node died: %d %s", i, resp.StatusCode, body)
			}
		}
	})
	secrets := checkStream(t, p, nodes[0])
	t.Run("plain HTTP", func(t *testing.T) { checkPlainHTTP(t, p) })
	sendBadRequests(t, p)
	p.kill()
	t.Run("the log", func(t *testing.T) { checkLog(t, p.out.String(), secrets) })
}

// checkLimits reads as one client until its limit is reached, and then as another one. The nodes share no cache here, so that each
// counts separately.
func checkLimits(t *testing.T, p *proxy) {
	greedy := p.client(t, "127.0.0.2")
	refused := false
	for range 7 {
		resp, _ := greedy.do(t, http.MethodGet, near, "")
		refused = refused || resp.StatusCode == http.StatusTooManyRequests
	}
	if !refused {
		t.Error("7 reads passed two nodes with a limit of 3 each")
	}
	refusals := 0
	for i := range 6 {
		resp, _ := greedy.do(t, http.MethodGet, near, "", "X-Forwarded-For", fmt.Sprintf("198.51.100.%d", i), "Forwarded", "for=198.51.100.9")
		if resp.StatusCode == http.StatusTooManyRequests {
			refusals++
		}
	}
	if refusals < 4 { // the bucket refills a little during the test
		t.Errorf("a client that claims another address each time was refused %d times of 6", refusals)
	}
	if resp, body := p.client(t, "127.0.0.3").do(t, http.MethodGet, near, ""); resp.StatusCode != http.StatusOK {
		t.Errorf("another client is limited together with the first: %d %s", resp.StatusCode, body)
	}
}

// checkStream signs in, publishes a feed, opens a stream and pushes, all through the proxy except for the operator's commands. It
// returns the secrets that must not be in any log.
func checkStream(t *testing.T, p *proxy, n *node) []string {
	t.Helper()
	const email = "owner@example.org"
	n.cli(t, "account", "create", "--email", email)
	link, err := url.Parse(strings.TrimSpace(n.cli(t, "account", "login-link", "--email", email)))
	if err != nil {
		t.Fatal(err)
	}
	owner := p.client(t, "127.0.0.4")
	token := link.Query().Get("token")
	owner.do(t, http.MethodGet, link.RequestURI(), "")
	resp, body := owner.do(t, http.MethodPost, "/v2/auth/verify", fmt.Sprintf(`{"token":%q}`, token))
	if resp.StatusCode != http.StatusOK || len(resp.Cookies()) != 1 {
		t.Fatalf("sign in: %d %s", resp.StatusCode, body)
	}
	cookie := resp.Cookies()[0]
	_, body = owner.do(t, http.MethodPost, "/v2/feeds", `{"name":"Cameras","direction":"push","visibility":"public"}`, "Cookie", cookie.Name+"="+cookie.Value)
	var registered struct {
		Feed struct{ ID string }
		Push string `json:"push_ingest_token"`
	}
	if err := json.Unmarshal([]byte(body), &registered); err != nil || registered.Push == "" {
		t.Fatalf("register: %v %s", err, body)
	}
	n.cli(t, "feed", "approve", registered.Feed.ID)

	events := p.client(t, "127.0.0.5").stream(t, "/v2/stream?lat=48.137154&lng=11.576124&radius=500")
	events.want(t, "event: snapshot")
	row := `[{"external_id":"c1","kind":"camera.speed","lat":48.137154,"lng":11.576124,"properties":{}}]`
	if resp, body := owner.do(t, http.MethodPost, "/v2/feeds/"+registered.Push+"/entities", row); resp.StatusCode != http.StatusOK {
		t.Fatalf("push: %d %s", resp.StatusCode, body)
	}
	events.want(t, "event: entity") // while the stream is open: the proxy does not buffer it
	p.client(t, "127.0.0.6").do(t, http.MethodGet, "/map/tiles/14/8718/5685", "")
	return []string{email, token, cookie.Value, registered.Push, registered.Feed.ID}
}

// lines receives the lines of a stream that stays open until the test ends.
type lines struct {
	next chan string
}

func (c *caller) stream(t *testing.T, path string) *lines {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.web.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	l := &lines{next: make(chan string, 1000)}
	go func() {
		defer close(l.next)
		for s := bufio.NewScanner(resp.Body); s.Scan(); {
			select {
			case l.next <- s.Text():
			case <-ctx.Done():
				return
			}
		}
	}()
	t.Cleanup(func() { _ = resp.Body.Close() }) // the client aborts the stream
	return l
}

// want waits for a line.
func (l *lines) want(t *testing.T, want string) {
	t.Helper()
	eventually(t, want, func() bool {
		for {
			select {
			case line, more := <-l.next:
				switch {
				case !more:
					t.Fatalf("the stream has ended before %q", want)
				case line == want:
					return true
				}
			default:
				return false
			}
		}
	})
}

// checkPlainHTTP checks that plain HTTP redirects to HTTPS, and answers ACME challenges.
func checkPlainHTTP(t *testing.T, p *proxy) {
	c := p.client(t, "127.0.0.7")
	resp, _ := c.do(t, http.MethodGet, "http://"+p.plain+near, "")
	if location := resp.Header.Get("Location"); resp.StatusCode != http.StatusPermanentRedirect || location != "https://"+p.plain+near {
		t.Errorf("%d %s", resp.StatusCode, location)
	}
	if resp, body := c.do(t, http.MethodGet, "http://"+p.plain+"/.well-known/acme-challenge/tok_en-1", ""); resp.StatusCode != http.StatusOK || body != "tok_en-1.thumb_print-1" {
		t.Errorf("%d %q", resp.StatusCode, body)
	}
	if resp, _ := c.do(t, http.MethodGet, "/metrics", ""); resp.StatusCode != http.StatusNotFound {
		t.Errorf("GET /metrics at the public address: %d", resp.StatusCode)
	}
}

// sendBadRequests makes the proxy log errors: no TLS, no HTTP, and an incomplete request.
func sendBadRequests(t *testing.T, p *proxy) {
	t.Helper()
	for _, c := range []struct{ address, text string }{
		{p.site, "GET " + near + " HTTP/1.1\r\n\r\n"},
		{p.plain, "GET " + near + " HTTP/1.1\r\nBroken header 48.137154\r\n\r\n"},
		{p.plain, "48.137154 11.576124\r\n\r\n"},
	} {
		dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP("127.0.0.8")}}
		conn, err := dialer.DialContext(t.Context(), "tcp", c.address)
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.WriteString(conn, c.text)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, conn) // until the proxy closes the connection
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	}
}

// checkLog checks that there is a log, and that it contains no secret.
func checkLog(t *testing.T, log string, secrets []string) {
	for _, secret := range append(secrets, "48.13", "11.57", "127.0.0.2", "127.0.0.4", "127.0.0.7", "127.0.0.8", "127.0.3.", "198.51.100", "lat=", "nearby", "8718") {
		if strings.Contains(log, secret) {
			t.Errorf("the log contains %q:\n%s", secret, log)
		}
	}
	statuses := make(map[int]int)
	errors := 0
	for line := range strings.Lines(log) {
		if !strings.HasPrefix(line, "{") {
			continue // a message about the proxy itself
		}
		var entry struct {
			Door, Error string
			Status      int
		}
		if err := json.Unmarshal([]byte(line), &entry); err != nil || entry.Door == "" {
			t.Errorf("%v: %s", err, line)
		}
		statuses[entry.Status]++
		if strings.Contains(line, `"error"`) {
			errors++
		}
	}
	if statuses[200] < 40 || statuses[429] == 0 || statuses[308] == 0 || statuses[400] < 2 || errors < 2 {
		t.Errorf("answers in the log by status: %v, and %d errors", statuses, errors)
	}
}

// TestProxyWithoutReadyNodes simulates three nodes whose database fails and recovers, and checks that ready nodes serve everything,
// and that if none is ready, nodes that are alive serve what they can.
func TestProxyWithoutReadyNodes(t *testing.T) {
	var ready [3]atomic.Bool
	var addresses []string
	for i := range ready {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/readyz" && !ready[i].Load() {
				w.WriteHeader(http.StatusServiceUnavailable)
			}
			_, _ = fmt.Fprint(w, i)
		}))
		t.Cleanup(s.Close)
		addresses = append(addresses, s.Listener.Addr().String())
	}
	ready[1].Store(true)
	p := startProxy(t, addresses...)
	clients := make([]*caller, 8) // several, because the proxy bounds the requests of each
	for i := range clients {
		clients[i] = p.client(t, fmt.Sprintf("127.0.5.%d", i+1))
	}
	requests := 0
	served := func() map[string]bool {
		by := make(map[string]bool)
		for range 9 {
			requests++
			resp, body := clients[requests%len(clients)].do(t, http.MethodGet, "/", "")
			if resp.StatusCode != http.StatusOK {
				t.Fatalf("%d %s", resp.StatusCode, body)
			}
			by[body] = true
		}
		return by
	}
	eventually(t, "the one node that is ready serves alone", func() bool { by := served(); return len(by) == 1 && by["1"] })
	ready[1].Store(false)
	eventually(t, "no node is ready, and all serve", func() bool { return len(served()) == 3 })
	ready[2].Store(true)
	eventually(t, "another one is ready, and serves alone", func() bool { by := served(); return len(by) == 1 && by["2"] })
}

// TestProxyBoundsConnectionsOfOneAddress opens more connections than one address may have, and checks that other clients are
// answered nevertheless (F6).
func TestProxyBoundsConnectionsOfOneAddress(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(s.Close)
	address := s.Listener.Addr().String()
	p := startProxy(t, address, address, address)
	greedy := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 6, 1)}}
	var conns []net.Conn
	for range 300 {
		conn, err := greedy.DialContext(t.Context(), "tcp", p.site)
		if errors.Is(err, syscall.ECONNRESET) { // closed before the client saw it open
			conns = append(conns, nil)
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		conns = append(conns, conn)
	}
	if last := conns[len(conns)-1]; last != nil {
		if _, err := last.Read(make([]byte, 1)); err == nil {
			t.Error("the last of 300 connections was not closed")
		}
	}
	if resp, body := p.client(t, "127.0.6.2").do(t, http.MethodGet, "/", ""); resp.StatusCode != http.StatusOK {
		t.Errorf("another address: %d %s", resp.StatusCode, body)
	}
}
