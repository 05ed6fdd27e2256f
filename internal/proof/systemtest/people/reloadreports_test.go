package people

import (
	"net/http"
	"strings"
	"testing"

	"wayside/internal/proof/systemtest"
)

// TestReloadTakesReports turns drivers' reports off and on, and requires two accounts for them, while the service runs.
func TestReloadTakesReports(t *testing.T) {
	t.Parallel()
	const drivers = "\n[drivers]\ntrust_after = \"0s\"\n"
	s := systemtest.StartService(t, systemtest.Unlimited+drivers)
	ann, guest := s.SignIn("ann@example.org"), &systemtest.Client{Service: s}
	police := report(t, ann, "alert.police", http.StatusCreated)
	readsOnly(guest, "reported", police)
	s.Configure(systemtest.Unlimited + drivers + "enabled = false\n")
	s.Logged(systemtest.ReloadedLine, 1)
	readsOnly(guest, "no such source")
	if status, _, _ := saw(ann, "alert.accident"); status != http.StatusNotFound {
		t.Errorf("reports are off: %d", status)
	}
	s.Configure(systemtest.Unlimited + drivers + "show = \"confirmed\"\n")
	s.Logged(systemtest.ReloadedLine, 2)
	readsOnly(guest, "reports are on again", police)
	crash := report(t, ann, "alert.accident", http.StatusCreated)
	readsOnly(guest, "two accounts are needed", police)
	report(t, s.SignIn("bob@example.org"), "alert.accident", http.StatusOK)
	readsOnly(guest, "two reported it", police, crash)
	if log := s.Log.String(); strings.Contains(log, "need a restart") {
		t.Errorf("the log asks for a restart\n%s", log)
	}
}
