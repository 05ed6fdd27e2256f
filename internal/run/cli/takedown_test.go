package cli

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// takedownDelay bounds how long a node takes to follow a takedown. The promise is one second; the rest is for a machine that runs
// other tests.
const takedownDelay = 3 * time.Second

// shows waits until the client sees exactly the external ids around 52, 4, and fails if that takes too long.
func (c *client) shows(what, want string) {
	c.s.t.Helper()
	watch := c.s.watch()
	eventually(c.s.t, what, func() bool {
		ids, err := c.near(52, 4)
		return err == nil && strings.Join(ids, " ") == want
	})
	if took := watch.Took(); took > takedownDelay {
		c.s.t.Errorf("%s took %v", what, took)
	}
}

// must sends a request, checks the status of the answer, and returns its body.
func (c *client) must(status int, method, path string, in any) string {
	c.s.t.Helper()
	resp, body := c.do(method, path, in)
	if resp.StatusCode != status {
		c.s.t.Fatalf("%s %s: %d %s, want %d", method, path, resp.StatusCode, body, status)
	}
	return string(body)
}

func (f pushFeed) entity(externalID string) string {
	return "feed:" + f.id + ":v1:" + base64.RawURLEncoding.EncodeToString([]byte(externalID))
}

// pushTwo pushes a camera that stays and a report.
func pushTwo(c *client, f pushFeed, status int) {
	c.s.t.Helper()
	c.must(status, http.MethodPost, "/v2/feeds/"+f.token+"/entities", []row{
		{"a", "camera.speed", 52, 4, map[string]any{}}, {"b", "alert.police", 52.0001, 4, map[string]any{}},
	})
}

// TestTakedown hides a pin, pauses and removes a feed, and suspends an account with the real binary, and checks the audit log and
// the e-mails.
func TestTakedown(t *testing.T) {
	t.Parallel()
	s := startService(t, unlimited)
	guest := &client{s: s, http: http.Client{Timeout: time.Minute}}
	owner, curator, admin, driver := s.signIn("owner@example.org"), s.signIn("curator@example.org"), s.signIn("admin@example.org"), s.signIn("driver@example.org")
	s.cli("account", "role", "--email", "curator@example.org", "curator")
	s.cli("account", "role", "--email", "admin@example.org", "admin")
	f := owner.register("Police")
	pushTwo(owner, f, http.StatusOK)
	guest.shows("both pins", "a b")
	reason := map[string]any{"reason": "It is «not» there."}

	pin := f.entity("a")
	driver.must(http.StatusForbidden, http.MethodPost, "/v2/entities/"+pin+"/hide", reason)
	curator.must(http.StatusOK, http.MethodPost, "/v2/entities/"+pin+"/hide", reason)
	guest.shows("without the hidden pin", "b")
	guest.must(http.StatusNotFound, http.MethodGet, "/v2/entities/"+pin, nil)
	driver.must(http.StatusNotFound, http.MethodPost, "/v2/entities/"+pin+"/confirm", nil)
	driver.must(http.StatusNotFound, http.MethodPost, "/v2/entities/"+pin+"/complaint", map[string]any{})
	if body := guest.must(http.StatusOK, http.MethodGet, "/v2/sources/feed:"+f.id+"/entities", nil); strings.Contains(body, pin) {
		t.Errorf("the source's entities have the hidden pin: %s", body)
	}
	for name, c := range map[string]*client{"owner": owner, "curator": curator} {
		c.shows(name+" sees it", "a b")
		if body := c.must(http.StatusOK, http.MethodGet, "/v2/entities/"+pin, nil); !strings.Contains(body, `"wayside_hidden":{"until":null,"reason":"It is «not» there."}`) {
			t.Errorf("%s does not see why: %s", name, body)
		}
	}
	pushTwo(owner, f, http.StatusOK)
	s.kill()
	s.start(nil)
	guest.shows("hidden after another push and a power cut", "b")
	s.cli("pin", "show", pin)
	guest.shows("shown again", "a b")
	s.cli("pin", "hide", "--reason", "Again.", "--for", "3s", pin)
	guest.shows("hidden for a time", "b")
	eventually(t, "the end of that time", func() bool { ids, err := guest.near(52, 4); return err == nil && len(ids) == 2 })

	driver.must(http.StatusNoContent, http.MethodPost, "/v2/entities/"+pin+"/complaint", map[string]any{"text": "Wrong."})
	if body := curator.must(http.StatusOK, http.MethodGet, "/v2/review/complaints", nil); !strings.Contains(body, `"source_name":"Police"`) {
		t.Errorf("complaints: %s", body)
	}

	curator.must(http.StatusOK, http.MethodPost, "/v2/feeds/"+f.id+"/pause", reason)
	guest.shows("a paused feed is hidden", "")
	pushTwo(owner, f, http.StatusUnauthorized)
	owner.must(http.StatusOK, http.MethodPatch, "/v2/feeds/"+f.id, map[string]any{"active": true})
	guest.shows("its owner cannot end that", "")
	s.cli("feed", "resume", f.id)
	guest.shows("it comes back", "a b")

	admin.must(http.StatusOK, http.MethodPost, "/v2/accounts/owner@example.org/suspend", reason)
	owner.must(http.StatusUnauthorized, http.MethodGet, "/v2/account", nil)
	guest.shows("the feeds of a suspended account are hidden", "")
	pushTwo(guest, f, http.StatusUnauthorized)
	for _, command := range [][]string{{"account", "list"}, {"account", "show", "--email", "owner@example.org"}} {
		if text := s.cli(command...); !strings.Contains(text, "suspended") {
			t.Errorf("%v does not tell that the account is suspended: %s", command, text)
		}
	}
	s.cli("account", "resume", "--email", "owner@example.org")
	guest.shows("they come back", "a b")
	s.cli("feed", "remove", "--reason", "Gone.", f.id)
	guest.shows("the feed is removed", "")
	checkTakedownTraces(t, s, admin)
}

// checkTakedownTraces checks the entries of the audit log and the e-mails about the takedowns.
func checkTakedownTraces(t *testing.T, s *serviceProcess, admin *client) {
	t.Helper()
	var entries []struct{ Action, Via, Note string }
	mustBe(t, json.Unmarshal([]byte(s.cli("audit", "--json", "--limit", "9")), &entries))
	got := ""
	for _, e := range entries {
		got += fmt.Sprintf("%s by %s; ", e.Action, e.Via)
	}
	want := "feed.curator_remove by command_line; account.resume by command_line; account.suspend by api; feed.curator_resume by command_line; " +
		"feed.curator_pause by api; pin.hide by command_line; pin.show by command_line; pin.hide by api; feed.approve by command_line; "
	if got != want {
		t.Errorf("audit log: %s\nwant %s", got, want)
	}
	var page struct {
		Entries []struct{ Note string }
		Next    *int64
	}
	mustBe(t, json.Unmarshal([]byte(admin.must(http.StatusOK, http.MethodGet, "/v2/audit?action=pin.hide", nil)), &page))
	if len(page.Entries) != 2 || page.Entries[0].Note != "Again." || page.Next != nil {
		t.Errorf("audit log by the API: %+v", page)
	}
	for _, kind := range []string{"pin_hidden", "pin_shown", "feed_paused", "feed_resumed", "account_suspended", "account_resumed", "feed_removed"} {
		eventually(t, "an e-mail "+kind, func() bool {
			files, err := filepath.Glob(filepath.Join(s.dir, "outbox", "*"+kind+"*"))
			return err == nil && len(files) > 0 && mentions(t, files[0], "owner@example.org")
		})
	}
}

func mentions(t *testing.T, file, text string) bool {
	t.Helper()
	body, err := os.ReadFile(file)
	mustBe(t, err)
	return strings.Contains(string(body), text)
}

// TestTakedownReachesOtherNodes hides a pin of a feed and a live incident on one node, and checks that a second later another node
// shows neither, in reads and on streams, and has ended the sessions of a suspended account.
func TestTakedownReachesOtherNodes(t *testing.T) {
	t.Parallel()
	one := startProvider(t, "one", `{"external_id":"live","kind":"alert.accident","lat":52,"lng":5,"properties":{}}`)
	nodes, _ := startNodes(t, 2, unlimited+one.asUpstream("incidents"), servers.Postgres(t).Database(t))
	owner, curator := nodes[0].signIn("owner@example.org"), nodes[0].signIn("curator@example.org")
	nodes[0].cli("account", "role", "--email", "curator@example.org", "curator")
	f := owner.register("Police")
	pushTwo(owner, f, http.StatusOK)
	far := &client{s: nodes[1], http: http.Client{Timeout: time.Minute}}
	far.shows("both pins on the other node", "a b")
	reason := map[string]any{"reason": "Wrong."}
	curator.must(http.StatusOK, http.MethodPost, "/v2/entities/"+f.entity("a")+"/hide", reason)
	far.shows("hidden on the other node", "b")

	events, _ := nodes[1].listenTo()
	wait(t, events, "snapshot", `"live"`)
	live := "incident:v1:" + base64.RawURLEncoding.EncodeToString([]byte("live"))
	curator.must(http.StatusUnprocessableEntity, http.MethodPost, "/v2/entities/"+live+"/hide", reason) // it needs an end
	reason["until"] = time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	curator.must(http.StatusOK, http.MethodPost, "/v2/entities/"+live+"/hide", reason)
	wait(t, events, "gone", live)
	far.must(http.StatusNotFound, http.MethodGet, "/v2/entities/"+live, nil)

	there := *owner
	there.s = nodes[1]
	there.must(http.StatusOK, http.MethodGet, "/v2/account", nil)
	nodes[0].cli("account", "suspend", "--email", "owner@example.org", "--reason", "Abuse.")
	far.shows("the feeds of a suspended account, on the other node", "")
	eventually(t, "the session ends on the other node", func() bool {
		resp, _ := there.do(http.MethodGet, "/v2/account", nil)
		return resp.StatusCode == http.StatusUnauthorized
	})
}
