package backup

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"wayside/internal/proof/systemtest"
	"wayside/internal/run/datadir"
	"wayside/internal/store/sqlite"
)

// TestBackupAndRestore backs up a running service, restores it elsewhere, and reads the stored entities there.
func TestBackupAndRestore(t *testing.T) {
	s := systemtest.StartService(t, systemtest.Unlimited)
	c := s.SignIn("owner@example.org")
	f := c.Register("feed")
	push := func(prefix string, lat float64) {
		t.Helper()
		if resp, body := c.Do(http.MethodPost, "/v2/feeds/"+f.Token+"/entities", systemtest.RowsAt(lat, 10, prefix, 5)); resp.StatusCode != http.StatusOK {
			t.Fatalf("push: %d %s", resp.StatusCode, body)
		}
	}
	push("before", 10)
	folder := t.TempDir()
	archive := strings.TrimSpace(s.CLI("backup", folder, "--with-key"))
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
	if _, err := s.TryCLI("backup", archive); err == nil || !strings.Contains(err.Error(), "there already") {
		t.Errorf("a backup over another: %v", err)
	}
	if _, err := s.TryCLI("restore", archive, "--force"); err == nil || !strings.Contains(err.Error(), "in use by another wayside serve") {
		t.Errorf("a restore under a running service: %v", err)
	}
	if err := s.Terminate(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.TryCLI("restore", archive); err == nil || !strings.Contains(err.Error(), "is not empty") {
		t.Errorf("a restore over data: %v", err)
	}
	damage(t, archive)
	if _, err := s.TryCLI("restore", archive+".damaged", "--force"); err == nil {
		t.Error("a damaged backup was restored")
	}
	s.Start(nil)
	checkNear(t, c, 20, 5) // the refused restores have changed nothing

	other := systemtest.NewService(t, systemtest.Unlimited)
	other.CLI("restore", archive)
	other.Start(nil)
	there := &systemtest.Client{Service: other, Cookie: c.Cookie}
	checkNear(t, there, 10, 5)
	checkNear(t, there, 20, 0)
	if resp, body := there.Do(http.MethodPost, "/v2/feeds/"+f.Token+"/entities", systemtest.RowsAt(30, 10, "x", 5)); resp.StatusCode != http.StatusOK {
		t.Errorf("the push token does not work after the restore: %d %s", resp.StatusCode, body)
	}
	if before, after := epoch(t, s), epoch(t, other); before == after {
		t.Error("the restored store has the same epoch")
	}

	if err := s.Terminate(); err != nil {
		t.Fatal(err)
	}
	s.CLI("restore", archive, "--force")
	s.Start(nil)
	checkNear(t, c, 10, 5)
	checkNear(t, c, 20, 0)
}

func checkNear(t *testing.T, c *systemtest.Client, lat float64, want int) {
	t.Helper()
	ids, err := c.Near(lat, 10)
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
func epoch(t *testing.T, s *systemtest.Service) string {
	t.Helper()
	store, err := sqlite.Open(t.Context(), filepath.Join(s.Dir, datadir.DatabaseFile), sqlite.Options{})
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
