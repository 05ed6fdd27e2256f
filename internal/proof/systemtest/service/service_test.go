package service

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"wayside/internal/proof/systemtest"
	"wayside/internal/run/datadir"
)

// TestSignInByEmail signs in with the code of the e-mail in the outbox folder (D11.1, D11.7).
func TestSignInByEmail(t *testing.T) {
	s := systemtest.StartService(t, "")
	c := &systemtest.Client{Service: s}
	resp, body := c.Do(http.MethodPost, "/v2/auth/email", map[string]string{"email": "new@example.org"})
	if resp.StatusCode != http.StatusAccepted || len(resp.Cookies()) != 1 {
		t.Fatalf("request an e-mail: %d %s", resp.StatusCode, body)
	}
	c.Cookie = resp.Cookies()[0] // the code works only with this cookie
	var email []byte
	systemtest.Eventually(t, "the e-mail is written", func() bool {
		emails, err := filepath.Glob(filepath.Join(s.Dir, datadir.OutboxFolder, "*.eml"))
		if err != nil || len(emails) != 1 {
			return false
		}
		email, err = os.ReadFile(emails[0])
		return err == nil
	})
	code := regexp.MustCompile(`\b\d{4} ?\d{4}\b`).Find(email)
	resp, body = c.Do(http.MethodPost, "/v2/auth/verify", map[string]string{"email": "new@example.org", "code": string(code)})
	if resp.StatusCode != http.StatusOK || len(resp.Cookies()) != 1 {
		t.Fatalf("verify: %d %s", resp.StatusCode, body)
	}
	c.Cookie = resp.Cookies()[0]
	if resp, body := c.Do(http.MethodGet, "/v2/account", nil); resp.StatusCode != http.StatusOK || !strings.Contains(string(body), "new@example.org") {
		t.Errorf("account: %d %s", resp.StatusCode, body)
	}
}

// TestTwoServices checks that only one service uses a data directory.
func TestTwoServices(t *testing.T) {
	s := systemtest.StartService(t, "")
	out, err := exec.Command(s.Bin, "serve", "--config", s.File).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "is in use by another wayside serve") {
		t.Errorf("a second service: %v\n%s", err, out)
	}
}

// TestOpsAddress checks that metrics and profiles are served only at the second address (D12.4), and that they name no feed.
func TestOpsAddress(t *testing.T) {
	address := systemtest.FreeAddress(t)
	s := systemtest.StartService(t, fmt.Sprintf("%s\n[ops]\nlisten = %q\n", systemtest.Unlimited, address))
	c := s.SignIn("owner@example.org")
	f := c.Register("feed")
	if resp, body := c.Do(http.MethodPost, "/v2/feeds/"+f.Token+"/entities", systemtest.RowsAt(10, 10, "a", 3)); resp.StatusCode != http.StatusOK {
		t.Fatalf("push: %d %s", resp.StatusCode, body)
	}
	for path, want := range map[string]int{"/metrics": http.StatusNotFound, "/debug/pprof/": http.StatusNotFound, "/healthz": http.StatusOK, "/readyz": http.StatusOK} {
		if resp, _ := c.Do(http.MethodGet, path, nil); resp.StatusCode != want {
			t.Errorf("%s at the public address: %d, want %d", path, resp.StatusCode, want)
		}
	}
	systemtest.Eventually(t, "metrics show what was pushed", func() bool {
		text := systemtest.Get(t, "http://"+address+"/metrics")
		if strings.Contains(text, f.ID) || strings.Contains(text, f.Token) {
			t.Fatal("metrics name a feed")
		}
		return strings.Contains(text, "wayside_index_entities 3\n") && strings.Contains(text, `wayside_push_rows_total{result="accepted"} 3`)
	})
	if text := systemtest.Get(t, "http://"+address+"/debug/pprof/goroutine?debug=1"); !strings.Contains(text, "goroutine profile") {
		t.Errorf("profile: %s", text)
	}
}
