package navigation_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"wayside/internal/drive/nav/session"
	"wayside/internal/http/httpapi/httpapitest"
	"wayside/internal/http/httpapi/public"
	"wayside/internal/nodes/cluster/forward"
)

// network holds the nodes of a test by their addresses.
type network map[netip.AddrPort]*networkNode

// networkNode is a node as others reach it.
type networkNode struct {
	network network
	at      netip.AddrPort
	inside  *httptest.Server // for requests of other nodes
	ids     *session.IDs
	asked   atomic.Int64
	fails   error // returned for requests of this node to others
	*httpapitest.ReadService
}

// Serve sets the handler for the requests of other nodes.
func (n *networkNode) Serve(h http.Handler) {
	n.inside = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n.asked.Add(1)
		h.ServeHTTP(w, r)
	}))
}

// Ask sends a request to another node.
func (n *networkNode) Ask(ctx context.Context, to netip.AddrPort, method, path string, header http.Header, body io.Reader, _ bool) (*http.Response, error) {
	if n.fails != nil {
		return nil, n.fails
	}
	other, ok := n.network[to]
	if !ok {
		return nil, forward.ErrGone
	}
	req, err := http.NewRequestWithContext(ctx, method, other.inside.URL+path, body)
	if err != nil {
		return nil, err
	}
	req.Header = header
	return http.DefaultClient.Do(req)
}

// add starts a node.
func (w network) add(t *testing.T, address string, edit func(*public.Deps)) *networkNode {
	t.Helper()
	n := &networkNode{network: w, at: netip.MustParseAddrPort(address)}
	n.ReadService = httpapitest.NewNavigationService(t, func(d *public.Deps) {
		var err error
		if n.ids, err = session.NewIDs(bytes.Repeat([]byte{7}, session.IDKeySize), func() netip.AddrPort { return n.at }); err != nil {
			t.Fatal(err)
		}
		d.Drives = session.New(session.Options{Routes: d.Navigation, Now: d.Now, IDs: n.ids, PerAddress: 1000}) // all drivers of a test have one address
		d.Nodes, d.NodeRequests = n, n.Serve
		ctx, cancel := context.WithCancel(t.Context())
		ran := make(chan error, 1)
		go func() { ran <- d.Drives.Run(ctx) }()
		t.Cleanup(func() {
			cancel()
			if err := <-ran; err != nil {
				t.Error(err)
			}
		})
		if edit != nil {
			edit(d)
		}
	})
	t.Cleanup(n.inside.Close)
	w[n.at] = n
	return n
}

// TestDriveOfAnotherNode uses a session at a node that does not have it (F2).
func TestDriveOfAnotherNode(t *testing.T) {
	w := make(network)
	a, b := w.add(t, "192.0.2.1:80", nil), w.add(t, "192.0.2.2:80", nil)
	path, _ := a.BeginDrive("12", `,"steps":true`)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, b.Server.URL+path+"/events", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	events, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer events.Body.Close()
	lines := bufio.NewScanner(events.Body)
	lines.Buffer(nil, 1<<20)
	if !lines.Scan() || lines.Text() != "event: route" || events.Header.Get("Content-Type") != "text/event-stream" || events.Header.Get("Cache-Control") != "no-store" {
		t.Fatalf("%s %v: %q %v", events.Status, events.Header, lines.Text(), lines.Err())
	}
	at, beside := httpapitest.DrawnTown(t).Place(t, "1"), httpapitest.DrawnTown(t).Place(t, "2")
	for _, c := range []struct {
		body string
		want int
	}{
		{fmt.Sprintf(`{"lat":%f,"lng":%f,"heading":90}`, at.Lat, at.Lng), http.StatusNoContent},
		{fmt.Sprintf(`{"lat":%f,"lng":%f}`, beside.Lat+0.01, beside.Lng), http.StatusOK},
		{`{}`, http.StatusUnprocessableEntity},
		{`{"lat":1`, http.StatusBadRequest},
		{strings.Repeat(" ", 2000), http.StatusRequestEntityTooLarge},
	} {
		resp, text := b.Do(http.MethodPut, path+"/position", c.body)
		if resp.StatusCode != c.want {
			t.Errorf("%.80s: %s %s, want %d", c.body, resp.Status, text, c.want)
		}
		if c.want != http.StatusNoContent {
			httpapitest.CheckAgainstSchema(t, http.MethodPut, httpapitest.Drives+"/{id}/position", resp.StatusCode, []byte(text))
		}
	}
	if resp, text := b.Do(http.MethodDelete, path, ""); resp.StatusCode != http.StatusNoContent {
		t.Errorf("%s %s", resp.Status, text)
	}
	for lines.Scan() { // the stream ends with the session
	}
	if err := lines.Err(); err != nil {
		t.Errorf("the stream was cut off: %v", err)
	}
	for _, n := range []*networkNode{a, b} {
		if resp, text := n.Do(http.MethodDelete, path, ""); resp.StatusCode != http.StatusNotFound {
			t.Errorf("%s %s", resp.Status, text)
		}
	}
}

// TestForwardedOnce checks that a request of another node is answered by this node or not at all, and that ids that name no
// reachable node cost no request.
func TestForwardedOnce(t *testing.T) {
	w := make(network)
	a, b, c := w.add(t, "192.0.2.1:80", nil), w.add(t, "192.0.2.2:80", nil), w.add(t, "192.0.2.3:80", nil)
	path, _ := c.BeginDrive("12", "")
	resp, err := http.Get(b.inside.URL + path + "/events") // as another node asks
	if err != nil {
		t.Fatal(err)
	}
	if err := resp.Body.Close(); err != nil || resp.StatusCode != http.StatusNotFound || c.asked.Load() != 0 {
		t.Errorf("%d (%v), and the node that has the session was asked %d times", resp.StatusCode, err, c.asked.Load())
	}
	for _, id := range []string{"AAAAAAAAAAAAAAAAAAAAAA", strings.Repeat("A", 94), strings.Repeat("A", 5000)} {
		if resp, text := a.Do(http.MethodDelete, httpapitest.Drives+"/"+id, ""); resp.StatusCode != http.StatusNotFound {
			t.Errorf("%.30s: %s %s", id, resp.Status, text)
		}
	}
	if n := b.asked.Load() + c.asked.Load(); n != 1 {
		t.Errorf("%d requests reached other nodes", n)
	}
}

// TestDriveOfANodeThatIsAway checks the answers to drivers whose node is gone, or does not answer at the moment.
func TestDriveOfANodeThatIsAway(t *testing.T) {
	w := make(network)
	a, b := w.add(t, "192.0.2.1:80", nil), w.add(t, "192.0.2.2:80", nil)
	path, _ := a.BeginDrive("12", "")
	for _, c := range []struct {
		fails error
		want  int
	}{{forward.ErrStopping, http.StatusServiceUnavailable}, {forward.ErrGone, http.StatusNotFound}} {
		b.fails = c.fails
		resp, text := b.Do(http.MethodGet, path+"/events", "")
		if resp.StatusCode != c.want || (resp.Header.Get("Retry-After") == "1") != (c.want == http.StatusServiceUnavailable) || strings.Contains(text, "192.0.2") {
			t.Errorf("%v: %s %v %s", c.fails, resp.Status, resp.Header, text)
		}
	}
}

// TestResumedDrives checks that a driver whose node is gone gets another session even if the limit on routes is used up, and that
// this does not circumvent the limit.
func TestResumedDrives(t *testing.T) {
	w := make(network)
	few := func(d *public.Deps) { d.Limits.GuestRoutes = 1 }
	gone, n := w.add(t, "192.0.2.1:80", nil), w.add(t, "192.0.2.2:80", few)
	pairs := "[[" + strings.ReplaceAll(httpapitest.PathOf(t, "12"), ";", "],[") + "]]"
	begin := func(resumes string) (status int, id string) {
		t.Helper()
		resp, text := n.Do(http.MethodPost, httpapitest.Drives, fmt.Sprintf(`{"coordinates":%s,"resumes":%q}`, pairs, resumes))
		var begun struct{ ID string }
		if err := json.Unmarshal([]byte(text), &begun); err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, begun.ID
	}
	lost := func() string {
		path, _ := gone.BeginDrive("12", "")
		return strings.TrimPrefix(path, httpapitest.Drives+"/")
	}
	ids := make([]string, 30)
	for i := range ids {
		ids[i] = lost()
	}
	if status, _ := begin(ids[0]); status != http.StatusCreated {
		t.Fatalf("the first session: %d", status)
	}
	if status, _ := begin("AAAAAAAAAAAAAAAAAAAAAA"); status != http.StatusTooManyRequests {
		t.Errorf("an id of nobody's gives a route: %d", status)
	}
	if resp, _ := gone.Do(http.MethodDelete, httpapitest.Drives+"/"+ids[0], ""); resp.StatusCode != http.StatusNotFound {
		t.Errorf("a session that goes on elsewhere still is at its node: %d", resp.StatusCode)
	}
	delete(w, gone.at)
	const resumed = 1 + 2 // of the first id
	for i := range 2 {
		if status, _ := begin(ids[0]); status != http.StatusCreated && status != http.StatusTooManyRequests {
			t.Errorf("resumption %d: %d", i, status)
		}
	}
	var count int
	var last string
	for _, id := range ids[1:] {
		if status, begun := begin(id); status == http.StatusCreated {
			count++
			last = begun
		}
	}
	if count < 20-resumed || count > 20 {
		t.Errorf("%d of 29 lost sessions were resumed, want 20 of an address in ten minutes", count)
	}
	if status, _ := begin(last); status != http.StatusTooManyRequests {
		t.Errorf("a session that is led gives another route: %d", status)
	}
	n.Advance(11 * time.Minute)
	again := 0
	for range 5 {
		if status, _ := begin(ids[29]); status == http.StatusCreated {
			again++
		}
	}
	if again > 3+1 { // and one route of the limit
		t.Errorf("one lost session was resumed %d times", again)
	}
}

// TestResumingBodyIsBounded checks that no more than the size of a session is read from a caller who has used up the limit on
// routes.
func TestResumingBodyIsBounded(t *testing.T) {
	w := make(network)
	n := w.add(t, "192.0.2.2:80", func(d *public.Deps) { d.Limits.GuestRoutes = 1 })
	n.BeginDrive("12", "")
	resp, text := n.Do(http.MethodPost, httpapitest.Drives, `{"coordinates":[[1,1],[2,2]],"resumes":"`+strings.Repeat(" ", 20<<10)+`"}`)
	if resp.StatusCode != http.StatusTooManyRequests {
		t.Errorf("%s %s", resp.Status, text)
	}
}
