package apps_test

import (
	"bytes"
	"errors"
	"mime/multipart"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"wayside/internal/ground/mapdata"
	"wayside/internal/http/httpapi/httpapitest"
)

// appFields returns the values of a form that submits an app.
func appFields(change url.Values) url.Values {
	fields := url.Values{
		"name": {"Charging"}, "summary": {"Prices of chargers"}, "description": {"Shows prices.\nOf chargers."}, "kinds": {"widget"},
		"widget_url": {"https://apps.example.org/charging"}, "domains": {"api.example.org\ncdn.example.org"}, "cost_model": {"subscription"},
		"cost_note": {"3 € a month"}, "website_url": {"https://example.org/"},
		"config_schema": {`[{"key":"token","label":"Token","type":"text","secret":true,"required":true},
			{"key":"plug","label":"Plug","type":"select","options":["ccs","type2"],"default":"ccs"},
			{"key":"power","label":"Power","type":"number","min":11,"max":350},{"key":"free","label":"Free only","type":"boolean"}]`},
	}
	for name, values := range change {
		fields[name] = values
	}
	return fields
}

// submitByPage submits an app on the page, and returns its id.
func (s *appTest) submitByPage(change url.Values) string {
	s.T.Helper()
	answer := s.developer.Form("/apps/new", appFields(change)).Want(s.T, http.StatusOK)
	id, found := strings.CutPrefix(answer.Request.URL.Path, "/apps/own/")
	if !found {
		s.T.Fatalf("the form leads to %s", answer.Request.URL)
	}
	return id
}

// approvedByPage submits and approves an app on the pages.
func (s *appTest) approvedByPage() string {
	s.T.Helper()
	id := s.submitByPage(nil)
	s.curator.Form("/apps/review/"+id+"/approve", url.Values{"number": {"1"}}).Want(s.T, http.StatusOK)
	return id
}

// beside checks that an error is beside the input of a field, and in the summary above the form.
func beside(t *testing.T, body, field, text string) {
	t.Helper()
	_, after, found := strings.Cut(body, `id="`+field+`"`)
	before, _, _ := strings.Cut(body, `id="`+field+`"`)
	near := before[max(0, len(before)-600):] + after[:min(len(after), 600)] // fieldsets have it inside
	if !found || !strings.Contains(near, text) {
		t.Errorf("no %q beside %s", text, field)
	}
	if !strings.Contains(body, `<a href="#`+field+`">`) {
		t.Errorf("the summary has no link to %s", field)
	}
}

// TestPagesHaveNoWordOfAppsWhileTheyAreOff checks that without apps.enabled there are no pages, links or words of apps.
func TestPagesHaveNoWordOfAppsWhileTheyAreOff(t *testing.T) {
	t.Parallel()
	d := httpapitest.NewServiceWith(t, httpapitest.Options{Manage: 10_000, Requests: 60, Entities: 10_000, NoApps: true})
	curator := d.SignedInAs("curator@example.org", mapdata.Curator)
	id := "0192d3e4-5f60-7a1b-8c2d-3e4f5a6b7c8d"
	for _, path := range []string{"/apps", "/apps/charging", "/apps/new", "/apps/own", "/apps/own/" + id, "/apps/review/" + id, "/account/apps/" + id} {
		curator.Page(path, http.StatusNotFound)
	}
	for _, path := range []string{"/account/public-name", "/account/apps/" + id, "/apps/new"} {
		curator.Form(path, url.Values{"public_name": {"x"}}).Want(t, http.StatusNotFound)
	}
	for _, path := range []string{"/account", "/review", "/about", "/sources", "/feeds"} {
		body := curator.Page(path, http.StatusOK)
		for _, word := range []string{"/apps", "Apps", "app ", "public-name"} {
			if strings.Contains(body, word) {
				t.Errorf("%s says %q", path, word)
			}
		}
	}
}

func TestSubmitAnAppByPages(t *testing.T) {
	s := newAppTest(t)
	wrong := s.developer.Form("/apps/new", appFields(url.Values{
		"name": {""}, "summary": {strings.Repeat("x", 141)}, "widget_url": {"http://apps.example.org/"}, "domains": {"192.0.2.1"},
		"cost_model": {"barter"}, "website_url": {"javascript:alert(1)"}, "config_schema": {`[{"key":"9a","label":"L","type":"text"},{"key":"b","label":"L","type":"select"}]`},
	})).Want(t, http.StatusUnprocessableEntity).Body
	for field, text := range map[string]string{
		"name": "Required.", "summary": "Too long.", "widget_url": "Enter an https URL", "domains": "domains[0]: Enter the name of a public host",
		"cost_model": "Choose one of the models.", "website_url": "Enter a URL that begins with https://",
	} {
		beside(t, wrong, field, text)
	}
	beside(t, wrong, "config_schema", "config_schema[0].key: A key begins with a lower-case letter")
	beside(t, wrong, "config_schema", "config_schema[1].options: A select needs at least one option.")
	malformed := s.developer.Form("/apps/new", appFields(url.Values{"config_schema": {`[{"key":"a","key":"a"}]`}})).Want(t, http.StatusUnprocessableEntity).Body
	beside(t, malformed, "config_schema", "This is not valid JSON.")
	if strings.Count(malformed, "<li><a href") != 1 {
		t.Errorf("one error is listed as several: %s", malformed)
	}
	s.Page.FrameOptions = []string{"DENY"}
	beside(t, s.developer.Form("/apps/new", appFields(nil)).Want(t, http.StatusUnprocessableEntity).Body, "widget_url", "refuses to be framed")
	s.Page.FrameOptions = nil
	httpapitest.Contains(t, s.developer.Page("/apps/own", http.StatusOK), "You have not submitted an app.")

	id := s.submitByPage(nil)
	httpapitest.Contains(t, s.developer.Page("/apps/own/"+id, http.StatusOK), "Version 1 is pending review")
	httpapitest.Contains(t, s.curator.Page("/review", http.StatusOK), "1 app pending review", "Charging", "Prices of chargers", "https://apps.example.org")
	s.driver.Page("/apps/own/"+id, http.StatusNotFound)
	s.driver.Page("/apps/review/"+id, http.StatusForbidden)

	review := s.curator.Send(http.MethodGet, "/apps/review/"+id, "").Want(t, http.StatusOK)
	httpapitest.Contains(t, review.Body, "Never approved.", "api.example.org", "cdn.example.org", "3 € a month", "options ccs | type2, default ccs", "The developer attached no report.")
	if policy := review.Header.Get("Content-Security-Policy"); !strings.HasSuffix(policy, "; frame-src https://apps.example.org") {
		t.Errorf("the policy of the review is %q", policy)
	}
	if !strings.Contains(review.Body, `src="https://apps.example.org/charging" sandbox="allow-scripts allow-same-origin allow-forms" allow="" referrerpolicy="no-referrer"`) {
		t.Error("the preview is not sandboxed as in the car")
	}
	beside(t, s.curator.Form("/apps/review/"+id+"/reject", url.Values{"number": {"1"}, "note": {" "}}).Want(t, http.StatusUnprocessableEntity).Body, "note", "Enter a note")
	s.curator.Form("/apps/review/"+id+"/reject", url.Values{"number": {"1"}, "note": {"Say more.\nPlease."}}).Want(t, http.StatusOK)
	httpapitest.Contains(t, s.developer.Page("/apps/own/"+id, http.StatusOK), "Version 1 was rejected", "Say more. Please.")

	again := s.developer.Page("/apps/own/"+id+"/version", http.StatusOK)
	for _, kept := range []string{`value="Charging"`, "api.example.org\ncdn.example.org", "&#34;secret&#34;:true", `value="subscription" checked`} {
		if !strings.Contains(again, kept) {
			t.Errorf("the form of a new version lacks %s", kept)
		}
	}
	s.developer.Form("/apps/own/"+id+"/version", appFields(nil)).Want(t, http.StatusOK)
	s.curator.Form("/apps/review/"+id+"/approve", url.Values{"number": {"2"}}).Want(t, http.StatusOK)
	httpapitest.Contains(t, s.guest.Page("/apps", http.StatusOK), "Charging", "Prices of chargers")
	httpapitest.Contains(t, s.guest.Page("/apps?kind=pins", http.StatusOK), "There is no app here yet.")
	httpapitest.Contains(t, s.guest.Page("/apps/charging", http.StatusOK),
		"api.example.org", "3 € a month", "Nothing is paid here", "your position, speed, heading or route", "your network address")
}

func TestResubmitAndDecideByPages(t *testing.T) {
	s := newAppTest(t)
	id := s.approvedByPage()
	refused := s.developer.Form("/apps/own/"+id+"/version", appFields(url.Values{"config_schema": {`[{"key":"plug","label":"Plug","type":"text"}]`}})).Want(t, http.StatusUnprocessableEntity).Body
	beside(t, refused, "config_schema", "config_schema[0].type: The approved version has another type.")
	s.developer.Form("/apps/own/"+id+"/version", appFields(url.Values{"name": {"Chargers"}, "domains": {"api.example.org"}})).Want(t, http.StatusOK)
	httpapitest.Contains(t, s.curator.Page("/apps/review/"+id, http.StatusOK), "Changed since version 1", "Approved: Charging", "Now: Chargers", "Approved: api.example.org cdn.example.org")
	httpapitest.Contains(t, s.guest.Page("/apps", http.StatusOK), "Charging") // the approved version
	s.developer.Form("/apps/own/"+id+"/withdraw", url.Values{"number": {"2"}}).Want(t, http.StatusOK)
	httpapitest.Contains(t, s.developer.Page("/apps/own/"+id, http.StatusOK), "Withdrawn", "Version 1 is approved")
	s.curator.Form("/apps/review/"+id+"/approve", url.Values{"number": {"2"}}).Want(t, http.StatusConflict)

	s.curator.Form("/apps/review/"+id+"/suspend", url.Values{"note": {"It floods."}}).Want(t, http.StatusOK)
	s.guest.Page("/apps/charging", http.StatusNotFound)
	httpapitest.Contains(t, s.curator.Page("/review", http.StatusOK), "Suspended apps", "It floods.")
	httpapitest.Contains(t, s.developer.Page("/apps/own/"+id, http.StatusOK), "A curator suspended this app", "It floods.")
	s.curator.Form("/apps/review/"+id+"/resume", url.Values{}).Want(t, http.StatusOK)
	s.guest.Page("/apps/charging", http.StatusOK)

	s.developer.Form("/apps/own/"+id+"/version", appFields(nil)).Want(t, http.StatusOK)
	s.Page.Status = http.StatusBadGateway
	httpapitest.Contains(t, s.curator.Form("/apps/review/"+id+"/approve", url.Values{"number": {"3"}}).Want(t, http.StatusUnprocessableEntity).Body,
		"This version can’t be approved", "The page could not be fetched.")
}

func TestInstallAnAppByPages(t *testing.T) {
	s := newAppTest(t)
	id := s.approvedByPage()
	path := "/account/apps/" + id
	if to := s.guest.WithoutRedirects().Send(http.MethodGet, path, "").Want(t, http.StatusSeeOther).Header.Get("Location"); !strings.HasPrefix(to, "/sign-in?next=") {
		t.Errorf("a guest is sent to %s", to)
	}
	s.driver.Page(path, http.StatusOK)
	httpapitest.Contains(t, s.driver.Page("/account", http.StatusOK), "You have not installed an app.") // opening a page installs nothing
	wrong := s.driver.Form(path, url.Values{"config.plug": {"x"}, "config.power": {"much"}, "config.token": {" "}}).Want(t, http.StatusUnprocessableEntity).Body
	beside(t, wrong, "config.token", "Required.")
	beside(t, wrong, "config.plug", "does not accept this value")
	beside(t, wrong, "config.power", "does not accept this value")

	secret := "s3cret-0815"
	installed := s.driver.Form(path, url.Values{"config.plug": {"type2"}, "config.power": {"22,5"}, "config.token": {secret}, "config.free": {"on"}}).Want(t, http.StatusOK).Body
	httpapitest.Contains(t, installed, "Installed.", "The app is shown beside the map.")
	for _, page := range []string{installed, s.driver.Page(path, http.StatusOK), s.driver.Page("/account", http.StatusOK), wrong} {
		if strings.Contains(page, secret) {
			t.Error("a page shows the secret")
		}
	}
	if !strings.Contains(installed, `value="••••"`) {
		t.Error("the secret is not masked")
	}
	config := func() string {
		return s.driver.Send(http.MethodPost, "/v2/account/apps/"+id+"/frame", "{}").Want(t, http.StatusOK).Body
	}
	for _, want := range []string{`"token":"` + secret + `"`, `"plug":"type2"`, `"power":22.5`, `"free":true`} {
		if !strings.Contains(config(), want) {
			t.Errorf("the app gets %s, want %s", config(), want)
		}
	}
	s.driver.Form(path, url.Values{"config.plug": {""}, "config.power": {""}, "config.token": {"••••"}}).Want(t, http.StatusOK)
	if got := config(); !strings.Contains(got, secret) || strings.Contains(got, "power") || !strings.Contains(got, `"free":false`) {
		t.Errorf("with the mask sent back the app gets %s", got)
	}
	httpapitest.Contains(t, s.driver.Form(path+"/show", url.Values{"hidden": {"yes"}}).Want(t, http.StatusOK).Body, "The app is hidden.")
	httpapitest.Contains(t, s.driver.Page(path+"/uninstall", http.StatusOK), "Uninstall Charging?", "settings for it are deleted")
	s.driver.Form(path+"/uninstall", url.Values{}).Want(t, http.StatusOK)
	s.driver.Page(path+"/uninstall", http.StatusNotFound)

	screen := s.PairedScreen(s.driver)
	screen.Form(path, url.Values{"config.token": {"x"}}).Want(t, http.StatusForbidden)
}

func TestPublicNameByPage(t *testing.T) {
	s := newAppTest(t)
	s.approvedByPage()
	httpapitest.Contains(t, s.guest.Page("/apps/charging", http.StatusOK), "Developerexample.org")
	beside(t, s.developer.Form("/account/public-name", url.Values{"public_name": {strings.Repeat("x", 61)}}).Want(t, http.StatusUnprocessableEntity).Body,
		"public_name", "at most 60 characters")
	s.developer.Form("/account/public-name", url.Values{"public_name": {"Ada Apps"}}).Want(t, http.StatusOK)
	if err := s.Apps.Load(t.Context()); err != nil { // as Run does
		t.Fatal(err)
	}
	httpapitest.Contains(t, s.guest.Page("/apps/charging", http.StatusOK), "DeveloperAda Apps")
}

// upload posts the form of an app as a browser does, with an icon.
func (s *appTest) upload(path string, fields url.Values, icon []byte) httpapitest.Reply {
	s.T.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for name, values := range fields {
		for _, value := range values {
			if err := form.WriteField(name, value); err != nil {
				s.T.Fatal(err)
			}
		}
	}
	file, err := form.CreateFormFile("icon", "icon")
	if err == nil {
		_, err = file.Write(icon)
	}
	if err = errors.Join(err, form.Close()); err != nil {
		s.T.Fatal(err)
	}
	return s.developer.Send(http.MethodPost, path, body.String(), "Content-Type", form.FormDataContentType(), "Origin", s.developer.Server.URL, "Sec-Fetch-Site", "same-origin")
}

func TestUploadAnIconByPage(t *testing.T) {
	s := newAppTest(t)
	svg := []byte(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><rect width="9" height="9"/></svg>`)
	beside(t, s.upload("/apps/new", appFields(nil), []byte("GIF89a")).Want(t, http.StatusUnprocessableEntity).Body, "icon", "This is not a PNG")
	beside(t, s.upload("/apps/new", appFields(nil), bytes.Repeat([]byte("x"), 65<<10)).Want(t, http.StatusUnprocessableEntity).Body, "icon", "The icon exceeds 64 KiB.")
	s.upload("/apps/new", appFields(nil), bytes.Repeat([]byte("x"), 1<<20)).Want(t, http.StatusBadRequest)
	answer := s.upload("/apps/new", appFields(nil), svg).Want(t, http.StatusOK)
	id := strings.TrimPrefix(answer.Request.URL.Path, "/apps/own/")
	icon := regexp.MustCompile(`/v2/apps/` + id + `/icons/[0-9a-f]+\.png`)
	path := icon.FindString(s.curator.Page("/apps/review/"+id, http.StatusOK))
	if path == "" {
		t.Fatal("the review shows no icon")
	}
	s.curator.Send(http.MethodGet, path, "").Want(t, http.StatusOK)
	s.guest.Send(http.MethodGet, path, "").Want(t, http.StatusNotFound) // the app waits
	for _, fields := range []url.Values{appFields(nil), appFields(url.Values{"icon_removed": {"on"}})} {
		s.upload("/apps/own/"+id+"/version", fields, nil).Want(t, http.StatusOK)
		if shown := icon.MatchString(s.developer.Page("/apps/own/"+id+"/version", http.StatusOK)); shown == fields.Has("icon_removed") {
			t.Errorf("with %v the icon is shown: %v", fields["icon_removed"], shown)
		}
	}
}
