package service

import (
	"net/http"
	"strings"
	"testing"

	"wayside/internal/proof/systemtest"
)

// TestPrivacyNoticeOfTheOperator checks that the notice contains the texts of the configuration.
func TestPrivacyNoticeOfTheOperator(t *testing.T) {
	s := systemtest.StartService(t, "[privacy]\noperator = \"Example <e.V.>\"\ncontact = \"privacy@example.org\"\nhosting = \"Falkenstein, Germany (EU)\"\n")
	resp, body := (&systemtest.Client{Service: s}).Do(http.MethodGet, "/privacy", nil)
	for _, want := range []string{"Example &lt;e.V.&gt;", "privacy@example.org", "Falkenstein, Germany (EU)"} {
		if resp.StatusCode != http.StatusOK || !strings.Contains(string(body), want) {
			t.Errorf("%d, the notice lacks %q", resp.StatusCode, want)
		}
	}
}
