package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"wayside/internal/run/datadir"
	"wayside/internal/store/sqlite"
)

// TestCommandLineBesideTheService follows a new feed from registration to approval: an account that was created on the command line
// signs in, registers and pushes, and only the owner sees the feed until it is approved on the command line (D12.3, D5.4, D4.8).
func TestCommandLineBesideTheService(t *testing.T) {
	t.Parallel()
	s := startService(t, unlimited)
	owner := s.signIn("owner@example.org")
	resp, body := owner.do(http.MethodPost, "/v2/feeds", map[string]any{
		"name": "Cameras", "direction": "push", "visibility": "public", "licence": "ODbL-1.0",
	})
	var registered struct {
		Feed struct{ ID string }
		Push string `json:"push_ingest_token"`
	}
	if err := json.Unmarshal(body, &registered); err != nil || resp.StatusCode != http.StatusCreated {
		t.Fatalf("register: %d %s", resp.StatusCode, body)
	}
	resp, body = owner.do(http.MethodPost, "/v2/feeds/"+registered.Push+"/entities", rowsAt(10, 10, "a", 3))
	if resp.StatusCode != http.StatusOK || !strings.Contains(string(body), `"accepted":3`) {
		t.Fatalf("push: %d %s", resp.StatusCode, body)
	}
	guest := &client{s: s}
	seen := func(c *client, want int) func() bool {
		return func() bool {
			ids, err := c.near(10, 10)
			return err == nil && len(ids) == want
		}
	}
	eventually(t, "the owner reads a pending feed", seen(owner, 3))
	if !seen(guest, 0)() {
		t.Error("a guest reads a pending feed")
	}
	var list []feedJSON
	if err := json.Unmarshal([]byte(s.cli("feed", "list", "--json")), &list); err != nil {
		t.Fatal(err)
	}
	list = slices.DeleteFunc(list, func(f feedJSON) bool { return f.LayerSlug == "drivers" }) // every service has it
	if len(list) != 1 || list[0].ID != registered.Feed.ID || list[0].ReviewState != "pending" || list[0].EntityCount != 3 || list[0].OwnerEmail != "owner@example.org" ||
		list[0].Licence != "ODbL-1.0" {
		t.Errorf("feed list: %+v", list)
	}
	s.cli("feed", "approve", registered.Feed.ID)
	eventually(t, "everybody reads an approved feed", seen(guest, 3))
	var one feedJSON
	if err := json.Unmarshal([]byte(s.cli("feed", "reject", registered.Feed.ID, "--note", "Too few.", "--json")), &one); err != nil {
		t.Fatal(err)
	}
	if one.ReviewState != "rejected" || one.ReviewNote != "Too few." || one.IsApproved {
		t.Errorf("feed reject: %+v", one)
	}
	eventually(t, "guests do not see the rejected feed", seen(guest, 0))
	if text := s.cli("feed", "show", registered.Feed.ID); !strings.Contains(text, "Too few.") || !strings.Contains(text, "ODbL-1.0") || strings.Contains(text, registered.Push) {
		t.Errorf("feed show: %s", text)
	}
	eventually(t, "two decisions make two e-mails", func() bool {
		emails, err := filepath.Glob(filepath.Join(s.dir, datadir.OutboxFolder, "*.eml"))
		return err == nil && len(emails) == 2
	})
	if err := s.terminate(); err != nil {
		t.Errorf("exit: %v", err)
	}
	for _, secret := range []string{registered.Push, owner.cookie.Value, "owner@example.org"} {
		if strings.Contains(s.log.String(), secret) {
			t.Errorf("the log contains %q:\n%s", secret, s.log)
		}
	}
}

// TestSignInByEmail signs in with the code of the e-mail in the outbox folder (D11.1, D11.7).
func TestSignInByEmail(t *testing.T) {
	s := startService(t, "")
	c := &client{s: s}
	resp, body := c.do(http.MethodPost, "/v2/auth/email", map[string]string{"email": "new@example.org"})
	if resp.StatusCode != http.StatusAccepted || len(resp.Cookies()) != 1 {
		t.Fatalf("request an e-mail: %d %s", resp.StatusCode, body)
	}
	c.cookie = resp.Cookies()[0] // the code works only with this cookie
	var email []byte
	eventually(t, "the e-mail is written", func() bool {
		emails, err := filepath.Glob(filepath.Join(s.dir, datadir.OutboxFolder, "*.eml"))
		if err != nil || len(emails) != 1 {
			return false
		}
		email, err = os.ReadFile(emails[0])
		return err == nil
	})
	code := regexp.MustCompile(`\b\d{4} ?\d{4}\b`).Find(email)
	resp, body = c.do(http.MethodPost, "/v2/auth/verify", map[string]string{"email": "new@example.org", "code": string(code)})
	if resp.StatusCode != http.StatusOK || len(resp.Cookies()) != 1 {
		t.Fatalf("verify: %d %s", resp.StatusCode, body)
	}
	c.cookie = resp.Cookies()[0]
	if resp, body := c.do(http.MethodGet, "/v2/account", nil); resp.StatusCode != http.StatusOK || !strings.Contains(string(body), "new@example.org") {
		t.Errorf("account: %d %s", resp.StatusCode, body)
	}
}

// TestBackupAndRestore backs up a running service, restores it elsewhere, and reads the stored entities there.
func TestBackupAndRestore(t *testing.T) {
	s := startService(t, unlimited)
	c := s.signIn("owner@example.org")
	f := c.register("feed")
	push := func(prefix string, lat float64) {
		t.Helper()
		if resp, body := c.do(http.MethodPost, "/v2/feeds/"+f.token+"/entities", rowsAt(lat, 10, prefix, 5)); resp.StatusCode != http.StatusOK {
			t.Fatalf("push: %d %s", resp.StatusCode, body)
		}
	}
	push("before", 10)
	folder := t.TempDir()
	archive := strings.TrimSpace(s.cli("backup", folder, "--with-key"))
	if filepath.Dir(archive) != folder {
		t.Fatalf("backup went to %s", archive)
	}
	if files, err := os.ReadDir(folder); err != nil || len(files) != 1 {
		t.Errorf("%d files in the folder, %v", len(files), err)
	}
	if info, err := os.Stat(archive); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the backup's mode is %v, %v", info.Mode(), err)
	}
	push("after", 20)
	if _, err := s.tryCLI("backup", archive); err == nil || !strings.Contains(err.Error(), "there already") {
		t.Errorf("a backup over another: %v", err)
	}
	if _, err := s.tryCLI("restore", archive, "--force"); err == nil || !strings.Contains(err.Error(), "in use by another wayside serve") {
		t.Errorf("a restore under a running service: %v", err)
	}
	if err := s.terminate(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.tryCLI("restore", archive); err == nil || !strings.Contains(err.Error(), "is not empty") {
		t.Errorf("a restore over data: %v", err)
	}
	damage(t, archive)
	if _, err := s.tryCLI("restore", archive+".damaged", "--force"); err == nil {
		t.Error("a damaged backup was restored")
	}
	s.start(nil)
	checkNear(t, c, 20, 5) // the refused restores have changed nothing

	other := newService(t, unlimited)
	other.cli("restore", archive)
	other.start(nil)
	there := &client{s: other, cookie: c.cookie}
	checkNear(t, there, 10, 5)
	checkNear(t, there, 20, 0)
	if resp, body := there.do(http.MethodPost, "/v2/feeds/"+f.token+"/entities", rowsAt(30, 10, "x", 5)); resp.StatusCode != http.StatusOK {
		t.Errorf("the push token does not work after the restore: %d %s", resp.StatusCode, body)
	}
	if before, after := epoch(t, s), epoch(t, other); before == after {
		t.Error("the restored store has the same epoch")
	}

	if err := s.terminate(); err != nil {
		t.Fatal(err)
	}
	s.cli("restore", archive, "--force")
	s.start(nil)
	checkNear(t, c, 10, 5)
	checkNear(t, c, 20, 0)
}

func checkNear(t *testing.T, c *client, lat float64, want int) {
	t.Helper()
	ids, err := c.near(lat, 10)
	if err != nil || len(ids) != want {
		t.Errorf("at %v: %d entities, %v; want %d", lat, len(ids), err, want)
	}
}

// damage writes a copy of an archive with changed bytes. It changes several: a single bit may turn a repetition of zeros into the
// same repetition from another distance, which is no damage.
func damage(t *testing.T, archive string) {
	t.Helper()
	text, err := os.ReadFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	for i := range text[len(text)/2:][:32] {
		text[len(text)/2+i] ^= 0xff
	}
	if err := os.WriteFile(archive+".damaged", text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// epoch reads the epoch of a service's store.
func epoch(t *testing.T, s *serviceProcess) string {
	t.Helper()
	store, err := sqlite.Open(t.Context(), filepath.Join(s.dir, datadir.DatabaseFile), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	state, err := store.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return state.Epoch
}

// TestTwoServices checks that only one service uses a data directory.
func TestTwoServices(t *testing.T) {
	s := startService(t, "")
	out, err := exec.Command(s.bin, "serve", "--config", s.file).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "is in use by another wayside serve") {
		t.Errorf("a second service: %v\n%s", err, out)
	}
}

// TestOpsAddress checks that metrics and profiles are served only at the second address (D12.4), and that they name no feed.
func TestOpsAddress(t *testing.T) {
	address := freeAddress(t)
	s := startService(t, fmt.Sprintf("%s\n[ops]\nlisten = %q\n", unlimited, address))
	c := s.signIn("owner@example.org")
	f := c.register("feed")
	if resp, body := c.do(http.MethodPost, "/v2/feeds/"+f.token+"/entities", rowsAt(10, 10, "a", 3)); resp.StatusCode != http.StatusOK {
		t.Fatalf("push: %d %s", resp.StatusCode, body)
	}
	for path, want := range map[string]int{"/metrics": http.StatusNotFound, "/debug/pprof/": http.StatusNotFound, "/healthz": http.StatusOK, "/readyz": http.StatusOK} {
		if resp, _ := c.do(http.MethodGet, path, nil); resp.StatusCode != want {
			t.Errorf("%s at the public address: %d, want %d", path, resp.StatusCode, want)
		}
	}
	eventually(t, "metrics show what was pushed", func() bool {
		text := get(t, "http://"+address+"/metrics")
		if strings.Contains(text, f.id) || strings.Contains(text, f.token) {
			t.Fatal("metrics name a feed")
		}
		return strings.Contains(text, "wayside_index_entities 3\n") && strings.Contains(text, `wayside_push_rows_total{result="accepted"} 3`)
	})
	if text := get(t, "http://"+address+"/debug/pprof/goroutine?debug=1"); !strings.Contains(text, "goroutine profile") {
		t.Errorf("profile: %s", text)
	}
}

// freeAddress returns a loopback address that is not in use.
func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

func get(t *testing.T, url string) string {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func TestValidate(t *testing.T) {
	write := func(name, text string) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good := `{"external_id":"a","kind":"camera.speed","lat":1,"lng":2,"properties":{}}`
	bad := `{"external_id":"b","kind":"camera.sped","lat":1,"lng":2,"properties":{}}`
	odd := `{"external_id":"c","kind":"camera.speed","lat":1,"lng":2,"properties":{"maxspeed_kmh":"50 mph"}}`
	tests := []struct {
		name   string
		args   []string
		code   int
		stdout string
		stderr string
	}{
		{"good rows", []string{write("good.json", "["+good+"]")}, exitOK, "1 row accepted, 0 rejected", ""},
		{"by kind", []string{write("good.json", "["+good+"]")}, exitOK, "camera.speed", ""},
		{"a bad row", []string{write("bad.json", "["+good+","+bad+"]")}, exitFailed, "unknown_kind", ""},
		{"a warning", []string{write("odd.json", "["+odd+"]")}, exitOK, "properties.maxspeed_kmh must be a number from 5 to 200 km/h", ""},
		{"as JSON", []string{"--json", write("bad.json", "["+good+","+bad+"]")}, exitFailed, `"rejected": 1`, ""},
		{"no array", []string{write("object.json", "{}")}, exitFailed, "", "not a JSON array"},
		{"no such file", []string{"none.json"}, exitFailed, "", "no such file"},
		{"another format", []string{"--format", "wzdx", "--at", "2026-03-01T12:00:00Z", "../../feeds/format/wzdx/testdata/sample.json"}, exitOK, "no_kind      2      arrow-board 1, detour 1", ""},
		{"another format as JSON", []string{"--json", "--format", "wzdx", "--at", "2026-03-01T12:00:00Z", "../../feeds/format/wzdx/testdata/sample.json"}, exitOK, `"not_active": 2`, ""},
		{"not of that format", []string{"--format", "wzdx", write("object.json", "{}")}, exitFailed, "", "format: byte 2. The document is well-formed, but nothing that the format wzdx reads."},
		{"an unknown format", []string{"--format", "wzxd", write("good.json", "[]")}, exitUsage, "", `unknown format "wzxd": there are v1, wzdx,`},
		{"options of another format", []string{"--at", "2026-03-01T12:00:00Z", write("good.json", "[]")}, exitUsage, "", "--at is for documents of other formats"},
		{"a URL that no feed may have", []string{"http://example.org/a.json"}, exitFailed, "", "the URL must"},
		{"a URL of this machine", []string{"https://127.0.0.1/a.json"}, exitFailed, "", "the URL must"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			code, stdout, stderr := command(t, nil, append([]string{"validate"}, tt.args...)...)
			if code != tt.code || !strings.Contains(stdout, tt.stdout) || !strings.Contains(stderr, tt.stderr) {
				t.Errorf("code %d\nstdout: %s\nstderr: %s", code, stdout, stderr)
			}
		})
	}
}
