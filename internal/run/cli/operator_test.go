package cli

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"wayside/internal/proof/systemtest"
)

// TestOperatorEndsWhatAnAccountHas runs the operator's commands beside a running service, and checks that sessions end, the address
// changes, and a feed and then the account are deleted, each within seconds and with an entry in the audit log (D11.8).
func TestOperatorEndsWhatAnAccountHas(t *testing.T) {
	t.Parallel()
	s := systemtest.StartService(t, systemtest.Unlimited)
	owner := s.SignIn("owner@example.org")
	f := owner.Register("Cameras")
	if resp, body := owner.Do(http.MethodPost, "/v2/feeds/"+f.Token+"/entities", systemtest.RowsAt(10, 10, "a", 3)); resp.StatusCode != http.StatusOK {
		t.Fatalf("push: %d %s", resp.StatusCode, body)
	}
	guest := &systemtest.Client{Service: s}
	systemtest.Eventually(t, "guests see the feed", func() bool { ids, err := guest.Near(10, 10); return err == nil && len(ids) == 3 })

	var shown accountDetailJSON
	if err := json.Unmarshal([]byte(s.CLI("account", "show", "--email", "Owner@example.org", "--json")), &shown); err != nil {
		t.Fatal(err)
	}
	if shown.Email != "owner@example.org" || len(shown.Sessions) != 1 || len(shown.Feeds) != 1 || shown.Feeds[0].ID != f.ID {
		t.Errorf("account show: %+v", shown)
	}
	if text := s.CLI("account", "sessions", "--email", "owner@example.org"); !strings.Contains(text, shown.Sessions[0].ID) || strings.Contains(text, owner.Cookie.Value) {
		t.Errorf("account sessions: %s", text)
	}
	if _, err := s.TryCLI("account", "sign-out", "--email", "owner@example.org", "--session", "none"); err == nil || !strings.Contains(err.Error(), "no session with this id") {
		t.Errorf("an unknown session: %v", err)
	}
	if text := s.CLI("account", "sign-out", "--email", "owner@example.org"); !strings.Contains(text, "ended 1 sessions") {
		t.Errorf("account sign-out: %s", text)
	}
	systemtest.Eventually(t, "the session has ended", func() bool {
		resp, _ := owner.Do(http.MethodGet, "/v2/account", nil)
		return resp.StatusCode == http.StatusUnauthorized
	})

	s.CLI("account", "create", "--email", "taken@example.org")
	if _, err := s.TryCLI("account", "email", "--email", "owner@example.org", "--to", "taken@example.org"); err == nil || !strings.Contains(err.Error(), "has an account already") {
		t.Errorf("an address that is taken: %v", err)
	}
	s.CLI("account", "email", "--email", "owner@example.org", "--to", "moved@example.org")
	if text := s.CLI("account", "list"); strings.Contains(text, "owner@example.org") || !strings.Contains(text, "moved@example.org") {
		t.Errorf("account list: %s", text)
	}

	if text := s.CLI("feed", "delete", f.ID); !strings.Contains(text, "Cameras") {
		t.Errorf("feed delete: %s", text)
	}
	systemtest.Eventually(t, "the feed is gone", func() bool { ids, err := guest.Near(10, 10); return err == nil && len(ids) == 0 })
	if _, err := s.TryCLI("feed", "delete", f.ID); err == nil || !strings.Contains(err.Error(), errNoFeed.Error()) {
		t.Errorf("a second deletion: %v", err)
	}
	s.CLI("account", "delete", "--email", "moved@example.org")
	if _, err := s.TryCLI("account", "show", "--email", "moved@example.org"); err == nil || !strings.Contains(err.Error(), "No account has this address.") {
		t.Errorf("a deleted account: %v", err)
	}

	admin := s.SignIn("admin@example.org")
	s.CLI("account", "role", "--email", "admin@example.org", "admin")
	var page []byte
	systemtest.Eventually(t, "the admin reads the audit log", func() bool {
		resp, body := admin.Do(http.MethodGet, "/audit", nil)
		page = body
		return resp.StatusCode == http.StatusOK
	})
	for _, want := range []string{"signed out by the operator", "address changed", "feed deleted", "account deleted"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the audit log lacks %q", want)
		}
	}
	if strings.Contains(string(page), "moved@example.org") {
		t.Error("the audit log has the address of a deleted account")
	}
}

// TestUpstreamCommands lists and checks upstreams, good and broken, without showing a secret.
func TestUpstreamCommands(t *testing.T) {
	good := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Service-Auth") != "right-secret" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = w.Write([]byte(`{"entities":[` + systemtest.Incident("a", "alert.police", 0, "") + `,` + systemtest.Incident("b", "camera.speed", 0, "") + `]}`))
	}))
	t.Cleanup(good.Close)
	s := systemtest.NewService(t, systemtest.UpstreamTable("good", good.URL, "right-secret", "incidents")+
		systemtest.UpstreamTable("refusing", good.URL, "wrong-secret", "incidents")+
		systemtest.UpstreamTable("gone", "http://"+systemtest.FreeAddress(t), "right-secret", "incidents-raw")+"area = [4, 52, 6, 53]\n")
	list := s.CLI("upstream", "list")
	for _, want := range []string{"good", "refusing", "gone", "incidents-raw", "4 52 6 53", "everywhere"} {
		if !strings.Contains(list, want) {
			t.Errorf("upstream list lacks %q:\n%s", want, list)
		}
	}
	text, err := s.TryCLI("upstream", "check")
	if err == nil {
		t.Error("a check with broken upstreams succeeded")
	}
	for _, want := range []string{"ok", "1 not_an_incident", "http_status 401 (it refuses the secret)", "connection_error (unreachable)"} {
		if !strings.Contains(text, want) {
			t.Errorf("upstream check lacks %q:\n%s", want, text)
		}
	}
	var one []checkedJSON
	if err := json.Unmarshal([]byte(s.CLI("upstream", "check", "good", "--at", "52.3,4.9", "--json")), &one); err != nil || len(one) != 1 || !one[0].OK || one[0].Pins != 1 {
		t.Errorf("upstream check good: %+v, %v", one, err)
	}
	for _, args := range [][]string{{"upstream", "check", "none"}, {"upstream", "check", "--at", "95,0"}, {"upstream", "check", "--radius", "0"}} {
		if _, err := s.TryCLI(args...); err == nil {
			t.Errorf("%v succeeded", args)
		}
	}
	if strings.Contains(list+text, "-secret") {
		t.Error("a secret is shown")
	}
}
