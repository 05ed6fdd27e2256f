package accounts_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"wayside/internal/ground/mapdata"
	"wayside/internal/http/httpapi/httpapitest"
)

// TestPhoneSendsADestinationToACar checks that a destination that a phone sends reaches one paired screen of the same account,
// once, within ten minutes.
func TestPhoneSendsADestinationToACar(t *testing.T) {
	const path, take = "/v2/account/destination", "/v2/account/destination/take"
	const sent = `{"lat": 52.1, "lng": 5.2, "name": "Town hall", "detail": "Demo Town"}`
	d := httpapitest.NewService(t)
	phone := d.SignedInAs("ada@example.org", mapdata.Driver)
	phone.Send(http.MethodPut, path, sent).Want(t, http.StatusConflict)
	screen := d.PairedScreen(phone)
	taken := func(want string) {
		t.Helper()
		got := strings.TrimSpace(screen.Send(http.MethodPost, take, "").Want(t, http.StatusOK).Body)
		if got != want {
			t.Errorf("the screen takes %s, not %s", got, want)
		}
	}
	const nothing = `{"destination":null}`
	taken(nothing)
	phone.Send(http.MethodPut, path, `{"lat": 1, "lng": 2}`).Want(t, http.StatusNoContent)
	phone.Send(http.MethodPut, path, sent).Want(t, http.StatusNoContent)
	d.SignedInAs("eve@example.org", mapdata.Driver).Send(http.MethodPost, take, "").Want(t, http.StatusOK)
	taken(`{"destination":{"lat":52.1,"lng":5.2,"name":"Town hall","detail":"Demo Town"}}`)
	taken(nothing)

	phone.Send(http.MethodPut, path, sent).Want(t, http.StatusNoContent)
	d.Advance(10 * time.Minute)
	taken(nothing)

	screen.Send(http.MethodPut, path, sent).WantProblem(t, http.StatusForbidden, "sign-in-required")
	for _, body := range []string{`{"lat": 91, "lng": 5}`, `{"lng": 5}`, `{"lat": 5}`, `{"lat": 5, "lng": 181}`, `{"lat": 5, "lng": 5, "name": "` + strings.Repeat("x", 201) + `"}`, `{"lat": 5, "lng": 5, "detail": "a\u202eb"}`} {
		phone.Send(http.MethodPut, path, body).Want(t, http.StatusUnprocessableEntity)
	}
}
