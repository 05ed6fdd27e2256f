package cli

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"wayside/internal/proof/systemtest"
	"wayside/internal/run/datadir"
)

// TestCommandLineBesideTheService follows a new feed from registration to approval: an account that was created on the command line
// signs in, registers and pushes, and only the owner sees the feed until it is approved on the command line (D12.3, D5.4, D4.8).
func TestCommandLineBesideTheService(t *testing.T) {
	t.Parallel()
	s := systemtest.StartService(t, systemtest.Unlimited)
	owner := s.SignIn("owner@example.org")
	resp, body := owner.Do(http.MethodPost, "/v2/feeds", map[string]any{
		"name": "Cameras", "direction": "push", "visibility": "public", "licence": "ODbL-1.0",
	})
	var registered struct {
		Feed struct{ ID string }
		Push string `json:"push_ingest_token"`
	}
	if err := json.Unmarshal(body, &registered); err != nil || resp.StatusCode != http.StatusCreated {
		t.Fatalf("register: %d %s", resp.StatusCode, body)
	}
	resp, body = owner.Do(http.MethodPost, "/v2/feeds/"+registered.Push+"/entities", systemtest.RowsAt(10, 10, "a", 3))
	if resp.StatusCode != http.StatusOK || !strings.Contains(string(body), `"accepted":3`) {
		t.Fatalf("push: %d %s", resp.StatusCode, body)
	}
	guest := &systemtest.Client{Service: s}
	seen := func(c *systemtest.Client, want int) func() bool {
		return func() bool {
			ids, err := c.Near(10, 10)
			return err == nil && len(ids) == want
		}
	}
	systemtest.Eventually(t, "the owner reads a pending feed", seen(owner, 3))
	if !seen(guest, 0)() {
		t.Error("a guest reads a pending feed")
	}
	var list []feedJSON
	if err := json.Unmarshal([]byte(s.CLI("feed", "list", "--json")), &list); err != nil {
		t.Fatal(err)
	}
	list = slices.DeleteFunc(list, func(f feedJSON) bool { return f.LayerSlug == "drivers" }) // every service has it
	if len(list) != 1 || list[0].ID != registered.Feed.ID || list[0].ReviewState != "pending" || list[0].EntityCount != 3 || list[0].OwnerEmail != "owner@example.org" ||
		list[0].Licence != "ODbL-1.0" {
		t.Errorf("feed list: %+v", list)
	}
	s.CLI("feed", "approve", registered.Feed.ID)
	systemtest.Eventually(t, "everybody reads an approved feed", seen(guest, 3))
	var one feedJSON
	if err := json.Unmarshal([]byte(s.CLI("feed", "reject", registered.Feed.ID, "--note", "Too few.", "--json")), &one); err != nil {
		t.Fatal(err)
	}
	if one.ReviewState != "rejected" || one.ReviewNote != "Too few." || one.IsApproved {
		t.Errorf("feed reject: %+v", one)
	}
	systemtest.Eventually(t, "guests do not see the rejected feed", seen(guest, 0))
	if text := s.CLI("feed", "show", registered.Feed.ID); !strings.Contains(text, "Too few.") || !strings.Contains(text, "ODbL-1.0") || strings.Contains(text, registered.Push) {
		t.Errorf("feed show: %s", text)
	}
	systemtest.Eventually(t, "two decisions make two e-mails", func() bool {
		emails, err := filepath.Glob(filepath.Join(s.Dir, datadir.OutboxFolder, "*.eml"))
		return err == nil && len(emails) == 2
	})
	if err := s.Terminate(); err != nil {
		t.Errorf("exit: %v", err)
	}
	for _, secret := range []string{registered.Push, owner.Cookie.Value, "owner@example.org"} {
		if strings.Contains(s.Log.String(), secret) {
			t.Errorf("the log contains %q:\n%s", secret, s.Log)
		}
	}
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
