package accounts_test

import (
	"net/http"
	"strings"
	"testing"

	"wayside/internal/ground/mapdata"
	"wayside/internal/http/httpapi/httpapitest"
)

// TestSavedPlacesOverHTTP checks that an account stores places once its holder asked for that, for all its browsers and paired
// screens, and until one of them deletes them, and that the database does not contain them in plain text.
func TestSavedPlacesOverHTTP(t *testing.T) {
	const path = "/v2/account/places"
	const none, all = `{"places":null}`, `{"places":{"home":{"lat":52.1,"lng":5.2,"name":"Domplein 9","detail":"Utrecht"},"recent":[{"lat":-1,"lng":2,"name":"","detail":""}]}}`
	d := httpapitest.NewService(t)
	phone := d.SignedInAs("ada@example.org", mapdata.Driver)
	screen, eve := d.PairedScreen(phone), d.SignedInAs("eve@example.org", mapdata.Driver)
	read := func(b *httpapitest.Browser) string {
		t.Helper()
		return strings.TrimSpace(b.Send(http.MethodGet, path, "").Want(t, http.StatusOK).Body)
	}
	if got := read(phone); got != none {
		t.Errorf("before anything is kept: %s", got)
	}
	sent := strings.TrimSuffix(strings.TrimPrefix(all, `{"places":`), "}")
	if got := strings.TrimSpace(phone.Send(http.MethodPut, path, sent).Want(t, http.StatusOK).Body); got != all {
		t.Errorf("answer to the places: %s", got)
	}
	if got := read(screen); got != all {
		t.Errorf("the car reads %s", got)
	}
	if got := read(eve); got != none {
		t.Errorf("another account reads %s", got)
	}
	ada, err := d.DB.AccountByEmail(t.Context(), "ada@example.org")
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := d.DB.SavedPlaces(t.Context(), ada.ID)
	if err != nil || len(sealed) == 0 || strings.Contains(string(sealed), "Domplein") || strings.Contains(string(sealed), "52.1") {
		t.Errorf("the database holds %q, %v", sealed, err)
	}
	if export := phone.Send(http.MethodGet, "/v2/account/export", "").Want(t, http.StatusOK).Body; !strings.Contains(export, `"places":`+sent) {
		t.Errorf("the export has no places: %s", export)
	}
	screen.Send(http.MethodPut, path, `{"recent":[{"lat":-1,"lng":2}]}`).Want(t, http.StatusOK)
	if got := read(phone); got != `{"places":{"recent":[{"lat":-1,"lng":2,"name":"","detail":""}]}}` {
		t.Errorf("what the car replaced: %s", got)
	}
	phone.Send(http.MethodDelete, path, "").Want(t, http.StatusNoContent)
	if got := read(phone); got != none {
		t.Errorf("after they were deleted: %s", got)
	}
	if export := phone.Send(http.MethodGet, "/v2/account/export", "").Want(t, http.StatusOK).Body; strings.Contains(export, `"places"`) {
		t.Errorf("the export has places that are deleted: %s", export)
	}
}

// TestSavedPlacesAreBounded checks the bounds of the number, the texts and the positions of places.
func TestSavedPlacesAreBounded(t *testing.T) {
	const path = "/v2/account/places"
	d := httpapitest.NewService(t)
	phone := d.SignedInAs("ada@example.org", mapdata.Driver)
	place := func(name string) string {
		return `{"lat":52,"lng":5,"name":"` + name + `","detail":"` + strings.Repeat("é", 200) + `"}`
	}
	list := func(n int) string {
		return `{"home":` + place("h") + `,"work":` + place("w") + `,"recent":[` + strings.TrimSuffix(strings.Repeat(place(strings.Repeat("ü", 200))+",", n), ",") + `]}`
	}
	phone.Send(http.MethodPut, path, list(10)).Want(t, http.StatusOK)
	for body, field := range map[string]string{
		list(11):                      `"recent"`,
		`{"home":{"lat":91,"lng":5}}`: `"home.lat"`,
		`{"work":{"lng":5}}`:          `"work.lat"`,
		`{"home":"there"}`:            `"home"`,
		`{"recent":[{"lat":1,"lng":2,"name":"a\u202eb"}]}`: `"recent[0].name"`,
		`{"recent":[{"lat":1,"lng":2},{"lat":1,"x":2}]}`:   `"recent[1].x"`,
		`{"recent":{}}`: `"recent"`,
		`{"home":{"lat":1,"lng":2,"name":"` + strings.Repeat("x", 201) + `"}}`: `"home.name"`,
	} {
		if got := phone.Send(http.MethodPut, path, body).Want(t, http.StatusUnprocessableEntity).Body; !strings.Contains(got, `"field":`+field) {
			t.Errorf("%.60s is refused without the field %s: %s", body, field, got)
		}
	}
	phone.Send(http.MethodPut, path, `{"recent":[`+strings.Repeat(" ", 64<<10)+`]}`).Want(t, http.StatusRequestEntityTooLarge)
}

// TestScreenRemovesOnePlace verifies that a paired screen reads, adds and changes saved places and removes one, but neither several at once
// nor the last one nor all of them (D11.3).
func TestScreenRemovesOnePlace(t *testing.T) {
	const path = "/v2/account/places"
	d := httpapitest.NewService(t)
	phone := d.SignedInAs("ada@example.org", mapdata.Driver)
	screen := d.PairedScreen(phone)
	const (
		home  = `{"lat":52,"lng":5,"name":"Home","detail":""}`
		work  = `{"lat":52.1,"lng":5.1,"name":"Work","detail":""}`
		one   = `{"lat":52.2,"lng":5.2,"name":"One","detail":""}`
		two   = `{"lat":52.3,"lng":5.3,"name":"Two","detail":""}`
		other = `{"lat":48,"lng":2,"name":"Other","detail":""}`
	)
	places := func(home, work, recent string) string {
		text := `{`
		if home != "" {
			text += `"home":` + home + `,`
		}
		if work != "" {
			text += `"work":` + work + `,`
		}
		return text + `"recent":[` + recent + `]}`
	}
	before := places(home, work, one+","+two)
	for name, step := range map[string]struct {
		from, to string
		ok       bool
	}{
		"the first":                      {"", places(home, "", ""), true},
		"one more":                       {before, places(home, work, other+","+one+","+two), true},
		"another order":                  {before, places(work, home, two+","+one), true},
		"home becomes a recent one":      {before, places("", work, home+","+one+","+two), true},
		"a name":                         {before, places(strings.Replace(home, "Home", "Mine", 1), work, one+","+two), true},
		"another home":                   {before, places(other, work, one+","+two), true},
		"one more and the oldest leaves": {before, places(home, work, other+","+one), true},
		"one fewer":                      {before, places(home, work, one), true},
		"no home":                        {before, places("", work, one+","+two), true},
		"two fewer":                      {before, places(home, work, ""), false},
		"two others":                     {before, places(other, `{"lat":49,"lng":2}`, one+","+two), false},
		"one that stands twice":          {places(home, "", one+","+one), places(home, "", ""), false},
		"none":                           {before, places("", "", ""), false},
		"the last one":                   {places(home, "", ""), places("", "", ""), false},
		"none of none":                   {places("", "", ""), places("", "", ""), true},
	} {
		phone.Send(http.MethodDelete, path, "").Want(t, http.StatusNoContent)
		if step.from != "" {
			phone.Send(http.MethodPut, path, step.from).Want(t, http.StatusOK)
		}
		got := screen.Send(http.MethodPut, path, step.to)
		if step.ok {
			if got.StatusCode != http.StatusOK {
				t.Errorf("%s: %d %s", name, got.StatusCode, got.Body)
			}
			continue
		}
		got.WantProblem(t, http.StatusForbidden, "sign-in-required")
		if kept := phone.Send(http.MethodGet, path, "").Want(t, http.StatusOK).Body; strings.TrimSpace(kept) != `{"places":`+step.from+`}` {
			t.Errorf("%s: after it was refused the places are %s", name, kept)
		}
	}
	screen.Send(http.MethodDelete, path, "").WantProblem(t, http.StatusForbidden, "sign-in-required")
	phone.Send(http.MethodPut, path, places("", "", "")).Want(t, http.StatusOK)
	phone.Send(http.MethodDelete, path, "").Want(t, http.StatusNoContent)
}
