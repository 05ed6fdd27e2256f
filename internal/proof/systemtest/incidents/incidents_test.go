package incidents

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"wayside/internal/proof/systemtest"
)

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
		rows = append(rows, systemtest.Incident("raw:"+kind, kind, 400*i, ""))
		want["raw:"+kind] = kind
	}
	rows = append(rows, systemtest.Incident("line", "traffic.jam", -800, `"speedKMH":7,"line":[{"x":-151.2093,"y":-33.876},{"x":-151.2093,"y":-33.878}]`))
	want["line"] = "traffic.jam"
	one := systemtest.StartProvider(t, "one", systemtest.Incident("plain", "alert.police", -400, `"street":"A 2"`))
	raw := systemtest.StartProvider(t, "raw", rows...)
	s := systemtest.StartService(t, systemtest.Unlimited+one.AsUpstream("incidents")+raw.AsUpstream("incidents-raw"))
	guest := &systemtest.Client{Service: s}

	v := guest.Look(10_000)
	got := make(map[string]string)
	for id, e := range v.Pins {
		got[id] = e.Kind
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("pins by kind (-want +got):\n%s", diff)
	}
	if v.Resp.Header.Get("Cache-Control") != "no-store" || v.Resp.Header.Get("ETag") != "" {
		t.Errorf("headers %v", v.Resp.Header)
	}
	if v.Status != "online" || v.Ok != 2 {
		t.Errorf("status %s after %d good calls", v.Status, v.Ok)
	}
	if p := v.Pins["plain"]; p.ID != "incident:v1:cGxhaW4" || p.Properties["street"] != "A 2" {
		t.Errorf("pin %+v", p)
	}
	line := [][2]float64{{-151.2093, -33.876}, {-151.2093, -33.878}}
	if p := v.Pins["line"]; p.Line == nil || !cmp.Equal(p.Line.Coordinates, line) || p.Properties["speed_kmh"] != 7.0 {
		t.Errorf("jam %+v", p)
	}
	_, listed := guest.Do(http.MethodGet, "/v2/sources", nil)
	for _, part := range []string{`"id":"incidents"`, `"attribution":"© one; © raw"`, `"source_type":"builtin"`} {
		if !strings.Contains(string(listed), part) {
			t.Errorf("the catalogue lacks %s: %s", part, listed)
		}
	}
	if resp, _ := guest.Do(http.MethodGet, "/v2/entities/"+v.Pins["plain"].ID, nil); resp.StatusCode != http.StatusOK {
		t.Errorf("explain: %s", resp.Status)
	}
	if err := s.Terminate(); err != nil {
		t.Errorf("exit: %v", err)
	}
}

// TestUpstreamsStopAndRecover stops providers in both ways, and checks that reads still contain their last rows, that the status
// shows the failure (D8.6, D8.8), and that the service recovers without intervention when they are back.
func TestUpstreamsStopAndRecover(t *testing.T) {
	t.Parallel()
	one := systemtest.StartProvider(t, "one", systemtest.Incident("a", "alert.police", 0, ""))
	raw := systemtest.StartProvider(t, "raw", systemtest.Incident("b", "alert.accident", 500, ""))
	s := systemtest.StartService(t, systemtest.Unlimited+one.AsUpstream("incidents")+raw.AsUpstream("incidents-raw"))
	guest := &systemtest.Client{Service: s}
	become := func(what, status string) {
		t.Helper()
		systemtest.WithinWindows(t, 50*time.Millisecond, what, func() bool {
			v := guest.Look(2000)
			if v.IDs() != "a b" {
				t.Errorf("%s: pins %s", what, v.IDs())
			}
			return v.Status == status
		})
	}
	become("both are there", "online")
	one.Stop(syscall.SIGTERM)
	become("one is stopped", "degraded")
	raw.Stop(syscall.SIGKILL)
	become("both are gone", "offline")
	one.Start()
	raw.Start()
	become("both are back", "online")
}

// TestEditedRowsAreShown checks that an answer replaces the one before it (D8.4).
func TestEditedRowsAreShown(t *testing.T) {
	t.Parallel()
	one := systemtest.StartProvider(t, "one", systemtest.Incident("a", "alert.police", 0, ""), systemtest.Incident("b", "alert.police", 500, ""))
	raw := systemtest.StartProvider(t, "raw", systemtest.Incident("c", "alert.accident", 1000, ""))
	s := systemtest.StartService(t, systemtest.Unlimited+one.AsUpstream("incidents")+raw.AsUpstream("incidents-raw"))
	guest := &systemtest.Client{Service: s}
	if v := guest.Look(2000); v.IDs() != "a b c" {
		t.Fatalf("pins %s", v.IDs())
	}
	one.Say(systemtest.Incident("b", "alert.police", 500, ""), systemtest.Incident("d", "alert.hazard", -500, ""))
	raw.Say()
	systemtest.WithinWindows(t, 50*time.Millisecond, "a row is new and two are gone", func() bool { return guest.Look(2000).IDs() == "b d" })
}

// TestIncidentsInDatabase checks the rollback mode (D8.9): answers may be cached, and pins survive a restart.
func TestIncidentsInDatabase(t *testing.T) {
	t.Parallel()
	one := systemtest.StartProvider(t, "one", systemtest.Incident("a", "alert.police", 0, ""))
	raw := systemtest.StartProvider(t, "raw", systemtest.Incident("b", "alert.accident", 500, ""))
	s := systemtest.StartService(t, systemtest.Unlimited+one.AsUpstream("incidents")+raw.AsUpstream("incidents-raw")+"\n[incidents]\nmode = \"database\"\n")
	check := func(what string, v *systemtest.Seen, status string) {
		t.Helper()
		if v.IDs() != "a b" || v.Status != status || v.Resp.Header.Get("Cache-Control") != "public, max-age=10" || v.Resp.Header.Get("ETag") == "" {
			t.Errorf("%s: pins %s, source %s, headers %v", what, v.IDs(), v.Status, v.Resp.Header)
		}
	}
	guest := &systemtest.Client{Service: s}
	check("at first", guest.Look(2000), "online")
	systemtest.WithinWindows(t, 50*time.Millisecond, "nothing new since", func() bool { return again(guest, guest.Look(2000)) == http.StatusNotModified })
	if err := s.Terminate(); err != nil {
		t.Errorf("exit: %v", err)
	}
	one.Stop(syscall.SIGTERM)
	raw.Stop(syscall.SIGTERM)
	s.Start(nil)
	v := guest.Look(2000)
	check("restarted without upstreams", v, "offline")
	if code := again(guest, guest.Look(2000)); code != http.StatusNotModified {
		t.Errorf("again: %d", code)
	}
	driver := s.SignIn("driver@example.org")
	if e := driver.Vote(v.Pins["a"].ID, "confirm"); e.Votes() != "reported 1 0" {
		t.Errorf("voted %+v", e)
	}
	if got := driver.Look(2000).Resp.Header.Get("Cache-Control"); got != "private, max-age=10" {
		t.Errorf("a driver's read: %s", got)
	}
}

// again repeats a read with the entity tag of its answer and returns the status.
func again(c *systemtest.Client, v *systemtest.Seen) int {
	c.Service.T.Helper()
	req := v.Resp.Request.Clone(c.Service.T.Context())
	req.Header.Set("If-None-Match", v.Resp.Header.Get("ETag"))
	resp, err := c.HTTP.Do(req)
	if err != nil {
		c.Service.T.Fatal(err)
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
	good := newStubUpstream(t, http.StatusOK, `{"entities":[`+systemtest.Incident("a", "alert.police", 0, "")+`]}`)
	misled := systemtest.StartProvider(t, "misled", systemtest.Incident("b", "alert.police", 500, ""))
	s := systemtest.StartService(t, systemtest.Unlimited+systemtest.UpstreamTable("good", good.URL, "s", "incidents")+
		systemtest.UpstreamTable("refusing", refusing.URL, "s", "incidents")+systemtest.UpstreamTable("misled", "http://"+misled.Address, "another", "incidents"))
	guest := &systemtest.Client{Service: s}
	for radius := 1000; radius < 3000; radius += 100 { // twenty keys
		if v := guest.Look(radius); v.IDs() != "a" || v.Status != "degraded" {
			t.Errorf("at %d m: pins %s, status %s", radius, v.IDs(), v.Status)
		}
	}
	calls, _ := good.asked()
	systemtest.WithinWindows(t, 50*time.Millisecond, "a key's next call", func() bool {
		guest.Look(1000)
		now, _ := good.asked()
		return now > calls
	})
	if n, _ := refusing.asked(); n != 1 {
		t.Errorf("the refusing upstream was called %d times", n)
	}
	if n := strings.Count(s.Log.String(), "refuses the secret"); n != 2 {
		t.Errorf("logged %d times, for two upstreams:\n%s", n, s.Log)
	}

	alone := systemtest.StartService(t, systemtest.Unlimited+misled.AsUpstream("incidents")+systemtest.UpstreamTable("refusing", refusing.URL, "s", "incidents"))
	misled.Stop(syscall.SIGTERM)
	if v := (&systemtest.Client{Service: alone}).Look(1000); v.IDs() != "" || v.Status != "offline" {
		t.Errorf("with no upstream: pins %s, status %s", v.IDs(), v.Status)
	}
}

// TestNoPersonalDataInLogs reads, votes and fails in every way at the debug level, and checks that neither logs nor metrics contain
// accounts, addresses, positions or secrets (D12.4, D13).
func TestNoPersonalDataInLogs(t *testing.T) {
	t.Parallel()
	one := systemtest.StartProvider(t, "one", systemtest.Incident("a", "alert.police", 0, ""))
	raw := systemtest.StartProvider(t, "raw", systemtest.Incident("b", "alert.accident", 500, ""))
	echo := fmt.Sprintf(`{"lat":%f,"lng":%f,`, systemtest.SceneLat, systemtest.SceneLng)
	stubs := []*stubUpstream{
		newStubUpstream(t, http.StatusOK, echo), newStubUpstream(t, http.StatusInternalServerError, echo), newStubUpstream(t, http.StatusUnauthorized, echo),
		newStubUpstream(t, http.StatusOK, `{"entities":[{"external_id":"x","kind":"moose","lat":-33.8688,"lng":-151.2093,"properties":{}}]}`),
	}
	ops := systemtest.FreeAddress(t)
	config := systemtest.Unlimited + fmt.Sprintf("\n[log]\nlevel = \"debug\"\n\n[ops]\nlisten = %q\n", ops) + one.AsUpstream("incidents") + raw.AsUpstream("incidents-raw")
	for i, u := range stubs {
		config += systemtest.UpstreamTable(fmt.Sprint("stub-", i), u.URL, fmt.Sprint("secret-of-stub-", i), "incidents")
	}
	s := systemtest.StartService(t, config)
	guest := &systemtest.Client{Service: s}
	if runtime.GOOS == "linux" { // where all of 127/8 belongs to this machine
		from := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 77)}}
		guest.HTTP.Transport = &http.Transport{DialContext: from.DialContext, DisableKeepAlives: true}
	}
	driver := s.SignIn("driver@example.org")
	id := guest.Look(2000).Pins["a"].ID
	guest.Do(http.MethodPost, "/v2/entities/"+id+"/dispute", nil)
	guest.Do(http.MethodGet, "/v2/entities/nearby?lat=-33.8688x&lng=-151.2093&radius=-151.2093", nil)
	driver.Vote(id, "dispute")
	standing(driver, id)
	raw.Stop(syscall.SIGTERM)
	one.Say(`{"lat":-33.8688,"lng":-151.2093`) // broken
	systemtest.WithinWindows(t, 100*time.Millisecond, "the broken file is logged", func() bool {
		driver.Look(2000)
		return strings.Contains(one.Log.String(), "cannot be read")
	})
	for radius := 2100; radius < 2400; radius += 100 {
		guest.Look(radius)
	}
	metrics := systemtest.Get(t, "http://"+ops+"/metrics")
	if err := s.Terminate(); err != nil {
		t.Errorf("exit: %v", err)
	}
	one.Stop(syscall.SIGTERM)

	private := []string{
		regexp.QuoteMeta(driver.Cookie.Value), "driver@example", `127\.0\.0\.77`, `33\.8[67]\d`, `151\.2[01]\d`, "secret-of-", "tenant", "[0-9a-f]{64}",
		regexp.QuoteMeta(one.Address), regexp.QuoteMeta(raw.Address), regexp.QuoteMeta(id), "moose",
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
		"service": s.Log.String(), "metrics": metrics,
		"relay": strings.NewReplacer(one.Address, "", raw.Address, "").Replace(one.Log.String() + raw.Log.String()),
	} {
		for line := range strings.Lines(text) {
			if found := words.FindString(line); found != "" {
				t.Errorf("%s: %q in %s", name, found, line)
			}
		}
	}
	t.Logf("%d lines of the service, %d of a relay", strings.Count(s.Log.String(), "\n"), strings.Count(one.Log.String(), "\n"))
}
