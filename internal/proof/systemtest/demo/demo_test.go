package demo

import (
	"html"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"wayside/internal/proof/systemtest"
	"wayside/internal/proof/testenv"
)

// demoProcess is a running wayside demo.
type demoProcess struct {
	t   *testing.T
	cmd *exec.Cmd
	dir string // its data and files
	out testenv.Output
	log testenv.Output
}

func newShowing(t *testing.T, listen string) *demoProcess {
	t.Helper()
	bin := testenv.Program(t)
	d := &demoProcess{t: t, cmd: exec.Command(bin, "demo", "--listen", listen), dir: t.TempDir()}
	d.cmd.Env = append(os.Environ(), "TMPDIR="+d.dir)
	d.cmd.Stdout, d.cmd.Stderr = &d.out, &d.log
	return d
}

// processes returns the processes whose command line contains the demo's folder: its relay. It works only on Linux.
func (d *demoProcess) processes() []string {
	d.t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		d.t.Fatal(err)
	}
	var named []string
	for _, file := range all {
		text, _ := os.ReadFile(file) // a process that has ended meanwhile has none
		if strings.Contains(string(text), d.dir) {
			named = append(named, strings.ReplaceAll(string(text), "\x00", " "))
		}
	}
	return named
}

// gone checks that the demo has left no files or processes.
func (d *demoProcess) gone() {
	d.t.Helper()
	if files, err := os.ReadDir(d.dir); err != nil || len(files) > 0 {
		d.t.Errorf("left behind: %v, %v", files, err)
	}
	if left := d.processes(); left != nil {
		d.t.Errorf("still there: %v", left)
	}
}

// look reads the demo's map as a guest, within the limits of guests.
func (d *demoProcess) look(base string) *systemtest.Seen {
	d.t.Helper()
	resp, err := http.Get(base + "/v2/entities/nearby?lat=52.0&lng=5.0&radius=3000")
	if err != nil {
		d.t.Fatalf("%v\n%s", err, &d.log)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		d.t.Fatal(err)
	}
	return systemtest.AsSeen(d.t, resp, body)
}

// TestDemo follows the instructions that the demo prints: it stops the relay and starts it again (D12.2).
func TestDemo(t *testing.T) {
	t.Parallel()
	d := newShowing(t, "127.0.0.1:0")
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.cmd.Process.Kill() })
	systemtest.WithinWindows(t, 20*time.Millisecond, "the welcome", func() bool { return strings.Contains(d.out.String(), "nothing is kept") })
	said := regexp.MustCompile(`(?s)the service at (http://\S+) .*the process (\d+)\..*start it again with\n\n  ([^\n]+)\n`).FindStringSubmatch(d.out.String())
	if said == nil {
		t.Fatalf("the welcome: %s", &d.out)
	}
	base, again := said[1], strings.Fields(said[3])
	d.licensed(base)
	pid, err := strconv.Atoi(said[2])
	if err != nil {
		t.Fatal(err)
	}
	d.signsIn(base)
	d.hasExamples(base)
	d.limitsEach(base)
	become := func(what, status string) {
		t.Helper()
		systemtest.WithinWindows(t, 400*time.Millisecond, what, func() bool {
			v := d.look(base)
			if !strings.Contains(v.Body, `"id":"incident:v1:`) {
				t.Fatalf("%s: no live incident", what)
			}
			return v.Status == status
		})
	}
	become("the town's relay works", "online")
	process, err := os.FindProcess(pid)
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Kill(); err != nil {
		t.Fatal(err)
	}
	become("the town's relay is killed", "offline")
	relay := exec.Command(again[0], again[1:]...)
	if err := relay.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = relay.Process.Kill() })
	become("it is started again", "online")
	if err := relay.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := relay.Wait(); err != nil {
		t.Errorf("the relay that was started again: %v", err)
	}
	d.end()
}

// limitsEach checks that guests behind a proxy on this machine have a limit each.
func (d *demoProcess) limitsEach(base string) {
	d.t.Helper()
	read := func(from string) int {
		req, err := http.NewRequestWithContext(d.t.Context(), http.MethodGet, base+"/v2/entities/nearby?lat=52.0&lng=5.0&radius=100", http.NoBody)
		if err != nil {
			d.t.Fatal(err)
		}
		req.Header.Set("X-Forwarded-For", from)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			d.t.Fatal(err)
		}
		_ = resp.Body.Close()
		return resp.StatusCode
	}
	for read("192.0.2.1") == http.StatusOK {
		if d.t.Context().Err() != nil {
			d.t.Fatal("a guest has no limit")
		}
	}
	if status := read("192.0.2.2"); status != http.StatusOK {
		d.t.Errorf("another guest behind the proxy: %d", status)
	}
}

// signsIn uses the sign-in links that the demo prints, one for each role, and the code that the demo prints when it is e-mailed.
func (d *demoProcess) signsIn(base string) {
	d.t.Helper()
	post := func(path, body string, cookies []*http.Cookie) *http.Response {
		d.t.Helper()
		req, err := http.NewRequest(http.MethodPost, base+path, strings.NewReader(body))
		if err != nil {
			d.t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		for _, cookie := range cookies {
			req.AddCookie(cookie)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			d.t.Fatal(err)
		}
		_ = resp.Body.Close()
		return resp
	}
	for _, role := range []string{"driver", "provider", "curator"} {
		link := regexp.MustCompile(role + `: +` + regexp.QuoteMeta(base) + `/auth/verify\?token=(\S+)`).FindStringSubmatch(d.out.String())
		if link == nil {
			d.t.Fatalf("no sign-in link of the %s: %s", role, &d.out)
		}
		if resp := post("/v2/auth/verify", `{"token":"`+link[1]+`"}`, nil); resp.StatusCode != http.StatusOK {
			d.t.Errorf("the link of the %s: %s", role, resp.Status)
		}
	}
	asked := post("/v2/auth/email", `{"email":"driver@example.org"}`, nil)
	code := regexp.MustCompile(`E-mail to driver@example.org: the sign-in code is (\d{8})\n`)
	systemtest.Eventually(d.t, "the code is printed", func() bool { return code.MatchString(d.out.String()) })
	body := `{"email":"driver@example.org","code":"` + code.FindStringSubmatch(d.out.String())[1] + `"}`
	if resp := post("/v2/auth/verify", body, asked.Cookies()); resp.StatusCode != http.StatusOK {
		d.t.Errorf("the printed code: %s", resp.Status)
	}
}

// hasExamples checks that the curl lines of the page about the service and of the API's page ask for places in the town.
func (d *demoProcess) hasExamples(base string) {
	d.t.Helper()
	read := func(target string) string { return html.UnescapeString(d.get(target)) }
	for _, page := range []string{"/about", "/docs"} {
		line := regexp.MustCompile(`curl "(http\S+/v2/entities/nearby[^"]*)"`).FindStringSubmatch(read(base + page))
		if line == nil {
			d.t.Errorf("%s has no curl line", page)
			continue
		}
		if answer := read(line[1]); !strings.Contains(answer, `"kind_id"`) {
			t := strings.TrimPrefix(line[1], base)
			d.t.Errorf("the line of %s, %s, returns nothing: %.200s", page, t, answer)
		}
	}
}

// licensed checks that each source of the demo states its licence.
func (d *demoProcess) licensed(base string) {
	d.t.Helper()
	resp, err := http.Get(base + "/sources")
	if err != nil {
		d.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		d.t.Fatal(err)
	}
	page := string(body)
	for _, licence := range []string{">CC-BY-4.0<", ">CC0-1.0<"} {
		if !strings.Contains(page, licence) || strings.Contains(page, "not stated") {
			d.t.Errorf("the catalogue lacks the licence %s at a source: %s", licence, page)
		}
	}
}

// end stops the demo, and checks that it leaves no files or processes.
func (d *demoProcess) end() {
	d.t.Helper()
	if err := d.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		d.t.Fatal(err)
	}
	if err := d.cmd.Wait(); err != nil {
		d.t.Errorf("exit: %v\n%s", err, &d.log)
	}
	d.gone()
}

// TestDemoStopsItsRelay checks that no process or file is left, however the demo ends.
func TestDemoStopsItsRelay(t *testing.T) {
	t.Parallel()
	d := newShowing(t, "127.0.0.1:0")
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.cmd.Process.Kill() })
	systemtest.Eventually(t, "the town is being built", func() bool { return strings.Contains(d.out.String(), "building the town") })
	if running := d.processes(); runtime.GOOS == "linux" && len(running) != 1 {
		t.Errorf("while it runs: %v", running)
	}
	d.end()

	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	refused := newShowing(t, taken.Addr().String())
	if err := refused.cmd.Run(); err == nil || !strings.Contains(refused.log.String(), "address already in use") {
		t.Errorf("with an address in use: %v\n%s", err, &refused.log)
	}
	refused.gone()
}
