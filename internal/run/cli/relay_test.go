package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"wayside/internal/feeds/refprovider"
	"wayside/internal/proof/systemtest"
	"wayside/internal/proof/testenv"
)

// relayProcess is a running wayside relay.
type relayProcess struct {
	t    *testing.T
	base string
	log  *testenv.Output
	said string // its standard output
}

// startRelay starts wayside relay at a free port. At the end of the test it must stop gracefully.
func startRelay(t *testing.T, env []string, args ...string) *relayProcess {
	t.Helper()
	bin := testenv.Program(t)
	cmd := exec.Command(bin, append([]string{"relay", "--listen", "127.0.0.1:0"}, args...)...)
	cmd.Env = append(os.Environ(), env...)
	r := &relayProcess{t: t, log: new(testenv.Output)}
	cmd.Stderr = r.log
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			t.Errorf("the relay ended with %v\n%s", err, r.log)
		}
	})
	lines := bufio.NewReader(stdout)
	for range 2 {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatalf("the relay printed %q and ended\n%s", r.said, r.log)
		}
		r.said += line
	}
	_, after, _ := strings.Cut(r.said, "relay at ")
	r.base, _, _ = strings.Cut(after, ": ")
	return r
}

// get returns status and body.
func (r *relayProcess) get(path, query, secret string) (int, string) {
	r.t.Helper()
	req, err := http.NewRequest(http.MethodGet, r.base+path+"?"+query, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	if secret != "" {
		req.Header.Set("X-Service-Auth", secret)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		r.t.Fatalf("%v\n%s", err, r.log)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

const near = "lat=52.37&lng=4.9&radius=5000&tenant=try"

func police(ids ...string) string {
	rows := make([]string, len(ids))
	for i, id := range ids {
		rows[i] = fmt.Sprintf(`{"external_id":%q,"kind":"alert.police","lat":52.37,"lng":4.9,"properties":{}}`, id)
	}
	return "[" + strings.Join(rows, ",") + "]"
}

// TestRelay runs the real program on a file, and checks that it answers as specified, and shows edits of the file (D8.7).
func TestRelay(t *testing.T) {
	t.Parallel()
	const secret = "swordfish"
	dir := t.TempDir()
	file := filepath.Join(dir, "rows.json")
	systemtest.WriteRows(t, file, police("one"))
	secretFile := filepath.Join(dir, "secret")
	if err := os.WriteFile(secretFile, []byte(secret+"\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := startRelay(t, []string{"WAYSIDE_RELAY_SECRET=another"}, "--secret-file", secretFile, file)
	if status, body := r.get("/relay/incidents", near, secret); status != http.StatusOK || !strings.Contains(body, `"one"`) {
		t.Errorf("%d %s", status, body)
	}
	if status, body := r.get("/relay/incidents-raw", near, secret); status != http.StatusOK || !strings.Contains(body, `"POLICE"`) {
		t.Errorf("%d %s", status, body)
	}
	if status, body := r.get("/relay/incidents", "lat=95", secret); status != http.StatusBadRequest || strings.Count(body, `"field"`) != 4 {
		t.Errorf("%d %s", status, body)
	}
	if status, _ := r.get("/relay/incidents", near, "another"); status != http.StatusUnauthorized {
		t.Errorf("with another secret: %d", status)
	}
	systemtest.WriteRows(t, file, police("two"))
	systemtest.Eventually(t, "an edited file shows", func() bool {
		_, body := r.get("/relay/incidents", near, secret)
		return strings.Contains(body, `"two"`) && !strings.Contains(body, `"one"`)
	})
	systemtest.WriteRows(t, file, `[{"external_id":`)
	systemtest.Eventually(t, "the broken file is logged", func() bool { return strings.Contains(r.log.String(), "cannot be read") })
	if status, body := r.get("/relay/incidents", near, secret); status != http.StatusOK || !strings.Contains(body, `"two"`) {
		t.Errorf("while the file is broken: %d %s", status, body)
	}
	try := "curl -H \"X-Service-Auth: $SECRET\" '" + r.base + "/relay/incidents?"
	if !strings.Contains(r.said, "/relay/incidents and /relay/incidents-raw") || !strings.Contains(r.said, try) {
		t.Errorf("the relay printed %s", r.said)
	}
	for _, private := range []string{secret, "another", "52.37", "tenant"} {
		if strings.Contains(r.log.String(), private) {
			t.Errorf("the log contains %q:\n%s", private, r.log)
		}
	}
}

// TestRelayWithoutSecret checks that the relay starts, logs a warning, and answers with 503.
func TestRelayWithoutSecret(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rows.json")
	systemtest.WriteRows(t, file, police("one"))
	r := startRelay(t, nil, file)
	if status, _ := r.get("/relay/incidents", near, "guess"); status != http.StatusServiceUnavailable {
		t.Errorf("status %d", status)
	}
	if !strings.Contains(r.log.String(), "no secret is set") {
		t.Errorf("the log: %s", r.log)
	}
}

// TestRelayBeforeFileExists checks that the file may be created later, and that the secret can come from the variable.
func TestRelayBeforeFileExists(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "rows.json")
	r := startRelay(t, []string{"WAYSIDE_RELAY_SECRET=swordfish"}, file)
	if status, _ := r.get("/relay/incidents", near, "swordfish"); status != http.StatusServiceUnavailable {
		t.Errorf("without a file: %d", status)
	}
	systemtest.WriteRows(t, file, police("one"))
	systemtest.Eventually(t, "the file shows", func() bool {
		status, _ := r.get("/relay/incidents", near, "swordfish")
		return status == http.StatusOK
	})
}

// TestRelayOfURL checks that a pull URL is fetched as by a poll, with the configured egress.
func TestRelayOfURL(t *testing.T) {
	t.Parallel()
	provider := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, police("one"))
	}))
	t.Cleanup(provider.Close)
	dir := t.TempDir()
	ca, config := filepath.Join(dir, "ca.pem"), filepath.Join(dir, "wayside.toml")
	text := fmt.Sprintf("[egress]\nca_file = %q\nhosts = { \"example.com\" = \"127.0.0.1\" }\n", ca)
	if err := errors.Join(
		os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: provider.Certificate().Raw}), 0o600),
		os.WriteFile(config, []byte(text), 0o600),
	); err != nil {
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(provider.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	r := startRelay(t, []string{"WAYSIDE_RELAY_SECRET=swordfish"}, "--config", config, "--every", "10s", "https://example.com:"+port+"/rows.json")
	if status, body := r.get("/relay/incidents", near, "swordfish"); status != http.StatusOK || !strings.Contains(body, `"one"`) {
		t.Errorf("%d %s\n%s", status, body, r.log)
	}
}

// TestRelayUsage checks that wrong arguments are rejected before anything is opened, without the secret in the message.
func TestRelayUsage(t *testing.T) {
	spaced := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(spaced, []byte("sword fish\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		args []string
		code int
		want string
	}{
		{[]string{"rows.json", "--every", "9s"}, exitUsage, "from 10s to 4m0s"},
		{[]string{"rows.json", "--every", "5m"}, exitUsage, "from 10s to 4m0s"},
		{[]string{"http://data.example.org/rows.json"}, exitUsage, "the URL"},
		{[]string{"rows.json", "--secret-file", spaced}, exitUsage, "visible ASCII"},
		{[]string{"rows.json", "--secret-file", spaced + ".gone"}, exitFailed, "--secret-file"},
		{[]string{"rows.json", "--listen", "nowhere"}, exitFailed, "--listen"},
	}
	for _, tt := range tests {
		t.Run(strings.Join(tt.args, " "), func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			p := &program{ctx: t.Context(), env: []string{"WAYSIDE_RELAY_SECRET=swordfish"}, stdout: &stdout, stderr: &stderr, now: time.Now}
			code := run(p, append([]string{"relay"}, tt.args...))
			if code != tt.code || !strings.Contains(stderr.String(), tt.want) || strings.Contains(stderr.String(), "fish") {
				t.Errorf("code %d, says %q; want %d and %q", code, &stderr, tt.code, tt.want)
			}
		})
	}
}

// watched is a rowWatcher with the clock of the test.
type watched struct {
	*rowWatcher
	t     *testing.T
	clock time.Time
	log   testenv.Output
}

func newWatched(t *testing.T) *watched {
	w := &watched{t: t, clock: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)}
	now := func() time.Time { return w.clock }
	log := slog.New(slog.NewTextHandler(&w.log, nil))
	w.rowWatcher = &rowWatcher{provider: refprovider.New(refprovider.Config{Secret: "s", Now: now, Log: log}), now: now, log: log}
	return w
}

// after advances the clock, reads the source, and returns status, external ids and time of an answer.
func (w *watched) after(d time.Duration) string {
	w.t.Helper()
	w.clock = w.clock.Add(d)
	w.look(w.t.Context())
	r := httptest.NewRequest(http.MethodGet, "/relay/incidents?"+near, nil)
	r.Header.Set("X-Service-Auth", "s")
	got := httptest.NewRecorder()
	w.provider.Handler().ServeHTTP(got, r)
	var answer struct {
		Entities []struct {
			ID string `json:"external_id"`
		}
		At time.Time `json:"fetched_at_utc"`
	}
	if err := json.Unmarshal(got.Body.Bytes(), &answer); err != nil {
		w.t.Fatal(err)
	}
	text := fmt.Sprint(got.Code)
	for _, e := range answer.Entities {
		text += " " + e.ID
	}
	if got.Code == http.StatusOK {
		text += answer.At.Format(" 15:04:05")
	}
	return text
}

func (w *watched) expect(what string, after time.Duration, want string) {
	w.t.Helper()
	if got := w.after(after); got != want {
		w.t.Errorf("%s: %s, want %s\n%s", what, got, want, &w.log)
	}
}

// TestBrokenSource checks that the last good rows of a broken source stay for 5 minutes with their own time, and that the
// problem is logged once.
func TestBrokenSource(t *testing.T) {
	w := newWatched(t)
	var (
		body string
		same bool
		err  error
	)
	w.read = func(context.Context) ([]byte, bool, error) { return []byte(body), same, err }
	err = fs.ErrNotExist
	w.expect("nothing yet", 0, "503")
	body, err = police("one"), nil
	w.expect("the first", 0, "200 one 12:00:00")
	same = true
	w.expect("looked at again", time.Minute, "200 one 12:01:00")
	body, same = `[{]`, false
	w.expect("broken text", time.Minute, "200 one 12:01:00")
	same = true
	w.expect("the same broken text", time.Minute, "200 one 12:01:00")
	same, err = false, fs.ErrPermission
	w.expect("out of reach", 3*time.Minute, "200 one 12:01:00")
	w.expect("too old", time.Second, "503")
	body, err = police("two"), nil
	w.expect("after the fix", time.Minute, "200 two 12:07:01")
	if told := strings.Count(w.log.String(), "cannot be read"); told != 3 {
		t.Errorf("logged %d times, want once for each of 3 faults:\n%s", told, &w.log)
	}
}

// TestWatchedFile checks that a file is read again if its inode, size or time differs, or after a minute, and that an unreadable
// file does not count as unchanged.
func TestWatchedFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "rows.json")
	clock := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	f := &watchedFile{name: name, now: func() time.Time { return clock }}
	expect := func(what, want string) {
		t.Helper()
		body, same, err := f.read(t.Context())
		got := string(body)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			got = "gone"
		case err != nil:
			got = err.Error()
		case same:
			got = "same"
		}
		if got != want {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
	}
	write := func(text string, at time.Time) {
		t.Helper()
		if err := errors.Join(os.WriteFile(name, []byte(text), 0o600), os.Chtimes(name, at, at)); err != nil {
			t.Fatal(err)
		}
	}
	expect("nothing there", "gone")
	write("one", clock)
	expect("the first", "one")
	expect("nothing new", "same")
	write("three", clock)
	expect("another size", "three")
	write("seven", clock.Add(time.Second))
	expect("another time", "seven")
	systemtest.WriteRows(t, name, "eight")
	if err := os.Chtimes(name, clock.Add(time.Second), clock.Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	expect("another file", "eight")
	write("nines", clock.Add(time.Second))
	expect("a change that does not show", "same")
	clock = clock.Add(time.Minute)
	expect("a minute later", "nines")
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	expect("removed", "gone")
	if err := os.Mkdir(name, 0o700); err != nil {
		t.Fatal(err)
	}
	expect("a folder", name+" is not a file")
}
