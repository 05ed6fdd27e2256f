package mapdata_test

import (
	"net/url"
	"strings"
	"testing"

	"wayside/internal/ground/mapdata"
)

func TestLicences(t *testing.T) {
	all := mapdata.Licences()
	if len(all) != 10 {
		t.Errorf("%d licences, want 10", len(all))
	}
	seen := map[string]bool{}
	for _, l := range all {
		if u, err := url.Parse(l.URL); err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil {
			t.Errorf("%s: its text is at %q", l.ID, l.URL)
		}
		if seen[l.URL] {
			t.Errorf("%s: another licence has the same URL", l.ID)
		}
		seen[l.URL] = true
		for _, stated := range []string{l.ID, strings.ToUpper(l.ID), strings.ToLower(l.ID)} {
			if got := mapdata.LicenceURL(stated); got != l.URL {
				t.Errorf("LicenceURL(%q) = %q, want %q", stated, got, l.URL)
			}
		}
	}
	for _, stated := range []string{"", "CC-BY", "CC-BY-4.0 ", "CC-BY-4.0\" onload=x", "javascript:alert(1)", "https://example.org/"} {
		if got := mapdata.LicenceURL(stated); got != "" {
			t.Errorf("LicenceURL(%q) = %q, want none", stated, got)
		}
	}
	all[0].URL = "https://elsewhere.example/"
	if mapdata.LicenceURL(all[0].ID) == all[0].URL {
		t.Error("a caller of Licences can change the list")
	}
}
