package feeds

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"wayside/internal/proof/systemtest"
)

// TestOpenFeeds lists open feeds, registers one from the list with the command line, and checks that the form on the pages is
// filled in from another.
func TestOpenFeeds(t *testing.T) {
	t.Parallel()
	s := systemtest.StartService(t, systemtest.Unlimited)
	owner := s.SignIn("owner@example.org")
	var listed []struct{ ID, Country, Format string }
	if err := json.Unmarshal([]byte(s.CLI("feed", "catalogue", "--json")), &listed); err != nil || len(listed) < 20 {
		t.Fatalf("%d open feeds, %v", len(listed), err)
	}
	if list := s.CLI("feed", "catalogue", "--country", "NL", "--format", "datex2"); !strings.Contains(list, "nl-ndw-situations") || strings.Contains(list, "nl-ndw-chargers") || strings.Contains(list, "\nbe-") {
		t.Error(list)
	}
	shown := s.CLI("feed", "add", "--email", "owner@example.org", "--from-catalogue", "nl-ndw-situations", "--name", "Mine")
	for _, want := range []string{"Mine", "datex2", "CC0-1.0", "private"} {
		if !strings.Contains(shown, want) {
			t.Errorf("%s lacks %s", shown, want)
		}
	}
	if _, err := s.TryCLI("feed", "add", "--email", "owner@example.org", "--from-catalogue", "nowhere"); err == nil || !strings.Contains(err.Error(), "wayside feed catalogue") {
		t.Error(err)
	}
	if _, err := s.TryCLI("feed", "add", "--email", "owner@example.org", "--name", "X", "--url", "https://data.example-roads.org/a", "--format", "shapefile"); err == nil || !strings.Contains(err.Error(), "wzdx") {
		t.Error("an unknown format:", err)
	}
	for from, want := range map[string][]string{
		"nl-ndw-situations": {`value="https://opendata.ndw.nu/`, `<option value="datex2" selected>`, `value="pull" required checked`, `<option value="nl-ndw-situations" selected>`, "Filled in from the list of open feeds"},
		"nowhere":           {`value="push" required checked`, `<option value="nl-ndw-situations">`},
	} {
		resp, body := owner.Do(http.MethodGet, "/feeds/new?from="+from, nil)
		for _, text := range want {
			if resp.StatusCode != http.StatusOK || !strings.Contains(string(body), text) {
				t.Errorf("%s: %s lacks %s", from, resp.Status, text)
			}
		}
	}
}
