package httpapi_test

import (
	"net/http"
	"testing"
)

// TestPrivacyNotice checks that every guest can read the notice, in the guest's language, and that it states which of the
// operator's texts are missing.
func TestPrivacyNotice(t *testing.T) {
	t.Parallel()
	d := newTestService(t)
	for language, want := range map[string][]string{
		"en": {"Privacy notice", "The operator has not stated this yet.", "Where the data is stored", "for 30 days"},
		"de": {"Datenschutz", "Der Betreiber hat dazu noch nichts angegeben.", "30 Tage"},
		"fr": {"Confidentialité", "L’exploitant ne l’a pas encore indiqué.", "30 jours"},
	} {
		page := d.browser().send(http.MethodGet, "/privacy", "", "Accept-Language", language).want(t, http.StatusOK).body
		for _, text := range want {
			contains(t, page, text)
		}
	}
}
