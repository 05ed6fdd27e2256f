package console

import (
	"maps"
	"net/url"
	"strings"
	"testing"

	"wayside/internal/feeds/provider/trial"
	"wayside/internal/ground/mapdata"
)

// TestCarriedFromCheck checks that a link from a check to the form of a new feed never has the auth header, and no long mapping.
func TestCarriedFromCheck(t *testing.T) {
	values := url.Values{"format": {"csv"}, "mapping": {" {} "}, "time_zone": {"Europe/Paris"}, "status_url": {""}, "pull_auth_header": {"Key: secret"}}
	page := &checkPage{URL: "https://a.example.org/", Form: newForm(values), Trial: &trial.Result{Reading: trial.Reading{Publisher: "P"}}}
	want := map[string]string{"pull_url": page.URL, "format": "csv", "mapping": "{}", "time_zone": "Europe/Paris", "attribution": "P"}
	if got := page.Carried(); !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	values.Set("mapping", strings.Repeat("x", maxCarriedMapping+1))
	if got := page.Carried()["mapping"]; got != "" {
		t.Errorf("a mapping of %d bytes", len(got))
	}
}

func TestPlaceOfFault(t *testing.T) {
	for _, tt := range []struct {
		format  string
		outcome mapdata.Outcome
		said    string
		want    string
	}{
		{"datex2", mapdata.OutcomeParseError, "xml: line 3. The document breaks off.", "xml: line 3"},
		{"wzdx", mapdata.OutcomeTooLarge, "item: byte 17. One item is too large.", "item: byte 17"},
		{"datex2", mapdata.OutcomeParseError, "dtd. Such documents are not read: ask.", ""},
		{"datex2", mapdata.OutcomeTimeout, "It took: too long. Ask.", ""},
		{"", mapdata.OutcomeParseError, "xml: line 3. No feed of rows says that.", ""},
	} {
		f := &mapdata.Feed{Bridge: mapdata.Bridge{Format: tt.format}, Polling: mapdata.Polling{LastOutcome: tt.outcome, LastError: tt.said}}
		if got := placeOfFault(f); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.said, got, tt.want)
		}
	}
}
