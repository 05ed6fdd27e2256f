package people

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

	"wayside/internal/proof/systemtest"
)

// takedownDelay bounds how long a node takes to follow a takedown. The promise is one second; the rest is for a machine that runs
// other tests.
const takedownDelay = 3 * time.Second

// shows waits until the client sees exactly the external ids around 52, 4, and fails if that takes too long.
func shows(c *systemtest.Client, what, want string) {
	c.Service.T.Helper()
	watch := c.Service.Watch()
	systemtest.Eventually(c.Service.T, what, func() bool {
		ids, err := c.Near(52, 4)
		return err == nil && strings.Join(ids, " ") == want
	})
	if took := watch.Took(); took > takedownDelay {
		c.Service.T.Errorf("%s took %v", what, took)
	}
}

// must sends a request, checks the status of the answer, and returns its body.
func must(c *systemtest.Client, status int, method, path string, in any) string {
	c.Service.T.Helper()
	resp, body := c.Do(method, path, in)
	if resp.StatusCode != status {
		c.Service.T.Fatalf("%s %s: %d %s, want %d", method, path, resp.StatusCode, body, status)
	}
	return string(body)
}

func entity(f systemtest.PushFeed, externalID string) string {
	return "feed:" + f.ID + ":v1:" + base64.RawURLEncoding.EncodeToString([]byte(externalID))
}

// pushTwo pushes a camera that stays and a report.
func pushTwo(c *systemtest.Client, f systemtest.PushFeed, status int) {
	c.Service.T.Helper()
	must(c, status, http.MethodPost, "/v2/feeds/"+f.Token+"/entities", []systemtest.Row{
		{ExternalID: "a", Kind: "camera.speed", Lat: 52, Lng: 4, Properties: map[string]any{}},
		{ExternalID: "b", Kind: "alert.police", Lat: 52.0001, Lng: 4, Properties: map[string]any{}},
	})
}

// TestTakedown hides a pin, pauses and removes a feed, and suspends an account with the real binary, and checks the audit log and
// the e-mails.
func TestTakedown(t *testing.T) {
	t.Parallel()
	s := systemtest.StartService(t, systemtest.Unlimited)
	guest := &systemtest.Client{Service: s, HTTP: http.Client{Timeout: time.Minute}}
	owner, curator, admin, driver := s.SignIn("owner@example.org"), s.SignIn("curator@example.org"), s.SignIn("admin@example.org"), s.SignIn("driver@example.org")
	s.CLI("account", "role", "--email", "curator@example.org", "curator")
	s.CLI("account", "role", "--email", "admin@example.org", "admin")
	f := owner.Register("Police")
	pushTwo(owner, f, http.StatusOK)
	shows(guest, "both pins", "a b")
	reason := map[string]any{"reason": "It is «not» there."}

	pin := entity(f, "a")
	must(driver, http.StatusForbidden, http.MethodPost, "/v2/entities/"+pin+"/hide", reason)
	must(curator, http.StatusOK, http.MethodPost, "/v2/entities/"+pin+"/hide", reason)
	shows(guest, "without the hidden pin", "b")
	must(guest, http.StatusNotFound, http.MethodGet, "/v2/entities/"+pin, nil)
	must(driver, http.StatusNotFound, http.MethodPost, "/v2/entities/"+pin+"/confirm", nil)
	must(driver, http.StatusNotFound, http.MethodPost, "/v2/entities/"+pin+"/complaint", map[string]any{})
	if body := must(guest, http.StatusOK, http.MethodGet, "/v2/sources/feed:"+f.ID+"/entities", nil); strings.Contains(body, pin) {
		t.Errorf("the source's entities have the hidden pin: %s", body)
	}
	for name, c := range map[string]*systemtest.Client{"owner": owner, "curator": curator} {
		shows(c, name+" sees it", "a b")
		if body := must(c, http.StatusOK, http.MethodGet, "/v2/entities/"+pin, nil); !strings.Contains(body, `"wayside_hidden":{"until":null,"reason":"It is «not» there."}`) {
			t.Errorf("%s does not see why: %s", name, body)
		}
	}
	pushTwo(owner, f, http.StatusOK)
	s.Kill()
	s.Start(nil)
	shows(guest, "hidden after another push and a power cut", "b")
	s.CLI("pin", "show", pin)
	shows(guest, "shown again", "a b")
	s.CLI("pin", "hide", "--reason", "Again.", "--for", "3s", pin)
	shows(guest, "hidden for a time", "b")
	systemtest.Eventually(t, "the end of that time", func() bool { ids, err := guest.Near(52, 4); return err == nil && len(ids) == 2 })

	must(driver, http.StatusNoContent, http.MethodPost, "/v2/entities/"+pin+"/complaint", map[string]any{"text": "Wrong."})
	if body := must(curator, http.StatusOK, http.MethodGet, "/v2/review/complaints", nil); !strings.Contains(body, `"source_name":"Police"`) {
		t.Errorf("complaints: %s", body)
	}

	must(curator, http.StatusOK, http.MethodPost, "/v2/feeds/"+f.ID+"/pause", reason)
	shows(guest, "a paused feed is hidden", "")
	pushTwo(owner, f, http.StatusUnauthorized)
	must(owner, http.StatusOK, http.MethodPatch, "/v2/feeds/"+f.ID, map[string]any{"active": true})
	shows(guest, "its owner cannot end that", "")
	s.CLI("feed", "resume", f.ID)
	shows(guest, "it comes back", "a b")

	must(admin, http.StatusOK, http.MethodPost, "/v2/accounts/owner@example.org/suspend", reason)
	must(owner, http.StatusUnauthorized, http.MethodGet, "/v2/account", nil)
	shows(guest, "the feeds of a suspended account are hidden", "")
	pushTwo(guest, f, http.StatusUnauthorized)
	for _, command := range [][]string{{"account", "list"}, {"account", "show", "--email", "owner@example.org"}} {
		if text := s.CLI(command...); !strings.Contains(text, "suspended") {
			t.Errorf("%v does not tell that the account is suspended: %s", command, text)
		}
	}
	s.CLI("account", "resume", "--email", "owner@example.org")
	shows(guest, "they come back", "a b")
	s.CLI("feed", "remove", "--reason", "Gone.", f.ID)
	shows(guest, "the feed is removed", "")
	checkTakedownTraces(t, s, admin)
}

// checkTakedownTraces checks the entries of the audit log and the e-mails about the takedowns.
func checkTakedownTraces(t *testing.T, s *systemtest.Service, admin *systemtest.Client) {
	t.Helper()
	var entries []struct{ Action, Via, Note string }
	systemtest.Must(t, json.Unmarshal([]byte(s.CLI("audit", "--json", "--limit", "9")), &entries))
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
	systemtest.Must(t, json.Unmarshal([]byte(must(admin, http.StatusOK, http.MethodGet, "/v2/audit?action=pin.hide", nil)), &page))
	if len(page.Entries) != 2 || page.Entries[0].Note != "Again." || page.Next != nil {
		t.Errorf("audit log by the API: %+v", page)
	}
	for _, kind := range []string{"pin_hidden", "pin_shown", "feed_paused", "feed_resumed", "account_suspended", "account_resumed", "feed_removed"} {
		systemtest.Eventually(t, "an e-mail "+kind, func() bool {
			files, err := filepath.Glob(filepath.Join(s.Dir, "outbox", "*"+kind+"*"))
			return err == nil && len(files) > 0 && mentions(t, files[0], "owner@example.org")
		})
	}
}

func mentions(t *testing.T, file, text string) bool {
	t.Helper()
	body, err := os.ReadFile(file)
	systemtest.Must(t, err)
	return strings.Contains(string(body), text)
}

// TestTakedownReachesOtherNodes hides a pin of a feed and a live incident on one node, and checks that a second later another node
// shows neither, in reads and on streams, and has ended the sessions of a suspended account.
func TestTakedownReachesOtherNodes(t *testing.T) {
	t.Parallel()
	one := systemtest.StartProvider(t, "one", `{"external_id":"live","kind":"alert.accident","lat":52,"lng":5,"properties":{}}`)
	nodes, _ := systemtest.StartNodes(t, 2, systemtest.Unlimited+one.AsUpstream("incidents"), servers.Postgres(t).Database(t))
	owner, curator := nodes[0].SignIn("owner@example.org"), nodes[0].SignIn("curator@example.org")
	nodes[0].CLI("account", "role", "--email", "curator@example.org", "curator")
	f := owner.Register("Police")
	pushTwo(owner, f, http.StatusOK)
	far := &systemtest.Client{Service: nodes[1], HTTP: http.Client{Timeout: time.Minute}}
	shows(far, "both pins on the other node", "a b")
	reason := map[string]any{"reason": "Wrong."}
	must(curator, http.StatusOK, http.MethodPost, "/v2/entities/"+entity(f, "a")+"/hide", reason)
	shows(far, "hidden on the other node", "b")

	events, _ := nodes[1].ListenTo()
	systemtest.WaitFor(t, events, "snapshot", `"live"`)
	live := "incident:v1:" + base64.RawURLEncoding.EncodeToString([]byte("live"))
	must(curator, http.StatusUnprocessableEntity, http.MethodPost, "/v2/entities/"+live+"/hide", reason) // it needs an end
	reason["until"] = time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	must(curator, http.StatusOK, http.MethodPost, "/v2/entities/"+live+"/hide", reason)
	systemtest.WaitFor(t, events, "gone", live)
	must(far, http.StatusNotFound, http.MethodGet, "/v2/entities/"+live, nil)

	there := *owner
	there.Service = nodes[1]
	must(&there, http.StatusOK, http.MethodGet, "/v2/account", nil)
	nodes[0].CLI("account", "suspend", "--email", "owner@example.org", "--reason", "Abuse.")
	shows(far, "the feeds of a suspended account, on the other node", "")
	systemtest.Eventually(t, "the session ends on the other node", func() bool {
		resp, _ := there.Do(http.MethodGet, "/v2/account", nil)
		return resp.StatusCode == http.StatusUnauthorized
	})
}
