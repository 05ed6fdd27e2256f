package feeds_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"wayside/internal/ground/mapdata"
	"wayside/internal/http/httpapi/httpapitest"
)

// TestLicenceOnPages checks that a well-known licence is a link to its text, that any other is plain text, and that its absence is
// stated. A change leaves the feed approved, and curators see it.
func TestLicenceOnPages(t *testing.T) {
	d := httpapitest.NewService(t)
	owner, curator, guest := d.SignedInAs("owner@example.com", mapdata.Driver), d.SignedInAs("curator@example.com", mapdata.Curator), d.Browser()
	fields := pushFields("Roads")
	fields.Set("licence", " CC0-1.0 ")
	address, token := owner.NewFeed(fields)
	id := strings.TrimPrefix(address, "/feeds/")
	d.Push(token, entityRows(1)).Want(t, 200)
	curator.Send(http.MethodPost, "/v2/feeds/"+id+"/approve", "").Want(t, 200)
	pages := map[string]*httpapitest.Browser{address: owner, "/review/" + id: curator, "/sources": guest, "/sources/feed:" + id: guest}
	for stated, want := range map[string]string{
		"CC0-1.0":  `<a href="https://creativecommons.org/publicdomain/zero/1.0/legalcode" rel="noopener noreferrer"><bdi>CC0-1.0</bdi></a>`,
		"odbl-1.0": `<a href="https://opendatacommons.org/licenses/odbl/1-0/" rel="noopener noreferrer"><bdi>odbl-1.0</bdi></a>`,
		`<b>"Own"`: `<bdi>&lt;b&gt;&#34;Own&#34;</bdi>`,
		"":         "not stated",
	} {
		owner.Form(address+"/edit", url.Values{"name": {"Roads"}, "attribution": {"© Town"}, "licence": {stated}, "visibility": {"public"}}).Want(t, 200)
		curator.Send(http.MethodPost, "/v2/feeds/"+id+"/approve", "").Want(t, 200) // a change waits until then (D5.5)
		d.WaitForIndex()
		for path, who := range pages {
			if body := who.Page(path, 200); !strings.Contains(body, want) || strings.Count(body, "noopener") != strings.Count(want, "noopener") {
				t.Errorf("%s with licence %q does not say %q, or has another link: %s", path, stated, want, body)
			}
		}
		if got := owner.Send(http.MethodGet, "/v2/feeds/"+id, "").FeedOf(t); got["licence"] != stated || got["is_approved"] != true {
			t.Errorf("with licence %q the feed is %v", stated, got)
		}
		var list struct{ Sources []map[string]any }
		guest.Send(http.MethodGet, "/v2/sources", "").Want(t, 200).Decode(t, &list)
		if len(list.Sources) != 1 || list.Sources[0]["licence"] != stated {
			t.Errorf("with licence %q the catalogue is %v", stated, list.Sources)
		}
		// The explanation of a pin contains its source's licence too.
		entity := mapdata.EntityID(mapdata.SourceID("feed:"+id), "e0")
		var one struct {
			Explain struct{ Sources []map[string]any }
		}
		guest.Send(http.MethodGet, "/v2/entities/"+entity, "").Want(t, 200).Decode(t, &one)
		if got := one.Explain.Sources; len(got) != 1 || got[0]["licence"] != stated {
			t.Errorf("with licence %q a pin's source is %v", stated, got)
		}
	}
}

// TestLicenceChangeInReview checks that the review compares the approved licence with the current one.
func TestLicenceChangeInReview(t *testing.T) {
	d := httpapitest.NewService(t)
	owner, curator := d.SignedInAs("owner@example.com", mapdata.Driver), d.SignedInAs("curator@example.com", mapdata.Curator)
	address, _ := owner.NewFeed(pushFields("Roads"))
	id := strings.TrimPrefix(address, "/feeds/")
	curator.Send(http.MethodPost, "/v2/feeds/"+id+"/approve", "").Want(t, 200)
	httpapitest.Contains(t, curator.Page("/review/"+id, 200), "No change since")
	owner.Form(address+"/edit", url.Values{"name": {"Roads"}, "licence": {"CC0-1.0"}, "visibility": {"public"}}).Want(t, 200)
	httpapitest.Contains(t, curator.Page("/review/"+id, 200), "approved", "Changed since the approval", "Licence Approved: – Now: CC0-1.0")
	entries, err := d.DB.Audit(t.Context(), &mapdata.AuditQuery{Actions: []string{mapdata.AuditFeedEdit}, Subject: id, Limit: 10})
	if err != nil || len(entries) != 1 || entries[0].Note != "licence" {
		t.Errorf("audit %+v, %v; want an edit of the licence only", entries, err)
	}
}

// TestLicenceField checks that the form suggests well-known licences, accepts any other, and shows an error beside the field.
func TestLicenceField(t *testing.T) {
	d := httpapitest.NewService(t)
	owner := d.SignedInAs("owner@example.com", mapdata.Driver)
	address, _ := owner.NewFeed(pushFields("Roads"))
	for _, path := range []string{"/feeds/new", address + "/edit"} {
		body := owner.Page(path, 200)
		for _, l := range mapdata.Licences() {
			if !strings.Contains(body, `<option value="`+l.ID+`">`) {
				t.Errorf("%s does not offer %s", path, l.ID)
			}
		}
		if !strings.Contains(body, `list="licences"`) || !strings.Contains(body, `<datalist id="licences">`) {
			t.Errorf("%s: the field has no list", path)
		}
	}
	long := strings.Repeat("é", 201)
	fields := pushFields("Other")
	fields.Set("licence", long)
	for path, fields := range map[string]url.Values{"/feeds/new": fields, address + "/edit": {"name": {"Roads"}, "licence": {long}}} {
		body := owner.Form(path, fields).Want(t, http.StatusUnprocessableEntity).Body
		if !strings.Contains(body, `<p class="wrong" id="licence-wrong">Too long: at most 200 characters.</p>`) || !strings.Contains(body, `value="`+long+`"`) {
			t.Errorf("%s does not say at the field what is wrong, or lost what was typed: %s", path, body)
		}
	}
	for method, path := range map[string]string{http.MethodPost: "/v2/feeds", http.MethodPatch: "/v2" + address} {
		for text, code := range map[string]string{long: "too_long", `a\u0007b`: "invalid_characters"} {
			wrong := owner.Send(method, path, `{"name": "x", "licence": "`+text+`"`+map[string]string{http.MethodPost: `, "direction": "push"`}[method]+`}`).
				Want(t, http.StatusUnprocessableEntity).FieldErrors(t)
			if diff := cmp.Diff([]string{"licence " + code}, wrong); diff != "" {
				t.Errorf("%s (-want +got):\n%s", method, diff)
			}
		}
	}
}
