package apps

import (
	"bufio"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"wayside/internal/ground/mapdata"
	"wayside/internal/proof/systemtest"
)

// TestAppPageIsProvedAndSuspended submits a page on https to the real program, publishes the proof that the answer names, and
// suspends the app from another process while the page in the car has a stream open.
func TestAppPageIsProvedAndSuspended(t *testing.T) {
	t.Parallel()
	var proof atomic.Pointer[string]
	web := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch code := proof.Load(); {
		case r.URL.Path != "/.well-known/wayside-app.txt":
			_, _ = w.Write([]byte("<!doctype html><title>App</title>"))
		case code == nil:
			http.NotFound(w, r)
		default:
			_, _ = w.Write([]byte("another\n" + *code + "\n"))
		}
	}))
	t.Cleanup(web.Close)
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: web.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	origin := strings.Replace(web.URL, "127.0.0.1", "example.com", 1)
	s := systemtest.StartService(t, fmt.Sprintf("[apps]\nenabled = true\n[egress]\nca_file = %q\nhosts = { \"example.com\" = \"127.0.0.1\" }\n", ca))
	developer, driver := s.SignIn("dev@example.org"), s.SignIn("driver@example.org")
	resp, body := developer.Do(http.MethodPost, "/v2/apps", submissionOf(origin))
	var refused struct{ Errors []mapdata.FieldError }
	if err := json.Unmarshal(body, &refused); err != nil || resp.StatusCode != http.StatusUnprocessableEntity || refused.Errors[0].Code != "unproven" {
		t.Fatalf("without a proof: %s %s", resp.Status, body)
	}
	code := regexp.MustCompile(`[a-z2-7]{26}`).FindString(refused.Errors[0].Message)
	proof.Store(&code)
	resp, body = developer.Do(http.MethodPost, "/v2/apps", submissionOf(origin))
	var made struct{ App struct{ ID string } }
	if err := json.Unmarshal(body, &made); err != nil || resp.StatusCode != http.StatusCreated {
		t.Fatalf("with the proof: %s %s", resp.Status, body)
	}
	if out := s.CLI("app", "approve", made.App.ID); !strings.Contains(out, "(approved)") {
		t.Errorf("approve: %s", out)
	}
	systemtest.Eventually(t, "the catalogue follows", func() bool {
		_, body := driver.Do(http.MethodGet, "/v2/apps", nil)
		return strings.Contains(string(body), made.App.ID)
	})
	apps := appsEvents(t, driver)
	if first := <-apps; strings.Contains(first, made.App.ID) {
		t.Errorf("the stream begins with %s", first)
	}
	began := time.Now()
	s.CLI("app", "suspend", made.App.ID, "--note", "harmful")
	if next := <-apps; !strings.Contains(next, made.App.ID) {
		t.Errorf("after the suspension: %s", next)
	}
	t.Logf("the stream told of the suspension %v after the command began", time.Since(began))
}

// appsEvents opens a stream, and yields the data of its events about apps until the test ends.
func appsEvents(t *testing.T, c *systemtest.Client) <-chan string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.Service.Base+"/v2/stream?lat=52&lng=5&radius=1000", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.AddCookie(c.Cookie)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	events, done := make(chan string), make(chan struct{})
	go func() {
		defer close(done)
		defer close(events)
		about := ""
		for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
			if name, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
				about = name
			}
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok && about == "apps" {
				select {
				case events <- data:
				case <-t.Context().Done():
					return
				}
			}
		}
	}()
	t.Cleanup(func() {
		_ = resp.Body.Close()
		<-done
	})
	return events
}
