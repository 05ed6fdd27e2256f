package navigation_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"wayside/internal/drive/nav/session"
	"wayside/internal/http/httpapi/httpapitest"
	"wayside/internal/http/httpapi/public"
)

// newDriveService returns a service with sessions over the drawn town.
func newDriveService(t *testing.T) *httpapitest.ReadService {
	t.Helper()
	return httpapitest.NewNavigationService(t, func(d *public.Deps) {
		d.Drives = session.New(session.Options{Routes: d.Navigation, Now: time.Now})
		ctx, cancel := context.WithCancel(t.Context())
		ran := make(chan error, 1)
		go func() { ran <- d.Drives.Run(ctx) }()
		t.Cleanup(func() {
			cancel()
			if err := <-ran; err != nil {
				t.Error(err)
			}
		})
	})
}

// TestDrive follows a session: begin, events, positions, end (D15.21).
func TestDrive(t *testing.T) {
	s := newDriveService(t)
	path, text := s.BeginDrive("12", `,"steps":true,"overview":"full"`)
	var begun struct {
		ID    string          `json:"id"`
		Route json.RawMessage `json:"route"`
	}
	if err := json.Unmarshal([]byte(text), &begun); err != nil || path != httpapitest.Drives+"/"+begun.ID || len(begun.ID) != 94 { // of which 24 bytes are random, and the rest is encrypted
		t.Fatalf("%s in %s (%v)", path, text, err)
	}

	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.Server.URL+path+"/events", http.NoBody)
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
	if !lines.Scan() || lines.Text() != "event: route" || !lines.Scan() {
		t.Fatalf("the first event: %q (%v)", lines.Text(), lines.Err())
	}
	data := strings.TrimPrefix(lines.Text(), "data: ")
	var first struct {
		Route json.RawMessage `json:"route"`
	}
	if err := json.Unmarshal([]byte(data), &first); err != nil || string(first.Route) != string(begun.Route) {
		t.Errorf("the first event has %s (%v), want the route of the answer", data, err)
	}

	at, beside := httpapitest.DrawnTown(t).Place(t, "1"), httpapitest.DrawnTown(t).Place(t, "2")
	body := func(lat, lng float64, more string) string {
		return fmt.Sprintf(`{"lat":%f,"lng":%f%s}`, lat, lng, more)
	}
	for _, c := range []struct {
		body string
		want int
	}{
		{body(at.Lat, at.Lng, `,"heading":90,"speed":10`), http.StatusNoContent},
		{body(beside.Lat+0.01, beside.Lng, ""), http.StatusOK},
		{`{}`, http.StatusUnprocessableEntity},
		{body(at.Lat, at.Lng, `,"heading":400`), http.StatusUnprocessableEntity},
		{body(at.Lat, at.Lng, `,"speed":-1`), http.StatusUnprocessableEntity},
		{body(91, at.Lng, ""), http.StatusUnprocessableEntity},
		{body(at.Lat, at.Lng, `,"name":"x"`), http.StatusUnprocessableEntity},
		{`{"lat":1`, http.StatusBadRequest},
		{strings.Repeat(" ", 2000), http.StatusRequestEntityTooLarge},
	} {
		resp, text := s.Do(http.MethodPut, path+"/position", c.body)
		if resp.StatusCode != c.want {
			t.Errorf("%.80s: %s %s, want %d", c.body, resp.Status, text, c.want)
		}
		if c.want != http.StatusNoContent {
			httpapitest.CheckAgainstSchema(t, http.MethodPut, httpapitest.Drives+"/{id}/position", resp.StatusCode, []byte(text))
		}
	}
	if resp, text := s.Do(http.MethodDelete, path, ""); resp.StatusCode != http.StatusNoContent {
		t.Errorf("%s %s", resp.Status, text)
	}
	for lines.Scan() { // the stream ends with the session
	}
	if err := lines.Err(); err != nil {
		t.Errorf("the stream was cut off: %v", err)
	}
	for _, gone := range [][2]string{{http.MethodDelete, path}, {http.MethodGet, path + "/events"}, {http.MethodPut, path + "/position"}} {
		if resp, text := s.Do(gone[0], gone[1], body(at.Lat, at.Lng, "")); resp.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %s %s", gone, resp.Status, text)
		}
	}
}

// TestDrivesAreRefused checks the errors of requests, in OSRM's form.
func TestDrivesAreRefused(t *testing.T) {
	s := newDriveService(t)
	pairs := `"coordinates":[[` + strings.ReplaceAll(httpapitest.PathOf(t, "12"), ";", "],[") + `]]`
	for body, code := range map[string]string{
		`{` + pairs + `,"route":1}`:   "InvalidValue",
		`{` + pairs + `,"route":-1}`:  "InvalidValue",
		`{` + pairs + `,"route":"x"}`: "InvalidValue",
		`{` + pairs + `,"wheels":4}`:  "InvalidQuery",
		`{"route":0}`:                 "InvalidQuery",
		`[]`:                          "InvalidQuery",
	} {
		resp, text := s.Do(http.MethodPost, httpapitest.Drives, body)
		if resp.StatusCode != http.StatusBadRequest || !strings.Contains(text, `"code":"`+code+`"`) {
			t.Errorf("%s: %s %s, want %s", body, resp.Status, text, code)
		}
	}
}

// TestDrivesCount checks that beginning a session counts as a route, and that a node bounds its sessions.
func TestDrivesCount(t *testing.T) {
	s := httpapitest.NewNavigationService(t, func(d *public.Deps) {
		d.Limits.GuestRoutes = 3
		d.Drives = session.New(session.Options{Routes: d.Navigation, Now: time.Now, MaxSessions: 2})
	})
	path, _ := s.BeginDrive("12", "")
	s.BeginDrive("12", "")
	body := `{"coordinates":[[` + strings.ReplaceAll(httpapitest.PathOf(t, "12"), ";", "],[") + `]]}`
	if resp, text := s.Do(http.MethodPost, httpapitest.Drives, body); resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Retry-After") == "" {
		t.Errorf("beyond what a node has: %s %s", resp.Status, text)
	}
	if resp, text := s.Do(http.MethodPost, httpapitest.Drives, body); resp.StatusCode != http.StatusTooManyRequests {
		t.Errorf("beyond the limit on routes: %s %s", resp.Status, text)
	}
	at := httpapitest.DrawnTown(t).Place(t, "1")
	for i := range 31 { // positions do not count as routes, and the session bounds them
		resp, text := s.Do(http.MethodPut, path+"/position", fmt.Sprintf(`{"lat":%f,"lng":%f}`, at.Lat, at.Lng))
		if want := http.StatusNoContent; i < 30 && resp.StatusCode != want {
			t.Fatalf("position %d: %s %s", i, resp.Status, text)
		}
	}
}

// TestRefusedPositionsAreNotRead checks that a position beyond the limit is refused before its body is read, and that bodies which cannot
// be read count too.
func TestRefusedPositionsAreNotRead(t *testing.T) {
	s := newDriveService(t)
	path, _ := s.BeginDrive("12", "")
	const most = 2000 // two a second may pass beyond the first thirty
	for range most {
		resp, text := s.Do(http.MethodPut, path+"/position", `{"lat":`)
		switch resp.StatusCode {
		case http.StatusBadRequest:
			continue
		case http.StatusTooManyRequests:
			if resp.Header.Get("Retry-After") == "" {
				t.Error("no Retry-After")
			}
			return
		}
		t.Fatalf("%s %s", resp.Status, text)
	}
	t.Errorf("%d malformed positions were all read", most)
}

// TestDriveEventsHoldNoRequest checks that an idle stream has a connection and no goroutine of net/http, and that old clients can
// read it too.
func TestDriveEventsHoldNoRequest(t *testing.T) {
	s := newDriveService(t)
	path, _ := s.BeginDrive("12", "")
	before := runtime.NumGoroutine()
	var conns []net.Conn
	for i := range 40 {
		if i%10 == 0 && i > 0 {
			path, _ = s.BeginDrive("12", "")
		}
		var dialer net.Dialer
		conn, err := dialer.DialContext(t.Context(), "tcp", strings.TrimPrefix(s.Server.URL, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		conns = append(conns, conn)
		version := []string{"1.1", "1.0"}[i%2]
		if _, err := fmt.Fprintf(conn, "GET %s/events HTTP/%s\r\nHost: x\r\n\r\n", path, version); err != nil {
			t.Fatal(err)
		}
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("%v (%v)", resp, err)
		}
		if line, err := bufio.NewReader(resp.Body).ReadString('\n'); err != nil || line != "event: route\n" {
			t.Fatalf("HTTP/%s: %q (%v)", version, line, err)
		}
	}
	deadline := time.Now().Add(time.Minute)
	for runtime.NumGoroutine() > before+5 && time.Now().Before(deadline) {
		runtime.Gosched()
	}
	if more := runtime.NumGoroutine() - before; more > 5 {
		t.Errorf("40 streams have %d goroutines", more)
	}
	if rest, err := io.ReadAll(conns[0]); err != nil || !strings.HasSuffix(string(rest), "0\r\n\r\n") { // another stream took its place
		t.Errorf("a stream that another one replaced ends with %q (%v)", rest, err)
	}
}
