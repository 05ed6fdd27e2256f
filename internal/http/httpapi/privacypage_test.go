package httpapi_test

import (
	"net/http"
	"testing"

	"wayside/internal/http/httpapi/httpapitest"
)

// TestPrivacyNotice checks that every guest can read the notice, in the guest's language, and that it states which of the
// operator's texts are missing.
func TestPrivacyNotice(t *testing.T) {
	t.Parallel()
	d := httpapitest.NewService(t)
	for language, want := range map[string][]string{
		"en": {"Privacy notice", "The operator has not stated this yet.", "Where the data is stored", "for 30 days"},
		"de": {"Datenschutz", "Der Betreiber hat dazu noch nichts angegeben.", "30 Tage"},
		"fr": {"Confidentialité", "L’exploitant ne l’a pas encore indiqué.", "30 jours"},
	} {
		page := d.Browser().Send(http.MethodGet, "/privacy", "", "Accept-Language", language).Want(t, http.StatusOK).Body
		for _, text := range want {
			httpapitest.Contains(t, page, text)
		}
	}
}
