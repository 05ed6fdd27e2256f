package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"wayside/internal/mapdata"
)

// TestSavedPlacesOverHTTP: an account keeps places once its holder asked for that, for all its browsers and paired screens, and until one
// of them deletes them. Nobody reads them in the database.
func TestSavedPlacesOverHTTP(t *testing.T) {
	const path = "/v2/account/places"
	const none, all = `{"places":null}`, `{"places":{"home":{"lat":52.1,"lng":5.2,"name":"Domplein 9","detail":"Utrecht"},"recent":[{"lat":-1,"lng":2,"name":"","detail":""}]}}`
	d := newTestService(t)
	phone := d.signedInAs("ada@example.org", mapdata.Driver)
	screen, eve := d.pairedScreen(phone), d.signedInAs("eve@example.org", mapdata.Driver)
	read := func(b *browser) string {
		t.Helper()
		return strings.TrimSpace(b.send(http.MethodGet, path, "").want(t, http.StatusOK).body)
	}
	if got := read(phone); got != none {
		t.Errorf("before anything is kept: %s", got)
	}
	sent := strings.TrimSuffix(strings.TrimPrefix(all, `{"places":`), "}")
	if got := strings.TrimSpace(phone.send(http.MethodPut, path, sent).want(t, http.StatusOK).body); got != all {
		t.Errorf("answer to the places: %s", got)
	}
	if got := read(screen); got != all {
		t.Errorf("the car reads %s", got)
	}
	if got := read(eve); got != none {
		t.Errorf("another account reads %s", got)
	}
	ada, err := d.db.AccountByEmail(t.Context(), "ada@example.org")
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := d.db.SavedPlaces(t.Context(), ada.ID)
	if err != nil || len(sealed) == 0 || strings.Contains(string(sealed), "Domplein") || strings.Contains(string(sealed), "52.1") {
		t.Errorf("the database holds %q, %v", sealed, err)
	}
	if export := phone.send(http.MethodGet, "/v2/account/export", "").want(t, http.StatusOK).body; !strings.Contains(export, `"places":`+sent) {
		t.Errorf("the export has no places: %s", export)
	}
	screen.send(http.MethodPut, path, `{"recent":[]}`).want(t, http.StatusOK)
	if got := read(phone); got != `{"places":{"recent":[]}}` {
		t.Errorf("what the car replaced: %s", got)
	}
	screen.send(http.MethodDelete, path, "").want(t, http.StatusNoContent)
	if got := read(phone); got != none {
		t.Errorf("after they were deleted: %s", got)
	}
	if export := phone.send(http.MethodGet, "/v2/account/export", "").want(t, http.StatusOK).body; strings.Contains(export, `"places"`) {
		t.Errorf("the export has places that are deleted: %s", export)
	}
}

// TestSavedPlacesAreBounded: how many, how long, where.
func TestSavedPlacesAreBounded(t *testing.T) {
	const path = "/v2/account/places"
	d := newTestService(t)
	phone := d.signedInAs("ada@example.org", mapdata.Driver)
	place := func(name string) string {
		return `{"lat":52,"lng":5,"name":"` + name + `","detail":"` + strings.Repeat("é", 200) + `"}`
	}
	list := func(n int) string {
		return `{"home":` + place("h") + `,"work":` + place("w") + `,"recent":[` + strings.TrimSuffix(strings.Repeat(place(strings.Repeat("ü", 200))+",", n), ",") + `]}`
	}
	phone.send(http.MethodPut, path, list(10)).want(t, http.StatusOK)
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
		if got := phone.send(http.MethodPut, path, body).want(t, http.StatusUnprocessableEntity).body; !strings.Contains(got, `"field":`+field) {
			t.Errorf("%.60s is refused without the field %s: %s", body, field, got)
		}
	}
	phone.send(http.MethodPut, path, `{"recent":[`+strings.Repeat(" ", 64<<10)+`]}`).want(t, http.StatusRequestEntityTooLarge)
}
