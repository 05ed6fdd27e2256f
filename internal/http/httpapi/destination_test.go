package httpapi_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"wayside/internal/ground/mapdata"
)

// TestPhoneSendsADestinationToACar checks that a destination that a phone sends reaches one paired screen of the same account,
// once, within ten minutes.
func TestPhoneSendsADestinationToACar(t *testing.T) {
	const path, take = "/v2/account/destination", "/v2/account/destination/take"
	const sent = `{"lat": 52.1, "lng": 5.2, "name": "Town hall", "detail": "Demo Town"}`
	d := newTestService(t)
	phone := d.signedInAs("ada@example.org", mapdata.Driver)
	phone.send(http.MethodPut, path, sent).want(t, http.StatusConflict)
	screen := d.pairedScreen(phone)
	taken := func(want string) {
		t.Helper()
		got := strings.TrimSpace(screen.send(http.MethodPost, take, "").want(t, http.StatusOK).body)
		if got != want {
			t.Errorf("the screen takes %s, not %s", got, want)
		}
	}
	const nothing = `{"destination":null}`
	taken(nothing)
	phone.send(http.MethodPut, path, `{"lat": 1, "lng": 2}`).want(t, http.StatusNoContent)
	phone.send(http.MethodPut, path, sent).want(t, http.StatusNoContent)
	d.signedInAs("eve@example.org", mapdata.Driver).send(http.MethodPost, take, "").want(t, http.StatusOK)
	taken(`{"destination":{"lat":52.1,"lng":5.2,"name":"Town hall","detail":"Demo Town"}}`)
	taken(nothing)

	phone.send(http.MethodPut, path, sent).want(t, http.StatusNoContent)
	d.advance(10 * time.Minute)
	taken(nothing)

	screen.send(http.MethodPut, path, sent).wantProblem(t, http.StatusForbidden, "sign-in-required")
	for _, body := range []string{`{"lat": 91, "lng": 5}`, `{"lng": 5}`, `{"lat": 5}`, `{"lat": 5, "lng": 181}`, `{"lat": 5, "lng": 5, "name": "` + strings.Repeat("x", 201) + `"}`, `{"lat": 5, "lng": 5, "detail": "a\u202eb"}`} {
		phone.send(http.MethodPut, path, body).want(t, http.StatusUnprocessableEntity)
	}
}
