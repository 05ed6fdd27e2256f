package apps

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"wayside/internal/proof/systemtest"
)

// appPage serves a valid page of an app until the test ends, and returns its origin under another name than the service's.
func appPage(t *testing.T, edit func(http.Header)) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if edit != nil {
			edit(w.Header())
		}
		_, _ = w.Write([]byte("<!doctype html><title>App</title>"))
	}))
	t.Cleanup(server.Close)
	return strings.Replace(server.URL, "127.0.0.1", "localhost", 1)
}

func submissionOf(origin string) map[string]any {
	return map[string]any{
		"name": "Trip \u00e4", "summary": "A log", "kinds": []string{"widget"}, "widget_url": origin + "/trip?x=1", "website_url": "https://example.org/",
		"cost": map[string]any{"model": "free"}, "config_schema": []map[string]any{{"key": "token", "label": "Token", "type": "text", "secret": true}},
	}
}

// TestAppCommands reviews an app beside the running service, and checks that the service shows it within a second.
func TestAppCommands(t *testing.T) {
	t.Parallel()
	origin := appPage(t, nil)
	s := systemtest.StartService(t, "[apps]\nenabled = true\ndev_origins = [\""+origin+"\"]\n")
	developer, guest := s.SignIn("dev@example.org"), &systemtest.Client{Service: s}
	var made struct{ App struct{ ID string } }
	resp, body := developer.Do(http.MethodPost, "/v2/apps", submissionOf(origin))
	if resp.StatusCode != http.StatusCreated {
		t.Fatalf("%s %s", resp.Status, body)
	}
	if err := json.Unmarshal(body, &made); err != nil {
		t.Fatal(err)
	}
	id := made.App.ID
	if out := s.CLI("app", "list"); !strings.Contains(out, id) || !strings.Contains(out, "pending") {
		t.Errorf("list: %s", out)
	}
	if out := s.CLI("app", "show", id); !strings.Contains(out, "1 (1 secret)") || !strings.Contains(out, origin) {
		t.Errorf("show: %s", out)
	}
	if out := s.CLI("app", "approve", id); !strings.Contains(out, "(approved)") {
		t.Errorf("approve: %s", out)
	}
	listed := func(want int) {
		t.Helper()
		systemtest.Eventually(t, "the catalogue follows", func() bool {
			var list struct{ Apps []map[string]any }
			_, body := guest.Do(http.MethodGet, "/v2/apps", nil)
			return json.Unmarshal(body, &list) == nil && len(list.Apps) == want && (want == 0 || list.Apps[0]["development"] == true)
		})
	}
	listed(1)
	s.CLI("app", "suspend", id, "--note", "harmful")
	listed(0)
	s.CLI("app", "resume", id)
	listed(1)
	if resp, body := developer.Do(http.MethodPost, "/v2/apps/"+id+"/versions", submissionOf(origin)); resp.StatusCode != http.StatusCreated {
		t.Fatalf("%s %s", resp.Status, body)
	}
	if out := s.CLI("app", "reject", id, "--note", "why", "--json"); !strings.Contains(out, `"review_note": "why"`) {
		t.Errorf("reject: %s", out)
	}
	listed(1)
}

// TestAppPagesThatCannotBeFramed submits pages that a browser would not show in a frame of the service, and checks that they are
// refused (D16.2).
func TestAppPagesThatCannotBeFramed(t *testing.T) {
	t.Parallel()
	var answer atomic.Pointer[func(http.ResponseWriter)]
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { (*answer.Load())(w) }))
	t.Cleanup(server.Close)
	origin := strings.Replace(server.URL, "127.0.0.1", "localhost", 1)
	s := systemtest.StartService(t, "[apps]\nenabled = true\ndev_origins = [\""+origin+"\", \"http://localhost:9\"]\n")
	developer := s.SignIn("dev@example.org")
	header := func(name, value string) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) { w.Header().Set(name, value) }
	}
	for _, tt := range []struct {
		name string
		page func(http.ResponseWriter)
		want string // part of the answer
	}{
		{"DENY", header("X-Frame-Options", "DENY"), "frame_refused"},
		{"sameorigin", header("X-Frame-Options", "sameorigin"), "frame_refused"},
		{"frame-ancestors of another", header("Content-Security-Policy", "frame-ancestors https://other.example"), "frame_refused"},
		{"no ancestors", header("Content-Security-Policy", "default-src 'self'; frame-ancestors 'none'"), "frame_refused"},
		{"500", func(w http.ResponseWriter) { w.WriteHeader(http.StatusInternalServerError) }, "unreachable"},
		{"redirect", func(w http.ResponseWriter) {
			w.Header().Set("Location", "https://other.example/")
			w.WriteHeader(http.StatusFound)
		}, "unreachable"},
		{"broken", func(http.ResponseWriter) { panic(http.ErrAbortHandler) }, "unreachable"},
		{"our ancestors", header("Content-Security-Policy", "frame-ancestors "+s.Base), ""},
		{"no header", func(http.ResponseWriter) {}, ""},
	} {
		answer.Store(&tt.page)
		resp, body := developer.Do(http.MethodPost, "/v2/apps", submissionOf(origin))
		switch {
		case tt.want == "" && resp.StatusCode != http.StatusCreated:
			t.Errorf("%s: %s %s", tt.name, resp.Status, body)
		case tt.want != "" && (resp.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(string(body), `"field":"widget_url","code":"`+tt.want+`"`)):
			t.Errorf("%s: %s %s, want %s", tt.name, resp.Status, body, tt.want)
		}
	}
	for _, other := range []string{"http://localhost:9", "https://no-such-host.wayside-test.com"} {
		resp, body := developer.Do(http.MethodPost, "/v2/apps", submissionOf(other))
		if resp.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(string(body), `"unreachable"`) {
			t.Errorf("%s: %s %s", other, resp.Status, body)
		}
	}
	// A page that no longer allows the frame is not approved.
	refuses := header("X-Frame-Options", "DENY")
	answer.Store(&refuses)
	var list []struct{ ID string }
	if err := json.Unmarshal([]byte(s.CLI("app", "list", "--json")), &list); err != nil || len(list) != 2 {
		t.Fatalf("%v, %v", list, err)
	}
	if _, err := s.TryCLI("app", "approve", list[0].ID); err == nil || !strings.Contains(err.Error(), "X-Frame-Options") {
		t.Errorf("an approval of what cannot be framed: %v", err)
	}
}

// TestNodesShareApps approves, suspends and installs at one node, and checks that another one follows within a second.
func TestNodesShareApps(t *testing.T) {
	t.Parallel()
	origin := appPage(t, nil)
	nodes, _ := systemtest.StartNodes(t, 2, systemtest.Unlimited+"[apps]\nenabled = true\ndev_origins = [\""+origin+"\"]\n", servers.Postgres(t).Database(t))
	developer, curator := nodes[0].SignIn("dev@example.org"), nodes[1].SignIn("curator@example.org")
	nodes[1].CLI("account", "role", "--email", "curator@example.org", "curator")
	var made struct{ App struct{ ID string } }
	_, body := developer.Do(http.MethodPost, "/v2/apps", submissionOf(origin))
	if err := json.Unmarshal(body, &made); err != nil || made.App.ID == "" {
		t.Fatalf("%s, %v", body, err)
	}
	path := "/v2/apps/" + made.App.ID
	var took []time.Duration // until the other node followed
	follows := func(what string, by *systemtest.Client, address string, in any, want int) {
		t.Helper()
		if resp, body := by.Do(http.MethodPost, address, in); resp.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s %s", what, resp.Status, body)
		}
		began := time.Now()
		if resp, _ := (&systemtest.Client{Service: by.Service}).Do(http.MethodGet, path, nil); resp.StatusCode != want {
			t.Errorf("%s: the node itself answers %s", what, resp.Status)
		}
		systemtest.Eventually(t, what, func() bool {
			resp, _ := (&systemtest.Client{Service: nodes[0]}).Do(http.MethodGet, path, nil)
			return resp.StatusCode == want
		})
		took = append(took, time.Since(began))
	}
	follows("approval", curator, path+"/versions/1/approve", nil, http.StatusOK)
	driver := nodes[0].SignIn("driver@example.org")
	if resp, body := driver.Do(http.MethodPut, "/v2/account/apps/"+made.App.ID, map[string]any{"config": map[string]string{"token": "s3cret"}}); resp.StatusCode != http.StatusOK {
		t.Fatalf("%s %s", resp.Status, body)
	}
	elsewhere := *driver
	elsewhere.Service = nodes[1]
	if resp, body := elsewhere.Do(http.MethodPost, "/v2/account/apps/"+made.App.ID+"/frame", nil); resp.StatusCode != http.StatusOK || !strings.Contains(string(body), "s3cret") {
		t.Errorf("the frame at the other node: %s %s", resp.Status, body)
	}
	for range 3 {
		follows("suspension", curator, path+"/suspend", map[string]string{"note": "harmful"}, http.StatusNotFound)
		follows("resumption", curator, path+"/resume", nil, http.StatusOK)
	}
	t.Logf("an approval, and suspensions and resumptions in turns: the other node followed after %v", took)
	if best := slices.Min(took); best > time.Second { // the fastest: the machine is shared
		t.Errorf("the other node followed after %v at best", best)
	}
	if resp, _ := elsewhere.Do(http.MethodDelete, "/v2/account/apps/"+made.App.ID, nil); resp.StatusCode != http.StatusNoContent {
		t.Errorf("uninstall: %s", resp.Status)
	}
	if resp, body := driver.Do(http.MethodGet, "/v2/account/apps", nil); string(body) != "{\"apps\":[]}\n" {
		t.Errorf("the first node still has %s %s", resp.Status, body)
	}
}
