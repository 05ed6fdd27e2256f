package apps_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"wayside/internal/ground/mapdata"
	"wayside/internal/http/httpapi/httpapitest"
)

// appTest is a service with a developer, a curator and a driver.
type appTest struct {
	*httpapitest.Service
	developer, curator, driver, guest *httpapitest.Browser
}

func newAppTest(t *testing.T) *appTest {
	t.Helper()
	t.Parallel()
	d := httpapitest.NewServiceWith(t, httpapitest.Options{Manage: 10_000, Requests: 60, Entities: 10_000, Overlay: httpapitest.BuiltOverlay(t)})
	return &appTest{
		Service: d, developer: d.SignedInAs("dev@example.org", mapdata.Driver), curator: d.SignedInAs("curator@example.org", mapdata.Curator),
		driver: d.SignedInAs("driver@example.org", mapdata.Driver), guest: d.Browser(),
	}
}

// approved submits an app, and approves it.
func (s *appTest) approved(change map[string]any) string {
	s.T.Helper()
	id := s.developer.SubmitApp(change)
	s.curator.Send(http.MethodPost, "/v2/apps/"+id+"/versions/1/approve", "").Want(s.T, http.StatusOK)
	return id
}

// names lists the apps of the catalogue.
func (s *appTest) names(query string) (names []string) {
	s.T.Helper()
	var list struct {
		Apps []struct{ Name string }
	}
	s.guest.Send(http.MethodGet, "/v2/apps"+query, "").Want(s.T, http.StatusOK).Decode(s.T, &list)
	for _, a := range list.Apps {
		names = append(names, a.Name)
	}
	return names
}

// states lists number and state of an app's versions, the newest first.
func (s *appTest) states(id string) (states []string) {
	s.T.Helper()
	var list struct {
		Versions []struct {
			Number     int
			State      string
			ReviewNote *string `json:"review_note"`
		}
	}
	s.developer.Send(http.MethodGet, "/v2/apps/"+id+"/versions", "").Want(s.T, http.StatusOK).Decode(s.T, &list)
	for _, v := range list.Versions {
		text := fmt.Sprint(v.Number, " ", v.State)
		if v.ReviewNote != nil {
			text += " " + *v.ReviewNote
		}
		states = append(states, text)
	}
	return states
}

// TestD16AppFromSubmissionToFrame follows an app: submitted, approved, listed, installed, framed, uninstalled.
func TestD16AppFromSubmissionToFrame(t *testing.T) {
	s := newAppTest(t)
	id := s.developer.SubmitApp(nil)
	if got := s.names(""); got != nil {
		t.Errorf("the catalogue has %q before the approval", got)
	}
	s.guest.Send(http.MethodGet, "/v2/apps/"+id, "").Want(t, http.StatusNotFound)
	s.driver.Send(http.MethodPut, "/v2/account/apps/"+id, `{"config":{"token":"s3cret"}}`).Want(t, http.StatusNotFound)
	s.curator.Send(http.MethodPost, "/v2/apps/"+id+"/versions/1/approve", "").Want(t, http.StatusOK)
	var one struct{ App map[string]any }
	s.guest.Send(http.MethodGet, "/v2/apps/"+id, "").Want(t, http.StatusOK).Decode(t, &one)
	if one.App["developer"] != "example.org" || one.App["widget_url"] != "https://apps.example.org/charging?x=1" || one.App["version"] != json.Number("1") && one.App["version"] != 1.0 {
		t.Errorf("the app is %v", one.App)
	}

	s.guest.Send(http.MethodPut, "/v2/account/apps/"+id, `{"config":{}}`).Want(t, http.StatusUnauthorized)
	bad := s.driver.Send(http.MethodPut, "/v2/account/apps/"+id, `{"config":{"plug":"x","other":1}}`).Want(t, http.StatusUnprocessableEntity)
	if got, want := bad.FieldErrors(t), []string{"config.token missing", "config.plug invalid", "config.other unknown_field"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	put := s.driver.Send(http.MethodPut, "/v2/account/apps/"+id, `{"config":{"token":"s3cret","note":""}}`).Want(t, http.StatusOK)
	list := s.driver.Send(http.MethodGet, "/v2/account/apps", "").Want(t, http.StatusOK)
	for _, answer := range []httpapitest.Reply{put, list} {
		if text := answer.Body; strings.Contains(text, "s3cret") || !strings.Contains(text, `"config":{"token":"••••"}`) {
			t.Errorf("the answer is %s", text)
		}
	}
	s.driver.Send(http.MethodPut, "/v2/account/apps/"+id, `{"config":{"token":"••••","plug":"type2"},"hidden":true}`).Want(t, http.StatusOK)
	var frame struct {
		Src, Origin string
		Config      map[string]string
	}
	s.driver.Send(http.MethodPost, "/v2/account/apps/"+id+"/frame", "").Want(t, http.StatusOK).Decode(t, &frame)
	if frame.Src != "https://apps.example.org/charging?x=1" || frame.Origin != "https://apps.example.org" || !reflect.DeepEqual(frame.Config, map[string]string{"token": "s3cret", "plug": "type2"}) {
		t.Errorf("the frame is %+v", frame)
	}
	s.curator.Send(http.MethodPost, "/v2/account/apps/"+id+"/frame", "").Want(t, http.StatusNotFound)
	s.driver.Send(http.MethodDelete, "/v2/account/apps/"+id, "").Want(t, http.StatusNoContent)
	s.driver.Send(http.MethodDelete, "/v2/account/apps/"+id, "").Want(t, http.StatusNotFound)
	s.driver.Send(http.MethodPost, "/v2/account/apps/"+id+"/frame", "").Want(t, http.StatusNotFound)
	if log := s.Log.String(); strings.Contains(log, "s3cret") {
		t.Errorf("the log has the secret: %s", log)
	}
}

// TestD16_7StatesOfVersions checks the states of a version, and that the approved one is served meanwhile.
func TestD16_7StatesOfVersions(t *testing.T) {
	s := newAppTest(t)
	id := s.approved(nil)
	path := "/v2/apps/" + id + "/versions"
	resubmit := func(name string) {
		t.Helper()
		s.developer.Send(http.MethodPost, path, httpapitest.Submission(t, map[string]any{"name": name})).Want(t, http.StatusCreated)
	}
	expect := func(served string, states ...string) {
		t.Helper()
		if got := s.names(""); !slices.Equal(got, []string{served}) {
			t.Errorf("the catalogue has %q, want %s", got, served)
		}
		if got := s.states(id); !slices.Equal(got, states) {
			t.Errorf("versions %q, want %q", got, states)
		}
	}
	resubmit("Two")
	expect("Charging", "2 pending", "1 approved")
	resubmit("Three")
	expect("Charging", "3 pending", "2 withdrawn", "1 approved")
	s.curator.Send(http.MethodPost, path+"/3/reject", `{}`).Want(t, http.StatusUnprocessableEntity)
	s.curator.Send(http.MethodPost, path+"/3/reject", `{"note":"why"}`).Want(t, http.StatusOK)
	expect("Charging", "3 rejected why", "2 withdrawn", "1 approved")
	s.curator.Send(http.MethodPost, path+"/3/approve", "").Want(t, http.StatusConflict)
	resubmit("Four")
	s.developer.Send(http.MethodPost, path+"/4/withdraw", "").Want(t, http.StatusOK)
	s.developer.Send(http.MethodPost, path+"/4/withdraw", "").Want(t, http.StatusConflict)
	resubmit("Five")
	s.curator.Send(http.MethodPost, path+"/5/approve", "").Want(t, http.StatusOK)
	s.curator.Send(http.MethodPost, path+"/5/approve", "").Want(t, http.StatusOK) // a second approval changes nothing
	s.curator.Send(http.MethodPost, path+"/6/approve", "").Want(t, http.StatusNotFound)
	expect("Five", "5 approved", "4 withdrawn", "3 rejected why", "2 withdrawn", "1 superseded")

	s.curator.Send(http.MethodPost, "/v2/apps/"+id+"/suspend", `{}`).Want(t, http.StatusUnprocessableEntity)
	s.driver.Send(http.MethodPut, "/v2/account/apps/"+id, `{"config":{"token":"s3cret"}}`).Want(t, http.StatusOK)
	s.curator.Send(http.MethodPost, "/v2/apps/"+id+"/suspend", `{"note":"harmful"}`).Want(t, http.StatusOK)
	if got := s.names(""); got != nil {
		t.Errorf("the catalogue has the suspended %q", got)
	}
	s.driver.Send(http.MethodPost, "/v2/account/apps/"+id+"/frame", "").Want(t, http.StatusNotFound)
	if got := s.driver.Send(http.MethodGet, "/v2/account/apps", "").Want(t, http.StatusOK); got.Body != "{\"apps\":[]}\n" {
		t.Errorf("the driver has %s", got.Body)
	}
	s.curator.Send(http.MethodPost, "/v2/apps/"+id+"/resume", "").Want(t, http.StatusOK)
	s.driver.Send(http.MethodPost, "/v2/account/apps/"+id+"/frame", "").Want(t, http.StatusOK)
}

// TestD16_12CatalogueIsCached checks the catalogue's headers, and the selection by kinds.
func TestD16_12CatalogueIsCached(t *testing.T) {
	s := newAppTest(t)
	s.approved(map[string]any{"name": "One"})
	s.approved(map[string]any{"name": "Two", "kinds": []string{"notifications", "widget"}})
	for query, want := range map[string][]string{"": {"One", "Two"}, "?kinds=widget": {"One", "Two"}, "?kinds=notifications,pins": {"Two"}, "?kinds=pins": nil} {
		if got := s.names(query); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
	s.guest.Send(http.MethodGet, "/v2/apps?kinds=games", "").Want(t, http.StatusBadRequest)
	first := s.guest.Send(http.MethodGet, "/v2/apps", "").Want(t, http.StatusOK)
	etag := first.Header.Get("ETag")
	if first.Header.Get("Cache-Control") != "public, max-age=60" || etag == "" {
		t.Errorf("headers %v", first.Header)
	}
	s.guest.Send(http.MethodGet, "/v2/apps", "", "If-None-Match", etag).Want(t, http.StatusNotModified)
	s.approved(map[string]any{"name": "Three"})
	if got := s.guest.Send(http.MethodGet, "/v2/apps", "", "If-None-Match", etag).Want(t, http.StatusOK); got.Header.Get("ETag") == etag {
		t.Error("the tag stayed after an approval")
	}
}

// TestD16OffMeansAbsent checks that no part of apps exists while they are not enabled.
func TestD16OffMeansAbsent(t *testing.T) {
	t.Parallel()
	d := httpapitest.NewServiceWith(t, httpapitest.Options{Manage: 10_000, Requests: 60, Entities: 10_000, NoApps: true})
	admin := d.SignedInAs("admin@example.org", mapdata.Admin)
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete} {
		for _, path := range []string{"/v2/apps", "/v2/apps/0199a3c2-7d41-7c52-9b8e-2f6a1c0d9e48", "/v2/apps/x/versions/1/approve", "/v2/account/apps", "/v2/account/apps/x", "/v2/account/apps/x/frame", "/v2/schemas/app-context.json", "/apps/bench"} {
			req, err := http.NewRequestWithContext(t.Context(), method, d.Server.URL+path, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			resp, err := admin.Client.Do(req) // not send, because the document with which that compares answers contains apps
			if err != nil {
				t.Fatal(err)
			}
			_ = resp.Body.Close()
			if resp.StatusCode != http.StatusNotFound {
				t.Errorf("%s %s: %s", method, path, resp.Status)
			}
		}
	}
	for _, path := range []string{"/v2/openapi.json", "/docs", "/v2/account", "/v2/account/export"} {
		if got := admin.Send(http.MethodGet, path, "").Want(t, http.StatusOK); strings.Contains(strings.ToLower(got.Body), "/apps") || strings.Contains(got.Body, `"apps"`) {
			t.Errorf("%s names apps", path)
		}
	}
}

// TestD16_1IconsAreServed submits an icon, and checks the one that is served.
func TestD16_1IconsAreServed(t *testing.T) {
	s := newAppTest(t)
	svg := `<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><script>alert(1)</script><path d="M0 0"/></svg>`
	id := s.developer.SubmitApp(map[string]any{"icon": "data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString([]byte(svg))})
	var list struct {
		Versions []struct {
			IconURL *string `json:"icon_url"`
		}
	}
	versions := "/v2/apps/" + id + "/versions"
	s.developer.Send(http.MethodGet, versions, "").Want(t, http.StatusOK).Decode(t, &list)
	path := strings.TrimPrefix(*list.Versions[0].IconURL, "http://wayside.test")
	for _, b := range []*httpapitest.Browser{s.guest, s.driver} {
		b.Send(http.MethodGet, path, "").Want(t, http.StatusNotFound) // while it waits, only its developer and curators may read it
	}
	for _, b := range []*httpapitest.Browser{s.developer, s.curator} {
		if got := b.Send(http.MethodGet, path, "").Want(t, http.StatusOK); !strings.HasPrefix(got.Header.Get("Cache-Control"), "private") {
			t.Errorf("an icon that waits is cached: %v", got.Header)
		}
	}
	s.curator.Send(http.MethodPost, versions+"/1/approve", "").Want(t, http.StatusOK)
	got := s.guest.Send(http.MethodGet, path, "").Want(t, http.StatusOK)
	if !strings.HasPrefix(got.Header.Get("Cache-Control"), "public") {
		t.Errorf("headers of an icon of the catalogue: %v", got.Header)
	}
	if !strings.HasPrefix(got.Body, "\x89PNG") || got.Header.Get("Content-Type") != "image/png" ||
		!strings.Contains(got.Header.Get("Content-Security-Policy"), "sandbox") || got.Header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("the icon is %q, %v", got.Body, got.Header)
	}
	s.guest.Send(http.MethodGet, strings.Replace(path, id, "0199a3c2-7d41-7c52-9b8e-2f6a1c0d9e48", 1), "").Want(t, http.StatusNotFound)
	s.developer.Send(http.MethodPost, versions, httpapitest.Submission(t, map[string]any{"icon": *list.Versions[0].IconURL})).Want(t, http.StatusCreated)
	s.developer.Send(http.MethodGet, versions, "").Want(t, http.StatusOK).Decode(t, &list)
	if len(list.Versions) != 2 || *list.Versions[0].IconURL != *list.Versions[1].IconURL {
		t.Errorf("the icon that stays is another one: %v", list.Versions)
	}
	s.developer.Send(http.MethodPost, versions, httpapitest.Submission(t, nil)).Want(t, http.StatusCreated)
	s.developer.Send(http.MethodPost, versions, httpapitest.Submission(t, map[string]any{"icon": ""})).Want(t, http.StatusCreated)
	kept := *list.Versions[0].IconURL
	s.developer.Send(http.MethodGet, versions, "").Want(t, http.StatusOK).Decode(t, &list)
	if list.Versions[1].IconURL == nil || *list.Versions[1].IconURL != kept || list.Versions[0].IconURL != nil {
		t.Errorf("icons of a version without the member, and of an empty one: %v", list.Versions)
	}
	foreign := s.driver.Send(http.MethodPost, "/v2/apps", httpapitest.Submission(t, map[string]any{"icon": kept})).Want(t, http.StatusUnprocessableEntity)
	if errors := foreign.FieldErrors(t); !slices.Equal(errors, []string{"icon invalid"}) {
		t.Errorf("another app's icon: %q", errors)
	}
}

// TestD16ExportSaysThatASecretIsSet checks that the export contains an app and its config, and the secret nowhere.
func TestD16ExportSaysThatASecretIsSet(t *testing.T) {
	s := newAppTest(t)
	id := s.approved(nil)
	s.driver.Send(http.MethodPut, "/v2/account/apps/"+id, `{"config":{"token":"s3cret","note":"plain"}}`).Want(t, http.StatusOK)
	s.curator.Send(http.MethodPost, "/v2/apps/"+id+"/suspend", `{"note":"harmful"}`).Want(t, http.StatusOK)
	if got := s.driver.Send(http.MethodGet, "/v2/account/export", "").Want(t, http.StatusOK); strings.Contains(got.Body, "s3cret") || !strings.Contains(got.Body, `"config":{"note":"plain","token":"••••"}`) {
		t.Errorf("the driver's export is %s", got.Body)
	}
	if got := s.developer.Send(http.MethodGet, "/v2/account/export", "").Want(t, http.StatusOK); !strings.Contains(got.Body, `"suspended_note":"harmful"`) || !strings.Contains(got.Body, `"summary":"Prices of chargers"`) {
		t.Errorf("the developer's export is %s", got.Body)
	}
	entries, err := s.DB.Audit(t.Context(), &mapdata.AuditQuery{Limit: 100})
	if err != nil || len(entries) == 0 || strings.Contains(fmt.Sprint(entries), "s3cret") {
		t.Errorf("the audit log is %v, %v", entries, err)
	}
}

// TestD16DeveloperHasAPublicName checks which name the catalogue shows for a developer.
func TestD16DeveloperHasAPublicName(t *testing.T) {
	s := newAppTest(t)
	id := s.approved(nil)
	named := func(want string) {
		t.Helper()
		s.WaitFor("the catalogue does not name "+want, func() bool {
			if err := s.Apps.Poll(t.Context()); err != nil {
				t.Fatal(err)
			}
			var one struct{ App struct{ Developer string } }
			s.guest.Send(http.MethodGet, "/v2/apps/"+id, "").Want(t, http.StatusOK).Decode(t, &one)
			return one.App.Developer == want
		})
	}
	named("example.org")
	s.developer.Send(http.MethodPut, "/v2/account/public-name", `{"public_name":" Charge & Co "}`).Want(t, http.StatusOK)
	named("Charge & Co")
	s.developer.Send(http.MethodPut, "/v2/account/public-name", `{"public_name":"`+strings.Repeat("x", 61)+`"}`).Want(t, http.StatusUnprocessableEntity)
	s.developer.Send(http.MethodPut, "/v2/account/public-name", `{}`).Want(t, http.StatusUnprocessableEntity)
	s.developer.Send(http.MethodPut, "/v2/account/public-name", `{"public_name":""}`).Want(t, http.StatusOK)
	named("example.org")
}

// TestD16_11ErasureSuspendsApps deletes a developer and a driver, and checks their apps and installs.
func TestD16_11ErasureSuspendsApps(t *testing.T) {
	s := newAppTest(t)
	id := s.approved(nil)
	s.driver.Send(http.MethodPut, "/v2/account/apps/"+id, `{"config":{"token":"s3cret"}}`).Want(t, http.StatusOK)
	driver, err := s.DB.AccountByEmail(t.Context(), "driver@example.org")
	if err != nil {
		t.Fatal(err)
	}
	s.developer.Send(http.MethodDelete, "/v2/account", `{"email":"dev@example.org"}`).Want(t, http.StatusNoContent)
	if err := s.Apps.Poll(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := s.names(""); got != nil {
		t.Errorf("the catalogue has %q of nobody", got)
	}
	s.driver.Send(http.MethodPost, "/v2/account/apps/"+id+"/frame", "").Want(t, http.StatusNotFound)
	s.curator.Send(http.MethodPost, "/v2/apps/"+id+"/resume", "").Want(t, http.StatusConflict)
	s.driver.Send(http.MethodDelete, "/v2/account", `{"email":"driver@example.org"}`).Want(t, http.StatusNoContent)
	if all, err := s.DB.Installs(t.Context(), driver.ID); err != nil || len(all) > 0 {
		t.Errorf("what an erased account installed: %v, %v", all, err)
	}
}

// TestD16LimitsOfAccounts checks the bounds: 12 installed apps, 16 KiB of config, 20 apps of a developer, and the size of bodies.
func TestD16LimitsOfAccounts(t *testing.T) {
	s := newAppTest(t)
	var ids []string
	for i := range 20 {
		ids = append(ids, s.approved(map[string]any{"name": fmt.Sprint("App ", i)}))
	}
	s.developer.Send(http.MethodPost, "/v2/apps", httpapitest.Submission(t, nil)).Want(t, http.StatusConflict)
	for i, id := range ids[:13] {
		want := http.StatusOK
		if i == 12 {
			want = http.StatusConflict
		}
		s.driver.Send(http.MethodPut, "/v2/account/apps/"+id, `{"config":{"token":"t"}}`).Want(t, want)
	}
	s.driver.Send(http.MethodPut, "/v2/account/apps/"+ids[0], `{"config":{"token":"t","note":"again"}}`).Want(t, http.StatusOK)
	s.driver.Send(http.MethodPut, "/v2/account/apps/"+ids[0], `{"config":{"token":"`+strings.Repeat("x", 65<<10)+`"}}`).Want(t, http.StatusRequestEntityTooLarge)
	s.driver.Send(http.MethodPut, "/v2/account/apps/"+ids[0], `{"config":{"token":"`+strings.Repeat("x", 60<<10)+`"}}`).Want(t, http.StatusUnprocessableEntity)
	s.developer.Send(http.MethodPost, "/v2/apps/"+ids[0]+"/versions", `{"description":"`+strings.Repeat("x", 200<<10)+`"}`).Want(t, http.StatusRequestEntityTooLarge)
	for range 25 { // undecided versions are dropped, the approved one is not
		s.developer.Send(http.MethodPost, "/v2/apps/"+ids[0]+"/versions", httpapitest.Submission(t, nil)).Want(t, http.StatusCreated)
	}
	if got := s.states(ids[0]); len(got) != 20 || got[0] != "26 pending" || got[19] != "1 approved" {
		t.Errorf("versions %q", got)
	}
}

// TestD16PairedScreensShowAndHide checks the rights of the screen in the car (D16.10).
func TestD16PairedScreensShowAndHide(t *testing.T) {
	s := newAppTest(t)
	id := s.approved(nil)
	path := "/v2/account/apps/" + id
	screen := s.PairedScreen(s.driver)
	s.driver.Send(http.MethodPut, path, `{"config":{"token":"s3cret"}}`).Want(t, http.StatusOK)
	screen.Send(http.MethodGet, "/v2/account/apps", "").Want(t, http.StatusOK)
	screen.Send(http.MethodPost, path+"/frame", "").Want(t, http.StatusOK)
	screen.Send(http.MethodPut, path, `{"hidden":true}`).Want(t, http.StatusOK)
	for _, body := range []string{`{"config":{"token":"other"}}`, `{"config":{},"hidden":false}`} {
		if got := screen.Send(http.MethodPut, path, body).Want(t, http.StatusForbidden); !strings.Contains(got.Body, "sign-in-required") {
			t.Errorf("%s: %s", body, got.Body)
		}
	}
	screen.Send(http.MethodDelete, path, "").Want(t, http.StatusForbidden)
	s.driver.Send(http.MethodPut, path, `{}`).Want(t, http.StatusUnprocessableEntity)
	s.driver.Send(http.MethodDelete, path, "").Want(t, http.StatusNoContent)
	screen.Send(http.MethodPut, path, `{"hidden":true}`).Want(t, http.StatusNotFound)
}

// TestD16FeedsOfApps checks that an app shows only feeds of its own account, which are public and at the latest approved with it.
func TestD16FeedsOfApps(t *testing.T) {
	s := newAppTest(t)
	of := func(feeds ...string) string {
		return httpapitest.Submission(t, map[string]any{"kinds": []string{"pins"}, "widget_url": nil, "feed_ids": feeds, "config_schema": nil})
	}
	public := s.developer.RegisterPush("Public").ID()
	private := s.developer.Register(`{"name": "Private", "direction": "push", "visibility": "private"}`).ID()
	foreign := s.driver.RegisterPush("Foreign").ID()
	refused := s.developer.Send(http.MethodPost, "/v2/apps", of(public, private, foreign, "0199a3c2-7d41-7c52-9b8e-2f6a1c0d9e48")).Want(t, http.StatusUnprocessableEntity)
	if got, want := refused.FieldErrors(t), []string{"feed_ids[1] not_allowed", "feed_ids[2] unknown_feed", "feed_ids[3] unknown_feed"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	var made struct{ App struct{ ID string } }
	s.developer.Send(http.MethodPost, "/v2/apps", of(public)).Want(t, http.StatusCreated).Decode(t, &made)
	approve := "/v2/apps/" + made.App.ID + "/versions/1/approve"
	s.curator.Send(http.MethodPost, approve, "").Want(t, http.StatusUnprocessableEntity)
	s.curator.Send(http.MethodPost, "/v2/feeds/"+public+"/approve", "").Want(t, http.StatusOK)
	s.curator.Send(http.MethodPost, approve, "").Want(t, http.StatusOK)
	var one struct{ App struct{ Sources []string } }
	s.guest.Send(http.MethodGet, "/v2/apps/"+made.App.ID, "").Want(t, http.StatusOK).Decode(t, &one)
	if !slices.Equal(one.App.Sources, []string{"feed:" + public}) {
		t.Errorf("sources %q", one.App.Sources)
	}
	s.driver.Send(http.MethodPut, "/v2/account/apps/"+made.App.ID, `{"config":{}}`).Want(t, http.StatusOK)
	s.driver.Send(http.MethodPost, "/v2/account/apps/"+made.App.ID+"/frame", "").Want(t, http.StatusNotFound)
}

// TestD16NobodyDecidesOnTheirOwnApp checks D11.9 for apps.
func TestD16NobodyDecidesOnTheirOwnApp(t *testing.T) {
	s := newAppTest(t)
	id := s.curator.SubmitApp(nil)
	for path, body := range map[string]string{"/versions/1/approve": "", "/versions/1/reject": `{"note":"x"}`, "/suspend": `{"note":"x"}`, "/resume": ""} {
		s.curator.Send(http.MethodPost, "/v2/apps/"+id+path, body).Want(t, http.StatusForbidden)
	}
	app, _ := mapdata.ParseAppID(id)
	if _, _, err := s.Apps.Approve(t.Context(), mapdata.Operator(), app, 1); err != nil {
		t.Error(err)
	}
	emails, err := s.DB.DueEmails(t.Context(), s.Time(), s.Time().Add(time.Minute), 10)
	if err != nil || len(emails) != 1 || emails[0].Kind != mapdata.EmailAppApproved {
		t.Errorf("e-mails %v, %v", emails, err)
	}
}

// TestD16_6KeysThatCameBack checks a value whose key was dropped in one version and added again in a later one: a value of another
// type is dropped, and a secret is never shown.
func TestD16_6KeysThatCameBack(t *testing.T) {
	s := newAppTest(t)
	schema := func(fields ...map[string]any) map[string]any { return map[string]any{"config_schema": fields} }
	field := func(key, kind string, secret bool) map[string]any {
		return map[string]any{"key": key, "label": "L", "type": kind, "secret": secret}
	}
	id := s.approved(schema(field("a", "text", true), field("b", "text", false), field("c", "text", false)))
	s.driver.Send(http.MethodPut, "/v2/account/apps/"+id, `{"config":{"a":"s3cret","b":"text","c":"stays"}}`).Want(t, http.StatusOK)
	next := func(version int, fields ...map[string]any) {
		t.Helper()
		s.developer.Send(http.MethodPost, "/v2/apps/"+id+"/versions", httpapitest.Submission(t, schema(fields...))).Want(t, http.StatusCreated)
		s.curator.Send(http.MethodPost, fmt.Sprintf("/v2/apps/%s/versions/%d/approve", id, version), "").Want(t, http.StatusOK)
	}
	s.developer.Send(http.MethodPost, "/v2/apps/"+id+"/versions", httpapitest.Submission(t, schema(field("a", "text", false)))).Want(t, http.StatusUnprocessableEntity)
	next(2, field("c", "text", false))
	next(3, field("a", "text", false), field("b", "number", false), field("c", "text", false))
	got := s.driver.Send(http.MethodGet, "/v2/account/apps", "").Want(t, http.StatusOK)
	if strings.Contains(got.Body, "s3cret") || !strings.Contains(got.Body, `"config":{"c":"stays"}`) {
		t.Errorf("the account's apps are %s", got.Body)
	}
	frame := s.driver.Send(http.MethodPost, "/v2/account/apps/"+id+"/frame", "").Want(t, http.StatusOK)
	if !strings.Contains(frame.Body, `"config":{"c":"stays"}`) {
		t.Errorf("the frame is %s", frame.Body)
	}
}
