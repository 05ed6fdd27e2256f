package httpapi_test

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
	s.t.Helper()
	answer := s.developer.form("/apps/new", appFields(change)).want(s.t, http.StatusOK)
	id, found := strings.CutPrefix(answer.Request.URL.Path, "/apps/own/")
	if !found {
		s.t.Fatalf("the form leads to %s", answer.Request.URL)
	}
	return id
}

// approvedByPage submits and approves an app on the pages.
func (s *appTest) approvedByPage() string {
	s.t.Helper()
	id := s.submitByPage(nil)
	s.curator.form("/apps/review/"+id+"/approve", url.Values{"number": {"1"}}).want(s.t, http.StatusOK)
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
	d := newTestServiceWith(t, serviceOptions{manage: 10_000, requests: 60, entities: 10_000, noApps: true})
	curator := d.signedInAs("curator@example.org", mapdata.Curator)
	id := "0192d3e4-5f60-7a1b-8c2d-3e4f5a6b7c8d"
	for _, path := range []string{"/apps", "/apps/charging", "/apps/new", "/apps/own", "/apps/own/" + id, "/apps/review/" + id, "/account/apps/" + id} {
		curator.page(path, http.StatusNotFound)
	}
	for _, path := range []string{"/account/public-name", "/account/apps/" + id, "/apps/new"} {
		curator.form(path, url.Values{"public_name": {"x"}}).want(t, http.StatusNotFound)
	}
	for _, path := range []string{"/account", "/review", "/about", "/sources", "/feeds"} {
		body := curator.page(path, http.StatusOK)
		for _, word := range []string{"/apps", "Apps", "app ", "public-name"} {
			if strings.Contains(body, word) {
				t.Errorf("%s says %q", path, word)
			}
		}
	}
}

func TestSubmitAnAppByPages(t *testing.T) {
	s := newAppTest(t)
	wrong := s.developer.form("/apps/new", appFields(url.Values{
		"name": {""}, "summary": {strings.Repeat("x", 141)}, "widget_url": {"http://apps.example.org/"}, "domains": {"192.0.2.1"},
		"cost_model": {"barter"}, "website_url": {"javascript:alert(1)"}, "config_schema": {`[{"key":"9a","label":"L","type":"text"},{"key":"b","label":"L","type":"select"}]`},
	})).want(t, http.StatusUnprocessableEntity).body
	for field, text := range map[string]string{
		"name": "Required.", "summary": "Too long.", "widget_url": "Enter an https URL", "domains": "domains[0]: Enter the name of a public host",
		"cost_model": "Choose one of the models.", "website_url": "Enter a URL that begins with https://",
	} {
		beside(t, wrong, field, text)
	}
	beside(t, wrong, "config_schema", "config_schema[0].key: A key begins with a lower-case letter")
	beside(t, wrong, "config_schema", "config_schema[1].options: A select needs at least one option.")
	malformed := s.developer.form("/apps/new", appFields(url.Values{"config_schema": {`[{"key":"a","key":"a"}]`}})).want(t, http.StatusUnprocessableEntity).body
	beside(t, malformed, "config_schema", "This is not valid JSON.")
	if strings.Count(malformed, "<li><a href") != 1 {
		t.Errorf("one error is listed as several: %s", malformed)
	}
	s.page.FrameOptions = []string{"DENY"}
	beside(t, s.developer.form("/apps/new", appFields(nil)).want(t, http.StatusUnprocessableEntity).body, "widget_url", "refuses to be framed")
	s.page.FrameOptions = nil
	contains(t, s.developer.page("/apps/own", http.StatusOK), "You have not submitted an app.")

	id := s.submitByPage(nil)
	contains(t, s.developer.page("/apps/own/"+id, http.StatusOK), "Version 1 is pending review")
	contains(t, s.curator.page("/review", http.StatusOK), "1 app pending review", "Charging", "Prices of chargers", "https://apps.example.org")
	s.driver.page("/apps/own/"+id, http.StatusNotFound)
	s.driver.page("/apps/review/"+id, http.StatusForbidden)

	review := s.curator.send(http.MethodGet, "/apps/review/"+id, "").want(t, http.StatusOK)
	contains(t, review.body, "Never approved.", "api.example.org", "cdn.example.org", "3 € a month", "options ccs | type2, default ccs", "The developer attached no report.")
	if policy := review.Header.Get("Content-Security-Policy"); !strings.HasSuffix(policy, "; frame-src https://apps.example.org") {
		t.Errorf("the policy of the review is %q", policy)
	}
	if !strings.Contains(review.body, `src="https://apps.example.org/charging" sandbox="allow-scripts allow-same-origin allow-forms" allow="" referrerpolicy="no-referrer"`) {
		t.Error("the preview is not sandboxed as in the car")
	}
	beside(t, s.curator.form("/apps/review/"+id+"/reject", url.Values{"number": {"1"}, "note": {" "}}).want(t, http.StatusUnprocessableEntity).body, "note", "Enter a note")
	s.curator.form("/apps/review/"+id+"/reject", url.Values{"number": {"1"}, "note": {"Say more.\nPlease."}}).want(t, http.StatusOK)
	contains(t, s.developer.page("/apps/own/"+id, http.StatusOK), "Version 1 was rejected", "Say more. Please.")

	again := s.developer.page("/apps/own/"+id+"/version", http.StatusOK)
	for _, kept := range []string{`value="Charging"`, "api.example.org\ncdn.example.org", "&#34;secret&#34;:true", `value="subscription" checked`} {
		if !strings.Contains(again, kept) {
			t.Errorf("the form of a new version lacks %s", kept)
		}
	}
	s.developer.form("/apps/own/"+id+"/version", appFields(nil)).want(t, http.StatusOK)
	s.curator.form("/apps/review/"+id+"/approve", url.Values{"number": {"2"}}).want(t, http.StatusOK)
	contains(t, s.guest.page("/apps", http.StatusOK), "Charging", "Prices of chargers")
	contains(t, s.guest.page("/apps?kind=pins", http.StatusOK), "There is no app here yet.")
	contains(t, s.guest.page("/apps/charging", http.StatusOK),
		"api.example.org", "3 € a month", "Nothing is paid here", "your position, speed, heading or route", "your network address")
}

func TestResubmitAndDecideByPages(t *testing.T) {
	s := newAppTest(t)
	id := s.approvedByPage()
	refused := s.developer.form("/apps/own/"+id+"/version", appFields(url.Values{"config_schema": {`[{"key":"plug","label":"Plug","type":"text"}]`}})).want(t, http.StatusUnprocessableEntity).body
	beside(t, refused, "config_schema", "config_schema[0].type: The approved version has another type.")
	s.developer.form("/apps/own/"+id+"/version", appFields(url.Values{"name": {"Chargers"}, "domains": {"api.example.org"}})).want(t, http.StatusOK)
	contains(t, s.curator.page("/apps/review/"+id, http.StatusOK), "Changed since version 1", "Approved: Charging", "Now: Chargers", "Approved: api.example.org cdn.example.org")
	contains(t, s.guest.page("/apps", http.StatusOK), "Charging") // the approved version
	s.developer.form("/apps/own/"+id+"/withdraw", url.Values{"number": {"2"}}).want(t, http.StatusOK)
	contains(t, s.developer.page("/apps/own/"+id, http.StatusOK), "Withdrawn", "Version 1 is approved")
	s.curator.form("/apps/review/"+id+"/approve", url.Values{"number": {"2"}}).want(t, http.StatusConflict)

	s.curator.form("/apps/review/"+id+"/suspend", url.Values{"note": {"It floods."}}).want(t, http.StatusOK)
	s.guest.page("/apps/charging", http.StatusNotFound)
	contains(t, s.curator.page("/review", http.StatusOK), "Suspended apps", "It floods.")
	contains(t, s.developer.page("/apps/own/"+id, http.StatusOK), "A curator suspended this app", "It floods.")
	s.curator.form("/apps/review/"+id+"/resume", url.Values{}).want(t, http.StatusOK)
	s.guest.page("/apps/charging", http.StatusOK)

	s.developer.form("/apps/own/"+id+"/version", appFields(nil)).want(t, http.StatusOK)
	s.page.Status = http.StatusBadGateway
	contains(t, s.curator.form("/apps/review/"+id+"/approve", url.Values{"number": {"3"}}).want(t, http.StatusUnprocessableEntity).body,
		"This version can’t be approved", "The page could not be fetched.")
}

func TestInstallAnAppByPages(t *testing.T) {
	s := newAppTest(t)
	id := s.approvedByPage()
	path := "/account/apps/" + id
	if to := s.guest.withoutRedirects().send(http.MethodGet, path, "").want(t, http.StatusSeeOther).Header.Get("Location"); !strings.HasPrefix(to, "/sign-in?next=") {
		t.Errorf("a guest is sent to %s", to)
	}
	s.driver.page(path, http.StatusOK)
	contains(t, s.driver.page("/account", http.StatusOK), "You have not installed an app.") // opening a page installs nothing
	wrong := s.driver.form(path, url.Values{"config.plug": {"x"}, "config.power": {"much"}, "config.token": {" "}}).want(t, http.StatusUnprocessableEntity).body
	beside(t, wrong, "config.token", "Required.")
	beside(t, wrong, "config.plug", "does not accept this value")
	beside(t, wrong, "config.power", "does not accept this value")

	secret := "s3cret-0815"
	installed := s.driver.form(path, url.Values{"config.plug": {"type2"}, "config.power": {"22,5"}, "config.token": {secret}, "config.free": {"on"}}).want(t, http.StatusOK).body
	contains(t, installed, "Installed.", "The app is shown beside the map.")
	for _, page := range []string{installed, s.driver.page(path, http.StatusOK), s.driver.page("/account", http.StatusOK), wrong} {
		if strings.Contains(page, secret) {
			t.Error("a page shows the secret")
		}
	}
	if !strings.Contains(installed, `value="••••"`) {
		t.Error("the secret is not masked")
	}
	config := func() string {
		return s.driver.send(http.MethodPost, "/v2/account/apps/"+id+"/frame", "{}").want(t, http.StatusOK).body
	}
	for _, want := range []string{`"token":"` + secret + `"`, `"plug":"type2"`, `"power":22.5`, `"free":true`} {
		if !strings.Contains(config(), want) {
			t.Errorf("the app gets %s, want %s", config(), want)
		}
	}
	s.driver.form(path, url.Values{"config.plug": {""}, "config.power": {""}, "config.token": {"••••"}}).want(t, http.StatusOK)
	if got := config(); !strings.Contains(got, secret) || strings.Contains(got, "power") || !strings.Contains(got, `"free":false`) {
		t.Errorf("with the mask sent back the app gets %s", got)
	}
	contains(t, s.driver.form(path+"/show", url.Values{"hidden": {"yes"}}).want(t, http.StatusOK).body, "The app is hidden.")
	contains(t, s.driver.page(path+"/uninstall", http.StatusOK), "Uninstall Charging?", "settings for it are deleted")
	s.driver.form(path+"/uninstall", url.Values{}).want(t, http.StatusOK)
	s.driver.page(path+"/uninstall", http.StatusNotFound)

	screen := s.pairedScreen(s.driver)
	screen.form(path, url.Values{"config.token": {"x"}}).want(t, http.StatusForbidden)
}

func TestPublicNameByPage(t *testing.T) {
	s := newAppTest(t)
	s.approvedByPage()
	contains(t, s.guest.page("/apps/charging", http.StatusOK), "Developerexample.org")
	beside(t, s.developer.form("/account/public-name", url.Values{"public_name": {strings.Repeat("x", 61)}}).want(t, http.StatusUnprocessableEntity).body,
		"public_name", "at most 60 characters")
	s.developer.form("/account/public-name", url.Values{"public_name": {"Ada Apps"}}).want(t, http.StatusOK)
	if err := s.apps.Load(t.Context()); err != nil { // as Run does
		t.Fatal(err)
	}
	contains(t, s.guest.page("/apps/charging", http.StatusOK), "DeveloperAda Apps")
}

// upload posts the form of an app as a browser does, with an icon.
func (s *appTest) upload(path string, fields url.Values, icon []byte) reply {
	s.t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for name, values := range fields {
		for _, value := range values {
			if err := form.WriteField(name, value); err != nil {
				s.t.Fatal(err)
			}
		}
	}
	file, err := form.CreateFormFile("icon", "icon")
	if err == nil {
		_, err = file.Write(icon)
	}
	if err = errors.Join(err, form.Close()); err != nil {
		s.t.Fatal(err)
	}
	return s.developer.send(http.MethodPost, path, body.String(), "Content-Type", form.FormDataContentType(), "Origin", s.developer.server.URL, "Sec-Fetch-Site", "same-origin")
}

func TestUploadAnIconByPage(t *testing.T) {
	s := newAppTest(t)
	svg := []byte(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><rect width="9" height="9"/></svg>`)
	beside(t, s.upload("/apps/new", appFields(nil), []byte("GIF89a")).want(t, http.StatusUnprocessableEntity).body, "icon", "This is not a PNG")
	beside(t, s.upload("/apps/new", appFields(nil), bytes.Repeat([]byte("x"), 65<<10)).want(t, http.StatusUnprocessableEntity).body, "icon", "The icon exceeds 64 KiB.")
	s.upload("/apps/new", appFields(nil), bytes.Repeat([]byte("x"), 1<<20)).want(t, http.StatusBadRequest)
	answer := s.upload("/apps/new", appFields(nil), svg).want(t, http.StatusOK)
	id := strings.TrimPrefix(answer.Request.URL.Path, "/apps/own/")
	icon := regexp.MustCompile(`/v2/apps/` + id + `/icons/[0-9a-f]+\.png`)
	path := icon.FindString(s.curator.page("/apps/review/"+id, http.StatusOK))
	if path == "" {
		t.Fatal("the review shows no icon")
	}
	s.curator.send(http.MethodGet, path, "").want(t, http.StatusOK)
	s.guest.send(http.MethodGet, path, "").want(t, http.StatusNotFound) // the app waits
	for _, fields := range []url.Values{appFields(nil), appFields(url.Values{"icon_removed": {"on"}})} {
		s.upload("/apps/own/"+id+"/version", fields, nil).want(t, http.StatusOK)
		if shown := icon.MatchString(s.developer.page("/apps/own/"+id+"/version", http.StatusOK)); shown == fields.Has("icon_removed") {
			t.Errorf("with %v the icon is shown: %v", fields["icon_removed"], shown)
		}
	}
}
