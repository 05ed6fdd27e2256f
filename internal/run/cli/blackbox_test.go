package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"wayside/internal/proof/testenv"
)

// unlimited raises the limits that tests would exceed.
const unlimited = `
[limits]
guest_reads_per_minute = 1000000
account_reads_per_minute = 1000000
guest_routes_per_minute = 1000000
account_routes_per_minute = 1000000
pushes_per_minute = 1000000
push_entities_per_minute = 0
manage_per_minute = 1000000
feeds_per_account = 1000
entities_per_feed = 0
bytes_per_feed = "0"
bytes_per_account = "0"
unreviewed_entities_per_feed = 0
unreviewed_bytes_per_feed = "0"
`

// serviceProcess is a running wayside serve.
type serviceProcess struct {
	t     *testing.T
	bin   string
	file  string // its configuration
	dir   string // its data
	base  string
	cmd   *exec.Cmd
	log   *testenv.Output
	ended chan error
}

// newService prepares a service on a fresh data directory.
func newService(t *testing.T, config string) *serviceProcess {
	t.Helper()
	bin, dir := testenv.Program(t), t.TempDir()
	s := &serviceProcess{t: t, bin: bin, dir: filepath.Join(dir, "data"), file: filepath.Join(dir, "wayside.toml")}
	text := fmt.Sprintf("data_dir = %q\n%s\n[http]\nlisten = \"127.0.0.1:0\"\n", s.dir, config)
	if err := os.WriteFile(s.file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return s
}

// startService starts a service and waits until it is ready.
func startService(t *testing.T, config string) *serviceProcess {
	t.Helper()
	s := newService(t, config)
	s.start(nil)
	return s
}

// start starts wayside serve, with the wrapper if there is one, and waits until it is ready. It keeps its port over restarts.
func (s *serviceProcess) start(wrapper []string) {
	s.t.Helper()
	args := append(append([]string{}, wrapper...), s.bin, "serve", "--config", s.file)
	if s.base != "" {
		args = append(args, "--listen", strings.TrimPrefix(s.base, "http://"))
	}
	s.cmd = exec.Command(args[0], args[1:]...)
	stderr, err := s.cmd.StderrPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.log, s.ended = new(testenv.Output), make(chan error, 1)
	ready := make(chan string, 1)
	go func(cmd *exec.Cmd, log *testenv.Output, ended chan<- error) {
		lines := bufio.NewScanner(stderr)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			_, _ = log.Write(append(lines.Bytes(), '\n'))
			var line struct{ Msg, URL string }
			if json.Unmarshal(lines.Bytes(), &line) == nil && line.Msg == "ready" {
				ready <- line.URL
			}
		}
		ended <- cmd.Wait()
	}(s.cmd, s.log, s.ended)
	s.t.Cleanup(func() { _ = s.cmd.Process.Kill() })
	select {
	case url := <-ready:
		if s.base == "" { // later it is the same, and others may be reading it
			s.base = url
		}
	case err := <-s.ended:
		s.t.Fatalf("the service ended: %v\n%s", err, s.log)
	case <-time.After(time.Minute):
		s.t.Fatalf("the service is not ready\n%s", s.log)
	}
}

// kill ends the service as a power cut would.
func (s *serviceProcess) kill() {
	s.t.Helper()
	if err := s.cmd.Process.Kill(); err != nil {
		s.t.Fatal(err)
	}
	if err := <-s.ended; err == nil {
		s.t.Error("the service ended well before it could be killed")
	}
}

// terminate asks the service to end, and waits until it has ended.
func (s *serviceProcess) terminate() error {
	s.t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		s.t.Fatal(err)
	}
	select {
	case err := <-s.ended:
		return err
	case <-time.After(time.Minute):
		s.t.Fatalf("the service does not end\n%s", s.log)
		return nil
	}
}

// cli runs a command beside the service and returns its standard output.
func (s *serviceProcess) cli(args ...string) string {
	s.t.Helper()
	out, err := s.tryCLI(args...)
	if err != nil {
		s.t.Fatalf("wayside %s: %v", strings.Join(args, " "), err)
	}
	return out
}

func (s *serviceProcess) tryCLI(args ...string) (string, error) {
	cmd := exec.Command(s.bin, append(args, "--config", s.file)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, stderr.String())
	}
	return stdout.String(), err
}

// client is an API client of the service.
type client struct {
	s      *serviceProcess
	http   http.Client
	cookie *http.Cookie
}

// signIn makes an account at the command line and signs in with its link (D12.3).
func (s *serviceProcess) signIn(email string) *client {
	s.t.Helper()
	s.cli("account", "create", "--email", email)
	link, err := url.Parse(strings.TrimSpace(s.cli("account", "login-link", "--email", email)))
	if err != nil {
		s.t.Fatal(err)
	}
	c := &client{s: s, http: http.Client{Timeout: time.Minute}}
	resp, body := c.do(http.MethodPost, "/v2/auth/verify", map[string]string{"token": link.Query().Get("token")})
	if resp.StatusCode != http.StatusOK || len(resp.Cookies()) == 0 {
		s.t.Fatalf("sign in: %d %s", resp.StatusCode, body)
	}
	c.cookie = resp.Cookies()[0]
	return c
}

// do sends a request and reads the answer. It fails the test if there is none.
func (c *client) do(method, path string, in any) (*http.Response, []byte) {
	c.s.t.Helper()
	resp, body, err := c.try(method, path, in)
	if err != nil {
		c.s.t.Fatalf("%s %s: %v\n%s", method, path, err, c.s.log)
	}
	return resp, body
}

func (c *client) try(method, path string, in any) (*http.Response, []byte, error) {
	var body io.Reader = http.NoBody
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return nil, nil, err
		}
		body = bytes.NewReader(text)
	}
	req, err := http.NewRequest(method, c.s.base+path, body)
	if err != nil {
		return nil, nil, err
	}
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.cookie != nil {
		req.AddCookie(c.cookie)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return resp, text, err
}

// pushFeed is a registered push feed.
type pushFeed struct{ id, token string }

// register registers a public push feed and approves it at the command line.
func (c *client) register(name string) pushFeed {
	c.s.t.Helper()
	resp, body := c.do(http.MethodPost, "/v2/feeds", map[string]any{"name": name, "direction": "push", "visibility": "public"})
	var got struct {
		Feed struct{ ID string }
		Push string `json:"push_ingest_token"`
	}
	if err := json.Unmarshal(body, &got); err != nil || resp.StatusCode != http.StatusCreated || got.Push == "" {
		c.s.t.Fatalf("register: %d %s", resp.StatusCode, body)
	}
	c.s.cli("feed", "approve", got.Feed.ID)
	return pushFeed{got.Feed.ID, got.Push}
}

// row is a v1 row.
type row struct {
	ExternalID string         `json:"external_id"`
	Kind       string         `json:"kind"`
	Lat        float64        `json:"lat"`
	Lng        float64        `json:"lng"`
	Properties map[string]any `json:"properties"`
}

// rowsAt makes n rows within some metres of a point.
func rowsAt(lat, lng float64, prefix string, n int) []row {
	rows := make([]row, n)
	for i := range rows {
		rows[i] = row{fmt.Sprintf("%s-%d", prefix, i), "camera.speed", lat + float64(i)*1e-6, lng, map[string]any{"prefix": prefix}}
	}
	return rows
}

// near returns the external ids within a kilometre of a point.
func (c *client) near(lat, lng float64) ([]string, error) {
	resp, body, err := c.try(http.MethodGet, fmt.Sprintf("/v2/entities/nearby?lat=%f&lng=%f&radius=1000&limit=1000", lat, lng), nil)
	if err != nil {
		return nil, err
	}
	var got struct {
		Entities []struct {
			ExternalID string `json:"external_id"`
		}
	}
	if err := json.Unmarshal(body, &got); err != nil || resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("read: %d %s", resp.StatusCode, body)
	}
	ids := make([]string, len(got.Entities))
	for i := range got.Entities {
		ids[i] = got.Entities[i].ExternalID
	}
	return ids, nil
}

// eventually polls until ok returns true: a change becomes readable shortly after its answer.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
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

// stopwatch starts a stopwatch for the processes of services, and others.
func stopwatch(services []*serviceProcess, others ...int) *testenv.Stopwatch {
	for _, s := range services {
		others = append(others, s.cmd.Process.Pid)
	}
	return testenv.StartStopwatch(others...)
}

// watch starts a stopwatch for the service's process.
func (s *serviceProcess) watch() *testenv.Stopwatch { return stopwatch([]*serviceProcess{s}) }

// refused reports whether the connection was refused: the service has stopped listening.
func refused(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }
