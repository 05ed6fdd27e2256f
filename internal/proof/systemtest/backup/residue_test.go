package backup

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"wayside/internal/proof/systemtest"
)

// TestDeletedAccountLeavesNoTrace deletes accounts with their feeds, and checks that their addresses, feed names and URL keys are
// in no file of the data directory and in no later backup (D11.11). Other accounts stay, so that pages of the database file contain
// both deleted and remaining data.
func TestDeletedAccountLeavesNoTrace(t *testing.T) {
	s := systemtest.StartService(t, systemtest.Unlimited)
	const accounts = 12
	var traces []string
	for i := range accounts {
		c := s.SignIn(fmt.Sprintf("residue-address-%02d@example.org", i))
		resp, body := c.Do(http.MethodPost, "/v2/feeds", map[string]any{
			"name": fmt.Sprintf("Residue Feed Name %02d", i), "direction": "pull", "visibility": "public",
			"pull_url": fmt.Sprintf("https://feeds.example.org/a.json?key=residue-url-key-%02d", i),
		})
		var got struct{ Feed struct{ ID string } }
		if err := json.Unmarshal(body, &got); err != nil || resp.StatusCode != http.StatusCreated {
			t.Fatalf("register: %d %s", resp.StatusCode, body)
		}
		s.CLI("feed", "approve", got.Feed.ID)
		if i%3 == 0 {
			continue
		}
		traces = append(traces, fmt.Sprintf("residue-address-%02d@", i), fmt.Sprintf("Residue Feed Name %02d", i), fmt.Sprintf("residue-url-key-%02d", i))
		if i%3 == 1 {
			resp, body = c.Do(http.MethodPatch, "/v2/feeds/"+got.Feed.ID, map[string]any{"name": fmt.Sprintf("Residue Feed Name %02d again", i)})
			if resp.StatusCode != http.StatusOK {
				t.Fatalf("change: %d %s", resp.StatusCode, body)
			}
		}
		deleteOwnAccount(t, c, fmt.Sprintf("residue-address-%02d@example.org", i))
	}
	deleted := time.Now()
	s.CLI("account", "create", "--email", "kept-address@example.org")
	if err := os.RemoveAll(filepath.Join(s.Dir, "outbox")); err != nil { // e-mails about decisions, which are deleted after a day
		t.Fatal(err)
	}
	systemtest.Eventually(t, "nothing of the deleted accounts is in a file", func() bool {
		found := search(t, s.Dir, traces)
		if len(found) > 0 && time.Since(deleted) > 10*time.Second {
			t.Fatalf("while the service runs: %s", strings.Join(found, "\n"))
		}
		return len(found) == 0
	})
	packed, err := os.ReadFile(strings.TrimSpace(s.CLI("backup", t.TempDir())))
	if err != nil {
		t.Fatal(err)
	}
	archive := systemtest.Gunzip(t, packed)
	for _, trace := range traces {
		if bytes.Contains(archive, []byte(trace)) {
			t.Errorf("the backup holds %q", trace)
		}
	}
	if !bytes.Contains(archive, []byte("kept-address@")) || !bytes.Contains(archive, []byte("residue-address-03@")) {
		t.Error("the backup does not hold the accounts that were kept")
	}
	if err := s.Terminate(); err != nil {
		t.Fatal(err)
	}
	for _, f := range search(t, s.Dir, traces) {
		t.Errorf("after the end: %s", f)
	}
}

// deleteOwnAccount deletes the client's account.
func deleteOwnAccount(t *testing.T, c *systemtest.Client, email string) {
	t.Helper()
	if resp, body := c.Do(http.MethodDelete, "/v2/account", map[string]string{"email": "other@example.org"}); resp.StatusCode != http.StatusUnprocessableEntity {
		t.Fatalf("delete with another address: %d %s", resp.StatusCode, body)
	}
	resp, body := c.Do(http.MethodDelete, "/v2/account", map[string]string{"email": email})
	if resp.StatusCode != http.StatusNoContent || len(resp.Cookies()) == 0 || resp.Cookies()[0].MaxAge >= 0 {
		t.Fatalf("delete: %d %s, cookies %v", resp.StatusCode, body, resp.Cookies())
	}
	if resp, _ := c.Do(http.MethodGet, "/v2/account", nil); resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("the session of a deleted account: %d", resp.StatusCode)
	}
}

// search lists which files of a folder contain which of the texts, byte by byte.
func search(t *testing.T, dir string, texts []string) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, text := range texts {
			if n := bytes.Count(content, []byte(text)); n > 0 {
				found = append(found, fmt.Sprintf("%s holds %q %d times", entry.Name(), text, n))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
