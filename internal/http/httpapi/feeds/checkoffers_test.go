package feeds_test

import (
	"net/url"
	"strings"
	"testing"

	"wayside/internal/ground/mapdata"
	"wayside/internal/http/httpapi/httpapitest"
)

// TestCheckOffersWhatADocumentSays checks a document in another format: its publisher and licence are shown, and fill in the form
// of a new feed (D17.19), and for a bad document the position of the fault is shown.
func TestCheckOffersWhatADocumentSays(t *testing.T) {
	d := httpapitest.NewService(t)
	owner := d.SignedInAs("owner@example.org", mapdata.Driver)
	const document = `{"feed_info":{"publisher":"Roads of <b>Testshire</b> & Co","license":"https://creativecommons.org/publicdomain/zero/1.0/"},"features":[]}`
	httpapitest.Contains(t, owner.Form("/check", url.Values{"json": {document}, "format": {"wzdx"}}).Want(t, 200).Body,
		"The document says", "Roads of Testshire & Co", "publicdomain/zero")
	httpapitest.Contains(t, owner.Form("/check", url.Values{"json": {"a;b\n1;2\n"}, "format": {"datex2"}}).Want(t, 200).Body, "not well-formed XML", "It breaks at line 1.")
	httpapitest.Contains(t, owner.Form("/check", url.Values{"json": {`{"features":[}`}, "format": {"wzdx"}}).Want(t, 200).Body, "It breaks at byte 13.")
	const attribution = `"Testshire" <i>`
	page := owner.Page("/feeds/new?"+url.Values{
		"pull_url": {"https://a.example.org/"}, "format": {"wzdx"}, "time_zone": {"Europe/Berlin"}, "attribution": {attribution}, "licence": {"CC0-1.0"}, "name": {"not taken over"},
	}.Encode(), 200)
	for _, want := range []string{`value="https://a.example.org/"`, `value="pull" required checked`, `value="wzdx" selected`, `value="Europe/Berlin"`, `value="&#34;Testshire&#34; &lt;i&gt;"`, `value="CC0-1.0"`} {
		if !strings.Contains(page, want) {
			t.Errorf("the form lacks %s", want)
		}
	}
	if strings.Contains(page, attribution) || strings.Contains(page, "not taken over") {
		t.Error("the form has what it should not")
	}
}
