package cli

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"wayside/internal/proof/systemtest"
	"wayside/internal/proof/testenv"
)

// setupIn runs wayside setup of the real program in a folder, with typed as standard input.
func setupIn(t *testing.T, dir, typed string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	cmd := exec.Command(testenv.Program(t), append([]string{"setup"}, args...)...)
	var out, errs bytes.Buffer
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Env = dir, strings.NewReader(typed), &out, &errs, []string{}
	_ = cmd.Run() // the caller checks the exit code
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

var verifyLink = regexp.MustCompile(`(http\S+)/auth/verify\?token=(\S+)`)

// TestSetupToFirstPin acts as a new operator: an empty folder, setup, serve with the file that it wrote, the printed link signs the
// curator in, a feed is registered and approved, and its pin is visible. It then checks that doctor finds no fault.
func TestSetupToFirstPin(t *testing.T) {
	t.Parallel()
	dir, address := t.TempDir(), systemtest.FreeAddress(t)
	code, stdout, stderr := setupIn(t, dir, "http://"+address+"\n\n\nme@example.org\n")
	link := verifyLink.FindStringSubmatch(stdout)
	if code != exitOK || link == nil || link[1] != "http://"+address {
		t.Fatalf("setup: %d\n%s%s", code, stdout, stderr)
	}
	if !strings.Contains(stdout, "wayside serve --config wayside.toml") {
		t.Errorf("what next is missing:\n%s", stdout)
	}
	s := &systemtest.Service{T: t, Bin: testenv.Program(t), Dir: filepath.Join(dir, "wayside-data"), File: filepath.Join(dir, "wayside.toml")}
	s.Start(nil)
	me := &systemtest.Client{Service: s}
	resp, body := me.Do(http.MethodPost, "/v2/auth/verify", map[string]string{"token": link[2]})
	if resp.StatusCode != http.StatusOK || len(resp.Cookies()) == 0 {
		t.Fatalf("the printed link: %d %s", resp.StatusCode, body)
	}
	me.Cookie = resp.Cookies()[0]
	if resp, body := me.Do(http.MethodGet, "/v2/account", nil); resp.StatusCode != http.StatusOK || !strings.Contains(string(body), `"curator"`) {
		t.Fatalf("the account: %d %s", resp.StatusCode, body)
	}
	feed := me.Register("Mine")
	if resp, body := me.Do(http.MethodPost, "/v2/feeds/"+feed.Token+"/entities", systemtest.RowsAt(10, 10, "a", 1)); resp.StatusCode != http.StatusOK {
		t.Fatalf("push: %d %s", resp.StatusCode, body)
	}
	guest := &systemtest.Client{Service: s}
	systemtest.Eventually(t, "the first pin is seen", func() bool { ids, err := guest.Near(10, 10); return err == nil && len(ids) == 1 })

	found := doctorFinds(t, s)
	for _, check := range []string{"data", "service", "base_url", "curators", "e-mail", "law"} {
		if found[check].State != stateOK {
			t.Errorf("doctor: %s: %+v", check, found[check])
		}
	}
	if found["map"].State != stateWarn || found["backup"].State != stateWarn {
		t.Errorf("doctor: %+v, %+v", found["map"], found["backup"])
	}
	s.CLI("backup", t.TempDir())
	if found := doctorFinds(t, s); found["backup"].State != stateOK {
		t.Errorf("doctor after a backup: %+v", found["backup"])
	}
}

func doctorFinds(t *testing.T, s *systemtest.Service, args ...string) map[string]finding {
	t.Helper()
	text, _ := s.TryCLI(append([]string{"doctor", "--json"}, args...)...) // it fails if a check does
	var all []finding
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		t.Fatalf("doctor: %v: %s", err, text)
	}
	found := make(map[string]finding)
	for _, f := range all {
		found[f.Check] = f
		if f.State != stateOK && f.Do == "" {
			t.Errorf("doctor does not say what to do about %s: %s", f.Check, f.Text)
		}
	}
	return found
}

// TestSetupTwice checks that a second run changes nothing unless a flag asks for it.
func TestSetupTwice(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "wayside.toml")
	read := func() string {
		t.Helper()
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if code, stdout, stderr := setupIn(t, dir, "", "--yes", "--base-url", "map.example.org", "--smtp-url", "smtps://u:p@mail.example.org", "--curator", "me@example.org"); code != exitOK {
		t.Fatalf("%s%s", stdout, stderr)
	}
	first := read()
	for _, want := range []string{
		`base_url = "https://map.example.org"`, `listen = "127.0.0.1:8080"`, `trusted_proxies = ["127.0.0.1/32", "::1/128"]`,
		`smtp_url = "smtps://u:p@mail.example.org"`, `from = "wayside@map.example.org"`, "# pmtiles = ",
	} {
		if !strings.Contains(first, want) {
			t.Errorf("the file lacks %s:\n%s", want, first)
		}
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file with a password: %v, %v", info.Mode(), err)
	}
	code, stdout, _ := setupIn(t, dir, "")
	if code != exitOK || read() != first || !strings.Contains(stdout, "exists and stays as it is") || strings.Contains(stdout, "token=") {
		t.Errorf("a second run: %d\n%s", code, stdout)
	}
	if code, _, stderr := setupIn(t, dir, "", "--yes", "--base-url", "http://localhost:8080"); code != exitUsage || read() != first || !strings.Contains(stderr, "--force") {
		t.Errorf("a second run with another address: %d %s", code, stderr)
	}
	if code, _, stderr := setupIn(t, dir, "", "--yes", "--force", "--base-url", "http://192.0.2.7:8080"); code != exitOK || !strings.Contains(read(), `listen = ":8080"`) {
		t.Errorf("with --force: %d %s\n%s", code, stderr, read())
	}
	if text, err := os.ReadFile(file + ".bak"); err != nil || string(text) != first {
		t.Errorf("the copy: %v", err)
	}
}

// TestSetupAnswers checks that wrong answers are asked again and wrong flags refused, and that an end of the answers leaves nothing.
func TestSetupAnswers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	empty := func(when string) {
		t.Helper()
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("%s: %v, %v", when, left, err)
		}
	}
	if code, _, stderr := setupIn(t, dir, "http://localhost:8080\n"); code != exitUsage || !strings.Contains(stderr, "--yes") {
		t.Errorf("without answers: %d %s", code, stderr)
	}
	empty("without answers")
	for flag, value := range map[string]string{"--base-url": "ftp://x", "--smtp-url": "mail.example.org", "--map": "/none.pmtiles", "--listen": "8080", "--curator": "me"} {
		if code, _, stderr := setupIn(t, dir, "", "--yes", flag, value); code == exitOK || stderr == "" {
			t.Errorf("%s %s: %d %s", flag, value, code, stderr)
		}
		empty(flag)
	}
	code, stdout, stderr := setupIn(t, dir, "ftp://x\n192.0.2.7\nmail\n\n/none\n\nme\nme@example.org\n")
	if code != exitOK || strings.Count(stdout, "must be a URL") != 2 || !strings.Contains(stdout, "no such file") || !strings.Contains(stdout, "http://192.0.2.7:8080/auth/verify") {
		t.Errorf("wrong answers: %d\n%s%s", code, stdout, stderr)
	}
}

// TestSetupInAnImage checks that the folder for data follows the variable that the image sets, and that serve accepts the file
// without changes.
func TestSetupInAnImage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmd := exec.Command(testenv.Program(t), "setup", "--yes", "--base-url", "http://192.0.2.7:8080", "--curator", "me@example.org")
	cmd.Dir, cmd.Env = dir, []string{"WAYSIDE_DATA_DIR=" + dir, "WAYSIDE_HTTP_LISTEN=0.0.0.0:8080"}
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "http://192.0.2.7:8080/auth/verify") {
		t.Fatalf("%v\n%s", err, out)
	}
	if text := readFile(t, filepath.Join(dir, "wayside.toml")); !strings.Contains(text, "data_dir = \""+dir+"\"") {
		t.Errorf("the file:\n%s", text)
	}
	if _, err := os.Stat(filepath.Join(dir, "wayside.db")); err != nil {
		t.Error(err)
	}
}

// TestDoctorFindsFaults checks the findings of doctor about a service with faults: each names what to do, and the exit code is 1.
func TestDoctorFindsFaults(t *testing.T) {
	t.Parallel()
	s := systemtest.NewService(t, `
base_url = "http://`+systemtest.FreeAddress(t)+`"
[mail]
smtp_url = "smtp://user:very-secret@`+systemtest.FreeAddress(t)+`"
[law]
file = "/none.geojson"
`)
	newData(t, s.Dir)
	found := doctorFinds(t, s, "--backups", filepath.Join(s.Dir, "none"))
	for check, state := range map[string]string{
		"data": stateOK, "service": stateWarn, "base_url": stateWarn, "curators": stateWarn, "e-mail": stateFail, "map": stateWarn,
		"law": stateFail, "disk": stateOK, "backup": stateFail,
	} {
		if found[check].State != state && check != "disk" {
			t.Errorf("%s: %+v, want %s", check, found[check], state)
		}
	}
	text, err := s.TryCLI("doctor")
	if err == nil || strings.Contains(text, "very-secret") || !strings.Contains(text, "fail  e-mail") {
		t.Errorf("doctor: %v\n%s", err, text)
	}
	if err := os.WriteFile(s.File, []byte(strings.Split(readFile(t, s.File), "[mail]")[0]+"[http]\nlisten = \"127.0.0.1:0\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.Start(nil)
	if found := doctorFinds(t, s); found["base_url"].State != stateFail || found["service"].State != stateOK {
		t.Errorf("with a base_url that leads nowhere: %+v", found["base_url"])
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
