package cli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"wayside/internal/proof/testenv"
)

// Where the tests' incidents are. Both are negative, so that no duration in a log looks like one of them.
const (
	sceneLat = -33.8688
	sceneLng = -151.2093
)

// provider is a wayside relay process that serves a file of rows and keeps its address over restarts.
type provider struct {
	t       *testing.T
	name    string
	file    string // its rows
	secret  string
	address string // empty before it was started
	cmd     *exec.Cmd
	log     *testenv.Output // of all its processes
}

func startProvider(t *testing.T, name string, rows ...string) *provider {
	t.Helper()
	if testing.Short() {
		t.Skip("starts the real binary")
	}
	p := &provider{t: t, name: name, file: filepath.Join(t.TempDir(), name+".json"), secret: "secret-of-" + name, log: new(testenv.Output)}
	p.say(rows...)
	p.start()
	return p
}

// say replaces the rows of the file.
func (p *provider) say(rows ...string) {
	p.t.Helper()
	writeRows(p.t, p.file, "["+strings.Join(rows, ",")+"]")
}

// start starts the provider, at a free port the first time and at the same port later, and waits until it answers.
func (p *provider) start() {
	p.t.Helper()
	bin := testenv.Program(p.t)
	config := p.file + ".toml"
	if err := os.WriteFile(config, []byte("[log]\nlevel = \"debug\"\n"), 0o600); err != nil {
		p.t.Fatal(err)
	}
	listen := p.address
	if listen == "" {
		listen = "127.0.0.1:0"
	}
	cmd := exec.Command(bin, "relay", "--listen", listen, "--config", config, p.file)
	cmd.Env = append(os.Environ(), "WAYSIDE_RELAY_SECRET="+p.secret)
	cmd.Stderr = p.log
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.cmd = cmd
	p.t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		p.t.Fatalf("it ends: %v\n%s", err, p.log)
	}
	_, after, _ := strings.Cut(line, "relay at http://")
	p.address, _, _ = strings.Cut(after, ": ")
}

// stop sends a signal and waits until the process has ended.
func (p *provider) stop(signal os.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(signal); err != nil {
		p.t.Fatal(err)
	}
	if err := p.cmd.Wait(); signal == syscall.SIGTERM && err != nil {
		p.t.Errorf("the relay ended with %v\n%s", err, p.log)
	}
}

// asUpstream returns the configuration of the provider as an upstream.
func (p *provider) asUpstream(form string) string {
	return upstreamTable(p.name, "http://"+p.address, p.secret, form)
}

func upstreamTable(name, url, secret, form string) string {
	return fmt.Sprintf("\n[[upstreams]]\nname = %q\nurl = %q\nsecret = %q\nform = %q\nattribution = %q\n", name, url, secret, form, "© "+name)
}

// manyVotes is unlimited with a high limit of votes, and with votes of new accounts that hide pins. It must come before any table.
const manyVotes = unlimited + "votes_per_minute = 1000000\n[votes]\ntrust_after = \"0s\"\n"

// incident returns a v1 row the given metres north of the scene.
func incident(id, kind string, north int, properties string) string {
	return fmt.Sprintf(`{"external_id":%q,"kind":%q,"lat":%.6f,"lng":%.6f,"properties":{%s}}`, id, kind, sceneLat+float64(north)/111_195, sceneLng, properties)
}

// seen is the content of an answer: pins by external id, and the status of the built-in source.
type seen struct {
	resp   *http.Response
	body   string
	pins   map[string]liveEntity
	status string
	ok     int // number of recent calls with an answer
}

type liveEntity struct {
	ID         string
	ExternalID string `json:"external_id"`
	Kind       string `json:"kind_id"`
	Status     string
	Confirms   int `json:"confirm_count"`
	Disputes   int `json:"dispute_count"`
	Line       *struct {
		Coordinates [][2]float64
	} `json:"geom_line"`
	Properties map[string]any
}

// votes returns the status and the votes of a pin.
func (e *liveEntity) votes() string { return fmt.Sprint(e.Status, " ", e.Confirms, " ", e.Disputes) }

// ids returns the external ids.
func (v *seen) ids() string { return strings.Join(slices.Sorted(maps.Keys(v.pins)), " ") }

// look reads the scene. Two radii that differ by 100 m have different window keys, and the upstreams are called for each.
func (c *client) look(radius int) *seen {
	c.s.t.Helper()
	resp, body := c.do(http.MethodGet, fmt.Sprintf("/v2/entities/nearby?lat=%f&lng=%f&radius=%d&limit=1000", sceneLat, sceneLng, radius), nil)
	return asSeen(c.s.t, resp, body)
}

func asSeen(t *testing.T, resp *http.Response, body []byte) *seen {
	t.Helper()
	var got struct {
		Entities []liveEntity
		Sources  []struct {
			ID     string
			Status string
			Recent struct{ OK int }
		}
	}
	if err := json.Unmarshal(body, &got); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("read: %d %s", resp.StatusCode, body)
	}
	v := &seen{resp: resp, body: string(body), pins: make(map[string]liveEntity)}
	for _, e := range got.Entities {
		v.pins[e.ExternalID] = e
	}
	for _, s := range got.Sources {
		if s.ID == "incidents" {
			v.status, v.ok = s.Status, s.Recent.OK
		}
	}
	return v
}

// withinWindows polls until ok returns true. A repeated read calls an upstream at most four seconds after the last call (D8.3),
// and its answer takes at most two (D8.6); the rest of the timeout is for a slow machine.
func withinWindows(t *testing.T, every time.Duration, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(every)
	defer tick.Stop()
	deadline := time.After(time.Minute)
	for !ok() {
		select {
		case <-deadline:
			t.Fatalf("%s: not within a minute", what)
		case <-tick.C:
		}
	}
}

// TestIncidents follows live incidents of both forms from providers' files to a guest's answer.
func TestIncidents(t *testing.T) {
	t.Parallel()
	kinds := []string{
		"alert.police", "alert.accident", "alert.road_closed", "alert.construction", "alert.hazard", "alert.hazard.car_stopped",
		"alert.hazard.object_on_road", "alert.hazard.pothole", "alert.hazard.animal", "alert.hazard.fog", "alert.hazard.ice",
		"alert.hazard.flooding", "traffic.jam",
	}
	var rows []string
	want := map[string]string{"plain": "alert.police"}
	for i, kind := range kinds {
		rows = append(rows, incident("raw:"+kind, kind, 400*i, ""))
		want["raw:"+kind] = kind
	}
	rows = append(rows, incident("line", "traffic.jam", -800, `"speedKMH":7,"line":[{"x":-151.2093,"y":-33.876},{"x":-151.2093,"y":-33.878}]`))
	want["line"] = "traffic.jam"
	one := startProvider(t, "one", incident("plain", "alert.police", -400, `"street":"A 2"`))
	raw := startProvider(t, "raw", rows...)
	s := startService(t, unlimited+one.asUpstream("incidents")+raw.asUpstream("incidents-raw"))
	guest := &client{s: s}

	v := guest.look(10_000)
	got := make(map[string]string)
	for id, e := range v.pins {
		got[id] = e.Kind
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("pins by kind (-want +got):\n%s", diff)
	}
	if v.resp.Header.Get("Cache-Control") != "no-store" || v.resp.Header.Get("ETag") != "" {
		t.Errorf("headers %v", v.resp.Header)
	}
	if v.status != "online" || v.ok != 2 {
		t.Errorf("status %s after %d good calls", v.status, v.ok)
	}
	if p := v.pins["plain"]; p.ID != "incident:v1:cGxhaW4" || p.Properties["street"] != "A 2" {
		t.Errorf("pin %+v", p)
	}
	line := [][2]float64{{-151.2093, -33.876}, {-151.2093, -33.878}}
	if p := v.pins["line"]; p.Line == nil || !cmp.Equal(p.Line.Coordinates, line) || p.Properties["speed_kmh"] != 7.0 {
		t.Errorf("jam %+v", p)
	}
	_, listed := guest.do(http.MethodGet, "/v2/sources", nil)
	for _, part := range []string{`"id":"incidents"`, `"attribution":"© one; © raw"`, `"source_type":"builtin"`} {
		if !strings.Contains(string(listed), part) {
			t.Errorf("the catalogue lacks %s: %s", part, listed)
		}
	}
	if resp, _ := guest.do(http.MethodGet, "/v2/entities/"+v.pins["plain"].ID, nil); resp.StatusCode != http.StatusOK {
		t.Errorf("explain: %s", resp.Status)
	}
	if err := s.terminate(); err != nil {
		t.Errorf("exit: %v", err)
	}
}

// TestUpstreamsStopAndRecover stops providers in both ways, and checks that reads still contain their last rows, that the status
// shows the failure (D8.6, D8.8), and that the service recovers without intervention when they are back.
func TestUpstreamsStopAndRecover(t *testing.T) {
	t.Parallel()
	one := startProvider(t, "one", incident("a", "alert.police", 0, ""))
	raw := startProvider(t, "raw", incident("b", "alert.accident", 500, ""))
	s := startService(t, unlimited+one.asUpstream("incidents")+raw.asUpstream("incidents-raw"))
	guest := &client{s: s}
	become := func(what, status string) {
		t.Helper()
		withinWindows(t, 50*time.Millisecond, what, func() bool {
			v := guest.look(2000)
			if v.ids() != "a b" {
				t.Errorf("%s: pins %s", what, v.ids())
			}
			return v.status == status
		})
	}
	become("both are there", "online")
	one.stop(syscall.SIGTERM)
	become("one is stopped", "degraded")
	raw.stop(syscall.SIGKILL)
	become("both are gone", "offline")
	one.start()
	raw.start()
	become("both are back", "online")
}

// TestEditedRowsAreShown checks that an answer replaces the one before it (D8.4).
func TestEditedRowsAreShown(t *testing.T) {
	t.Parallel()
	one := startProvider(t, "one", incident("a", "alert.police", 0, ""), incident("b", "alert.police", 500, ""))
	raw := startProvider(t, "raw", incident("c", "alert.accident", 1000, ""))
	s := startService(t, unlimited+one.asUpstream("incidents")+raw.asUpstream("incidents-raw"))
	guest := &client{s: s}
	if v := guest.look(2000); v.ids() != "a b c" {
		t.Fatalf("pins %s", v.ids())
	}
	one.say(incident("b", "alert.police", 500, ""), incident("d", "alert.hazard", -500, ""))
	raw.say()
	withinWindows(t, 50*time.Millisecond, "a row is new and two are gone", func() bool { return guest.look(2000).ids() == "b d" })
}

// TestIncidentsInDatabase checks the rollback mode (D8.9): answers may be cached, and pins survive a restart.
func TestIncidentsInDatabase(t *testing.T) {
	t.Parallel()
	one := startProvider(t, "one", incident("a", "alert.police", 0, ""))
	raw := startProvider(t, "raw", incident("b", "alert.accident", 500, ""))
	s := startService(t, unlimited+one.asUpstream("incidents")+raw.asUpstream("incidents-raw")+"\n[incidents]\nmode = \"database\"\n")
	check := func(what string, v *seen, status string) {
		t.Helper()
		if v.ids() != "a b" || v.status != status || v.resp.Header.Get("Cache-Control") != "public, max-age=10" || v.resp.Header.Get("ETag") == "" {
			t.Errorf("%s: pins %s, source %s, headers %v", what, v.ids(), v.status, v.resp.Header)
		}
	}
	guest := &client{s: s}
	check("at first", guest.look(2000), "online")
	withinWindows(t, 50*time.Millisecond, "nothing new since", func() bool { return guest.again(guest.look(2000)) == http.StatusNotModified })
	if err := s.terminate(); err != nil {
		t.Errorf("exit: %v", err)
	}
	one.stop(syscall.SIGTERM)
	raw.stop(syscall.SIGTERM)
	s.start(nil)
	v := guest.look(2000)
	check("restarted without upstreams", v, "offline")
	if code := guest.again(guest.look(2000)); code != http.StatusNotModified {
		t.Errorf("again: %d", code)
	}
	driver := s.signIn("driver@example.org")
	if e := driver.vote(v.pins["a"].ID, "confirm"); e.votes() != "reported 1 0" {
		t.Errorf("voted %+v", e)
	}
	if got := driver.look(2000).resp.Header.Get("Cache-Control"); got != "private, max-age=10" {
		t.Errorf("a driver's read: %s", got)
	}
}

// again repeats a read with the entity tag of its answer and returns the status.
func (c *client) again(v *seen) int {
	c.s.t.Helper()
	req := v.resp.Request.Clone(c.s.t.Context())
	req.Header.Set("If-None-Match", v.resp.Header.Get("ETag"))
	resp, err := c.http.Do(req)
	if err != nil {
		c.s.t.Fatal(err)
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode
}

// stubUpstream is an upstream with configurable answers that records its calls.
type stubUpstream struct {
	*httptest.Server
	mu      sync.Mutex
	queries []string
	tenants []string
}

func newStubUpstream(t *testing.T, code int, body string) *stubUpstream {
	t.Helper()
	u := new(stubUpstream)
	u.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		u.mu.Lock()
		u.queries = append(u.queries, r.URL.RawQuery)
		u.tenants = append(u.tenants, r.FormValue("tenant"))
		u.mu.Unlock()
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(u.Close)
	return u
}

// asked returns the number of calls and their callers.
func (u *stubUpstream) asked() (int, []string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	return len(u.queries), slices.Clone(u.tenants)
}

// TestWrongSecret checks that an upstream that rejects the secret is called once for all readers (D8.6), that the others are called
// as before, and that the status reports it.
func TestWrongSecret(t *testing.T) {
	t.Parallel()
	refusing := newStubUpstream(t, http.StatusUnauthorized, "")
	good := newStubUpstream(t, http.StatusOK, `{"entities":[`+incident("a", "alert.police", 0, "")+`]}`)
	misled := startProvider(t, "misled", incident("b", "alert.police", 500, ""))
	s := startService(t, unlimited+upstreamTable("good", good.URL, "s", "incidents")+
		upstreamTable("refusing", refusing.URL, "s", "incidents")+upstreamTable("misled", "http://"+misled.address, "another", "incidents"))
	guest := &client{s: s}
	for radius := 1000; radius < 3000; radius += 100 { // twenty keys
		if v := guest.look(radius); v.ids() != "a" || v.status != "degraded" {
			t.Errorf("at %d m: pins %s, status %s", radius, v.ids(), v.status)
		}
	}
	calls, _ := good.asked()
	withinWindows(t, 50*time.Millisecond, "a key's next call", func() bool {
		guest.look(1000)
		now, _ := good.asked()
		return now > calls
	})
	if n, _ := refusing.asked(); n != 1 {
		t.Errorf("the refusing upstream was called %d times", n)
	}
	if n := strings.Count(s.log.String(), "refuses the secret"); n != 2 {
		t.Errorf("logged %d times, for two upstreams:\n%s", n, s.log)
	}

	alone := startService(t, unlimited+misled.asUpstream("incidents")+upstreamTable("refusing", refusing.URL, "s", "incidents"))
	misled.stop(syscall.SIGTERM)
	if v := (&client{s: alone}).look(1000); v.ids() != "" || v.status != "offline" {
		t.Errorf("with no upstream: pins %s, status %s", v.ids(), v.status)
	}
}

// TestNoPersonalDataInLogs reads, votes and fails in every way at the debug level, and checks that neither logs nor metrics contain
// accounts, addresses, positions or secrets (D12.4, D13).
func TestNoPersonalDataInLogs(t *testing.T) {
	t.Parallel()
	one := startProvider(t, "one", incident("a", "alert.police", 0, ""))
	raw := startProvider(t, "raw", incident("b", "alert.accident", 500, ""))
	echo := fmt.Sprintf(`{"lat":%f,"lng":%f,`, sceneLat, sceneLng)
	stubs := []*stubUpstream{
		newStubUpstream(t, http.StatusOK, echo), newStubUpstream(t, http.StatusInternalServerError, echo), newStubUpstream(t, http.StatusUnauthorized, echo),
		newStubUpstream(t, http.StatusOK, `{"entities":[{"external_id":"x","kind":"moose","lat":-33.8688,"lng":-151.2093,"properties":{}}]}`),
	}
	ops := freeAddress(t)
	config := unlimited + fmt.Sprintf("\n[log]\nlevel = \"debug\"\n\n[ops]\nlisten = %q\n", ops) + one.asUpstream("incidents") + raw.asUpstream("incidents-raw")
	for i, u := range stubs {
		config += upstreamTable(fmt.Sprint("stub-", i), u.URL, fmt.Sprint("secret-of-stub-", i), "incidents")
	}
	s := startService(t, config)
	guest := &client{s: s}
	if runtime.GOOS == "linux" { // where all of 127/8 belongs to this machine
		from := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 77)}}
		guest.http.Transport = &http.Transport{DialContext: from.DialContext, DisableKeepAlives: true}
	}
	driver := s.signIn("driver@example.org")
	id := guest.look(2000).pins["a"].ID
	guest.do(http.MethodPost, "/v2/entities/"+id+"/dispute", nil)
	guest.do(http.MethodGet, "/v2/entities/nearby?lat=-33.8688x&lng=-151.2093&radius=-151.2093", nil)
	driver.vote(id, "dispute")
	driver.standing(id)
	raw.stop(syscall.SIGTERM)
	one.say(`{"lat":-33.8688,"lng":-151.2093`) // broken
	withinWindows(t, 100*time.Millisecond, "the broken file is logged", func() bool {
		driver.look(2000)
		return strings.Contains(one.log.String(), "cannot be read")
	})
	for radius := 2100; radius < 2400; radius += 100 {
		guest.look(radius)
	}
	metrics := get(t, "http://"+ops+"/metrics")
	if err := s.terminate(); err != nil {
		t.Errorf("exit: %v", err)
	}
	one.stop(syscall.SIGTERM)

	private := []string{
		regexp.QuoteMeta(driver.cookie.Value), "driver@example", `127\.0\.0\.77`, `33\.8[67]\d`, `151\.2[01]\d`, "secret-of-", "tenant", "[0-9a-f]{64}",
		regexp.QuoteMeta(one.address), regexp.QuoteMeta(raw.address), regexp.QuoteMeta(id), "moose",
	}
	for _, u := range stubs {
		private = append(private, regexp.QuoteMeta(u.Listener.Addr().String()))
		n, tenants := u.asked()
		if n == 0 || len(tenants[0]) != 64 {
			t.Errorf("a stub upstream was called %d times, by %v", n, tenants)
		}
		private = append(private, tenants...)
	}
	words := regexp.MustCompile(strings.Join(private, "|"))
	// A relay logs the address that it listens on, which is not personal data.
	for name, text := range map[string]string{
		"service": s.log.String(), "metrics": metrics,
		"relay": strings.NewReplacer(one.address, "", raw.address, "").Replace(one.log.String() + raw.log.String()),
	} {
		for line := range strings.Lines(text) {
			if found := words.FindString(line); found != "" {
				t.Errorf("%s: %q in %s", name, found, line)
			}
		}
	}
	t.Logf("%d lines of the service, %d of a relay", strings.Count(s.log.String(), "\n"), strings.Count(one.log.String(), "\n"))
}
