package backup

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"wayside/internal/proof/systemtest"
	"wayside/internal/run/datadir"
)

// TestBackupKeepsTheKeyApart backs up a service whose feed has a sealed auth header, and checks that the archive alone opens
// nothing: on a second machine nothing starts before the key is there, and a wrong key is refused. With --with-key the archive
// contains the key. After key rotate only the new key fits.
func TestBackupKeepsTheKeyApart(t *testing.T) {
	t.Parallel()
	s := systemtest.StartService(t, systemtest.Unlimited)
	owner := s.SignIn("owner@example.org")
	resp, body := owner.Do(http.MethodPost, "/v2/feeds", map[string]any{
		"name": "Cameras", "direction": "pull", "pull_url": "https://feeds.example.org/a.json", "pull_auth_header": "X-Key: sealed-secret",
	})
	if resp.StatusCode != http.StatusCreated {
		t.Fatalf("register: %d %s", resp.StatusCode, body)
	}
	folder := t.TempDir()
	apart, joined := filepath.Join(folder, "apart.tar.gz"), filepath.Join(folder, "joined.tar.gz")
	s.CLI("backup", apart)
	s.CLI("backup", "--with-key", joined)
	key, err := os.ReadFile(filepath.Join(s.Dir, datadir.KeyFile))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{apart: false, joined: true} {
		packed, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := bytes.Contains(systemtest.Gunzip(t, packed), bytes.TrimSpace(key)); got != want {
			t.Errorf("%s holds the key: %v", filepath.Base(name), got)
		}
	}

	other := systemtest.NewService(t, systemtest.Unlimited)
	if text := other.CLI("restore", apart); !strings.Contains(text, "put your copy of it into") {
		t.Errorf("restore: %s", text)
	}
	if _, err := other.TryCLI("feed", "list"); err == nil || !strings.Contains(err.Error(), "secret.key is missing") {
		t.Errorf("without the key: %v", err)
	}
	if err := os.WriteFile(filepath.Join(other.Dir, datadir.KeyFile), key, 0o600); err != nil {
		t.Fatal(err)
	}
	other.Start(nil)
	if resp, _ := (&systemtest.Client{Service: other, Cookie: owner.Cookie}).Do(http.MethodGet, "/v2/account", nil); resp.StatusCode != http.StatusOK {
		t.Errorf("the session does not work on the second machine: %d", resp.StatusCode)
	}
	if _, err := other.TryCLI("key", "rotate"); err == nil || !strings.Contains(err.Error(), "in use by another wayside serve") {
		t.Errorf("key rotate beside the service: %v", err)
	}
	if err := other.Terminate(); err != nil {
		t.Fatal(err)
	}
	var rotated struct{ Resealed, Removed int }
	if err := json.Unmarshal([]byte(other.CLI("key", "rotate", "--json")), &rotated); err != nil || rotated.Resealed != 1 || rotated.Removed != 0 {
		t.Errorf("key rotate: %+v, %v", rotated, err)
	}
	other.Start(nil)
	if err := other.Terminate(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(other.Dir, datadir.KeyFile), key, 0o600); err != nil { // the old one
		t.Fatal(err)
	}
	if _, err := other.TryCLI("feed", "list"); err == nil || !strings.Contains(err.Error(), "is not the key that") {
		t.Errorf("with the old key: %v", err)
	}

	third := systemtest.NewService(t, systemtest.Unlimited)
	if text := third.CLI("restore", joined); strings.Contains(text, "without") {
		t.Errorf("restore with the key: %s", text)
	}
	third.Start(nil)
	if text := third.CLI("feed", "list"); !strings.Contains(text, "Cameras") {
		t.Errorf("feed list: %s", text)
	}
}
