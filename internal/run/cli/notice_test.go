package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"wayside/internal/proof/systemtest"
	"wayside/internal/run/datadir"
)

// TestNoticeToOwners writes to all owners of feeds, each once (Versioning 2, D12.8).
func TestNoticeToOwners(t *testing.T) {
	t.Parallel()
	s := systemtest.StartService(t, "")
	s.SignIn("first@example.org").Register("one")
	s.SignIn("second@example.org").Register("two")
	s.SignIn("driver@example.org")
	file := filepath.Join(t.TempDir(), "notice.txt")
	if err := os.WriteFile(file, []byte("The field «ttl_seconds» will change.\nOn 1 March 2027."), 0o600); err != nil {
		t.Fatal(err)
	}
	notices := func() (found []string) {
		emails, err := filepath.Glob(filepath.Join(s.Dir, datadir.OutboxFolder, "*.eml"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range emails {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(text), "Notice to providers: Fields change") {
				found = append(found, string(text))
			}
		}
		return found
	}
	notice := func(args ...string) string {
		return s.CLI(append([]string{"notice", "--subject", "Fields change", "--file", file}, args...)...)
	}
	if out := notice("--dry-run"); !strings.Contains(out, "would write to 2 of 2 owners") || !strings.Contains(out, "ttl_seconds") {
		t.Errorf("dry run: %s", out)
	}
	if out := notice(); !strings.Contains(out, "queued for 2 of 2 owners") {
		t.Errorf("notice: %s", out)
	}
	systemtest.Eventually(t, "two e-mails leave", func() bool { return len(notices()) == 2 })
	for _, email := range notices() {
		if strings.Contains(email, "driver@example.org") || !strings.Contains(email, "On 1 March 2027.") {
			t.Errorf("an e-mail:\n%s", email)
		}
	}
	if out := notice("--json"); !strings.Contains(out, `"queued": 0`) {
		t.Errorf("the same notice again: %s", out)
	}
	if out, err := s.TryCLI("notice", "--subject", " ", "--file", file); err == nil {
		t.Errorf("a notice without a subject: %s", out)
	}
}
