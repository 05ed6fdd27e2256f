package cli

import (
	"net/http"
	"strings"
	"testing"
)

// TestPrivacyNoticeOfTheOperator checks that the notice contains the texts of the configuration.
func TestPrivacyNoticeOfTheOperator(t *testing.T) {
	s := startService(t, "[privacy]\noperator = \"Example <e.V.>\"\ncontact = \"privacy@example.org\"\nhosting = \"Falkenstein, Germany (EU)\"\n")
	resp, body := (&client{s: s}).do(http.MethodGet, "/privacy", nil)
	for _, want := range []string{"Example &lt;e.V.&gt;", "privacy@example.org", "Falkenstein, Germany (EU)"} {
		if resp.StatusCode != http.StatusOK || !strings.Contains(string(body), want) {
			t.Errorf("%d, the notice lacks %q", resp.StatusCode, want)
		}
	}
}
