package accounts_test

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"rsc.io/qr"

	"wayside/internal/ground/mapdata"
	"wayside/internal/http/httpapi/httpapitest"
)

// carAgent is the User-Agent of a car's browser.
const carAgent = "Mozilla/5.0 (X11; GNU/Linux) AppleWebKit/537.36 (KHTML, like Gecko) Chromium/79.0.3945.130 Chrome/79.0.3945.130 " +
	"Safari/537.36 Tesla/2020.16.2.1-e99c70fff409"

func problemType(t *testing.T, r httpapitest.Reply) string {
	t.Helper()
	var p struct{ Type string }
	r.Decode(t, &p)
	return strings.TrimPrefix(p.Type, "/docs#problem-")
}

func TestPairingOverHTTP(t *testing.T) {
	d := httpapitest.NewService(t)
	phone, car := d.SignedInAs("ada@example.org", mapdata.Driver), d.Screen(carAgent)
	bare := strings.ReplaceAll(car.UserCode, "-", "")
	if car.URL != "http://wayside.test/pair" || car.WholeURL != car.URL+"?code="+bare || car.Interval != 5 || car.ExpiresAt != "2026-11-21T08:10:00.000Z" {
		t.Errorf("the screen got %+v", car)
	}
	if r := car.Poll().Want(t, http.StatusAccepted); r.Body != `{"status":"pending"}`+"\n" || len(r.Cookies()) > 0 {
		t.Errorf("before: %s", r.Body)
	}
	found := phone.Pairing("/v2/auth/pair/" + strings.ToLower(bare)).Pairing
	if found.Device != "Chromium 79 on a Tesla" || found.Agent != carAgent || found.Status != "pending" || found.CreatedAt != "2026-11-21T08:00:00.000Z" {
		t.Errorf("the phone got %+v", found)
	}
	car.Next().Want(t, http.StatusAccepted)
	phone.Send(http.MethodPost, car.Path()+"/approve", "").Want(t, http.StatusOK)
	r := car.Next().Want(t, http.StatusOK)
	r.Cookie(t, false)
	var answer struct{ Account struct{ Email string } }
	if r.Decode(t, &answer); answer.Account.Email != "ada@example.org" {
		t.Errorf("signed in as %s", answer.Account.Email)
	}
	car.Send(http.MethodGet, "/v2/account", "").Want(t, http.StatusOK)
	if got := problemType(t, car.Next().Want(t, http.StatusGone)); got != "pairing-ended" {
		t.Errorf("the second time: %s", got)
	}
	if status := phone.Pairing(car.Path()).Pairing.Status; status != "used" {
		t.Errorf("the phone got %s", status)
	}
	var list struct{ Sessions []struct{ ID, Agent string } }
	phone.Send(http.MethodGet, "/v2/account/sessions", "").Want(t, http.StatusOK).Decode(t, &list)
	if len(list.Sessions) != 2 || list.Sessions[1].Agent != carAgent {
		t.Fatalf("sessions %+v", list.Sessions)
	}
	phone.Send(http.MethodDelete, "/v2/account/sessions/"+list.Sessions[1].ID, "").Want(t, http.StatusNoContent)
	car.Send(http.MethodGet, "/v2/account", "").Want(t, http.StatusUnauthorized)
	if log := d.Log.String(); strings.Contains(log, car.DeviceCode) || strings.Contains(log, bare) {
		t.Errorf("log: %s", log)
	}
}

func TestPairingDeniedOverHTTP(t *testing.T) {
	d := httpapitest.NewService(t)
	phone, other, car := d.SignedInAs("ada@example.org", mapdata.Driver), d.SignedInAs("eve@example.org", mapdata.Driver), d.Screen(carAgent)
	phone.Send(http.MethodPost, car.Path()+"/deny", "").Want(t, http.StatusOK)
	phone.Send(http.MethodPost, car.Path()+"/deny", "").Want(t, http.StatusOK)
	phone.Send(http.MethodPost, car.Path()+"/approve", "").Want(t, http.StatusConflict)
	other.Send(http.MethodPost, car.Path()+"/approve", "").Want(t, http.StatusConflict)
	if got := problemType(t, car.Poll().Want(t, http.StatusGone)); got != "pairing-denied" {
		t.Errorf("problem %s", got)
	}
}

func TestPairingEndsOverHTTP(t *testing.T) {
	d := httpapitest.NewService(t)
	phone, car := d.SignedInAs("ada@example.org", mapdata.Driver), d.Screen(carAgent)
	d.Advance(10*time.Minute - time.Millisecond)
	car.Poll().Want(t, http.StatusAccepted)
	phone.Send(http.MethodGet, car.Path(), "").Want(t, http.StatusOK)
	d.Advance(time.Millisecond)
	phone.Send(http.MethodPost, car.Path()+"/approve", "").Want(t, http.StatusNotFound)
	if got := problemType(t, car.Next().Want(t, http.StatusGone)); got != "pairing-ended" {
		t.Errorf("problem %s", got)
	}
}

func TestPairingNeedsASession(t *testing.T) {
	d := httpapitest.NewService(t)
	phone, car := d.SignedInAs("ada@example.org", mapdata.Driver), d.Screen(carAgent)
	elsewhere := []string{"Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site"}
	for _, step := range []struct{ method, path string }{{http.MethodGet, ""}, {http.MethodPost, "/approve"}, {http.MethodPost, "/deny"}} {
		d.Browser().Send(step.method, car.Path()+step.path, "").Want(t, http.StatusUnauthorized)
		if step.method == http.MethodPost {
			phone.Send(step.method, car.Path()+step.path, "", elsewhere...).Want(t, http.StatusForbidden)
		}
	}
	d.Browser().Send(http.MethodPost, "/v2/auth/pair", `{}`, elsewhere...).Want(t, http.StatusForbidden)
	d.Browser().Send(http.MethodPost, "/v2/auth/pair", `{}`, "Content-Type", "text/plain").Want(t, http.StatusUnsupportedMediaType)
	if got := d.Browser().Send(http.MethodPost, "/v2/auth/pair", `{"name": "x"}`).Want(t, http.StatusUnprocessableEntity).FieldErrors(t); got[0] != "name unknown_field" {
		t.Errorf("wrong %v", got)
	}
	if got := d.Browser().Send(http.MethodPost, "/v2/auth/pair/token", `{}`).Want(t, http.StatusUnprocessableEntity).FieldErrors(t); got[0] != "device_code missing" {
		t.Errorf("wrong %v", got)
	}
	d.Browser().Send(http.MethodPost, "/v2/auth/pair/token", `{"device_code": "x"}`).Want(t, http.StatusGone)
	car.Poll().Want(t, http.StatusAccepted)
}

// TestPairingLimits checks the limits of pairing and of polls.
func TestPairingLimits(t *testing.T) {
	d := httpapitest.NewService(t)
	begin := func(from string) httpapitest.Reply {
		return d.Browser().Send(http.MethodPost, "/v2/auth/pair", `{}`, "X-Forwarded-For", from)
	}
	for range 10 {
		begin("192.0.2.1").Want(t, http.StatusCreated)
	}
	if r := begin("192.0.2.1").Want(t, http.StatusTooManyRequests); r.Header.Get("Retry-After") != "360" {
		t.Errorf("Retry-After %s", r.Header.Get("Retry-After"))
	}
	car := &httpapitest.Screen{Browser: d.Browser()}
	begin("192.0.2.2").Want(t, http.StatusCreated).Decode(t, car)
	car.Poll().Want(t, http.StatusAccepted)
	d.Advance(3 * time.Second)
	if r := car.Poll().Want(t, http.StatusTooManyRequests); r.Header.Get("Retry-After") != "1" {
		t.Errorf("Retry-After %s", r.Header.Get("Retry-After"))
	}
	d.Advance(time.Second) // the wait is not over yet
	car.Poll().Want(t, http.StatusAccepted)
	for range 20 {
		car.Next().Want(t, http.StatusAccepted)
	}
}

// TestWrongCodesOverHTTP checks that after five wrong codes an account must wait, and so must a client address with any account.
func TestWrongCodesOverHTTP(t *testing.T) {
	d := httpapitest.NewService(t)
	car := d.Screen(carAgent)
	at := func(address string) []string { return []string{"X-Forwarded-For", address} }
	for name, froms := range map[string][2]string{"an account": {"192.0.2.1", "192.0.2.9"}, "an address": {"192.0.2.2", "192.0.2.2"}} {
		t.Run(name, func(t *testing.T) {
			mail := strings.ReplaceAll(name, " ", ".") + "@example.org"
			phone := d.SignedInAs(mail, mapdata.Driver)
			phone.Send(http.MethodGet, "/v2/auth/pair/nonsense", "", at(froms[0])...).Want(t, http.StatusNotFound) // not counted
			for i := range 5 {
				method, tail := http.MethodGet, ""
				if i%2 == 1 {
					method, tail = http.MethodPost, "/approve"
				}
				phone.Send(method, "/v2/auth/pair/ZZZZZZZ"+string("BCDFG"[i])+tail, "", at(froms[0])...).Want(t, http.StatusNotFound)
				phone.Send(http.MethodGet, car.Path(), "", at("192.0.2.77")...) // correct codes do not count
			}
			if name == "an address" {
				phone = d.SignedInAs("second."+mail, mapdata.Driver)
			}
			r := phone.Send(http.MethodGet, car.Path(), "", at(froms[1])...).Want(t, http.StatusTooManyRequests)
			if r.Header.Get("Retry-After") != "120" {
				t.Errorf("Retry-After %s", r.Header.Get("Retry-After"))
			}
			page := phone.Send(http.MethodGet, "/pair?code="+car.UserCode, "", at(froms[1])...).Want(t, http.StatusTooManyRequests)
			if !strings.Contains(page.Body, "Too many requests") || page.Header.Get("Retry-After") != "120" {
				t.Errorf("page: %s", page.Body)
			}
		})
	}
}

// TestWrongCodesEndAPairing checks that five wrong codes with the pairing's prefix end it, from any accounts and addresses.
func TestWrongCodesEndAPairing(t *testing.T) {
	d := httpapitest.NewService(t)
	car, phone := d.Screen(carAgent), d.SignedInAs("ada@example.org", mapdata.Driver)
	for i := range 5 {
		code := []byte(car.UserCode)
		code[8] = "BCDFGH"[i]
		if string(code) == car.UserCode {
			code[8] = 'H'
		}
		eve := d.SignedInAs(fmt.Sprintf("eve%d@example.org", i), mapdata.Driver)
		eve.Send(http.MethodPost, "/v2/auth/pair/"+string(code)+"/approve", "", "X-Forwarded-For", fmt.Sprintf("192.0.2.%d", i)).Want(t, http.StatusNotFound)
	}
	phone.Send(http.MethodPost, car.Path()+"/approve", "").Want(t, http.StatusNotFound)
	if got := problemType(t, car.Poll().Want(t, http.StatusGone)); got != "pairing-ended" {
		t.Errorf("problem %s", got)
	}
}

func TestPairingQR(t *testing.T) {
	d := httpapitest.NewService(t)
	b, car := d.Browser(), d.Screen(carAgent)
	known := b.Send(http.MethodGet, "/v2/auth/pair/qr?code="+car.UserCode, "").Want(t, http.StatusOK)
	unknown := b.Send(http.MethodGet, "/v2/auth/pair/qr?code=zzzz-zzzz", "").Want(t, http.StatusOK)
	for _, header := range []string{"Content-Length", "Date"} {
		known.Header.Del(header)
		unknown.Header.Del(header)
	}
	if diff := cmp.Diff(known.Header, unknown.Header); diff != "" {
		t.Errorf("the QR codes of a pairing and of an unknown code differ in their headers:\n%s", diff)
	}
	h := known.Header
	if h.Get("Content-Type") != "image/svg+xml" || h.Get("Cache-Control") != "no-store" || h.Get("Content-Security-Policy") != "default-src 'none'; frame-ancestors 'none'" {
		t.Errorf("header %v", h)
	}
	dec := xml.NewDecoder(strings.NewReader(known.Body))
	for {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := tok.(xml.StartElement); ok && e.Name.Local != "svg" && e.Name.Local != "path" {
			t.Errorf("the drawing holds <%s>", e.Name.Local)
		}
	}
	for _, query := range []string{"", "?code=", "?code=BCDFGHJ", "?code=%3Cscript%3E", "?code=BCDFGHJK&code=BCDFGHJK", "?code=%zz", "?code=BCDFGHJA"} {
		b.Send(http.MethodGet, "/v2/auth/pair/qr"+query, "").Want(t, http.StatusBadRequest)
	}
}

// TestPairingQREncodesTheURL checks that the drawing encodes the URL with the code, and has the quiet zone that scanners need.
func TestPairingQREncodesTheURL(t *testing.T) {
	d := httpapitest.NewService(t)
	drawing := d.Browser().Send(http.MethodGet, "/v2/auth/pair/qr?code=bcdf-ghjk", "").Want(t, http.StatusOK).Body
	code, err := qr.Encode("http://wayside.test/pair?code=BCDFGHJK", qr.M)
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf(`viewBox="0 0 %d %[1]d"`, code.Size+8); !strings.Contains(drawing, want) {
		t.Errorf("the drawing lacks %s", want)
	}
	black := map[[2]int]bool{}
	for _, run := range regexp.MustCompile(`M(\d+) (\d+)h(\d+)v1h-(\d+)z`).FindAllStringSubmatch(drawing, -1) {
		var x, y, n int
		if _, err := fmt.Sscan(run[1], &x); err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Sscan(run[2], &y); err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Sscan(run[3], &n); err != nil || run[4] != run[3] {
			t.Fatalf("%s: %v", run[0], err)
		}
		for i := range n {
			black[[2]int{x + i - 4, y - 4}] = true
		}
	}
	for y := range code.Size {
		for x := range code.Size {
			if code.Black(x, y) != black[[2]int{x, y}] {
				t.Fatalf("at %d, %d the drawing is wrong", x, y)
			}
			delete(black, [2]int{x, y})
		}
	}
	if len(black) > 0 {
		t.Errorf("%d modules are outside", len(black))
	}
}

func TestPreferencesOverHTTP(t *testing.T) {
	d := httpapitest.NewService(t)
	ada, eve := d.SignedInAs("ada@example.org", mapdata.Driver), d.SignedInAs("eve@example.org", mapdata.Driver)
	const path = "/v2/account/preferences"
	d.Browser().Send(http.MethodGet, path, "").Want(t, http.StatusUnauthorized)
	read := func(b *httpapitest.Browser) string {
		return strings.TrimSpace(b.Send(http.MethodGet, path, "").Want(t, http.StatusOK).Body)
	}
	if got := read(ada); got != `{"preferences":{}}` {
		t.Errorf("at first: %s", got)
	}
	const all = `{"units":"imperial","theme":"night","language":"fr","density":2.5,"tones":false,"lead":0.5,"sources_off":["incidents"],"kinds_off":["alert.police"],"networks":[]}`
	if r := ada.Send(http.MethodPut, path, all).Want(t, http.StatusOK); strings.TrimSpace(r.Body) != `{"preferences":`+all+`}` {
		t.Errorf("answer %s", r.Body)
	}
	if got := read(ada); got != `{"preferences":`+all+`}` {
		t.Errorf("stored %s", got)
	}
	if got := read(eve); got != `{"preferences":{}}` {
		t.Errorf("another account's preferences: %s", got)
	}
	ada.Send(http.MethodPut, path, `{"theme":"day","units":null}`).Want(t, http.StatusOK)
	if got := read(ada); got != `{"preferences":{"theme":"day"}}` {
		t.Errorf("replaced: %s", got)
	}
	for body, want := range map[string][]string{
		`{"theme":"dark","colour":"red","units":1}`: {"units invalid_type", "colour unknown_field", "theme invalid_theme"},
		`{"density":"3","tones":"yes","lead":"x"}`:  {"density invalid_type", "tones invalid_type", "lead invalid_type"},
		`{"sources_off":"incidents"}`:               {"sources_off invalid_type"},
		`{"sources_off":["incidents",null]}`:        {"sources_off invalid_type"},
		`{"kinds_off":[["alert.police"]]}`:          {"kinds_off invalid_type"},
		`{"lead":1e999}`:                            {"lead out_of_range"},
		`{"language":"pt"}`:                         {"language invalid_language"},
	} {
		if diff := cmp.Diff(want, ada.Send(http.MethodPut, path, body).Want(t, http.StatusUnprocessableEntity).FieldErrors(t)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", body, diff)
		}
	}
	ada.Send(http.MethodPut, path, `[]`).Want(t, http.StatusBadRequest)
	fits := `{"theme":"night"` + strings.Repeat(" ", 8<<10-17) + `}`
	ada.Send(http.MethodPut, path, fits).Want(t, http.StatusOK)
	ada.Send(http.MethodPut, path, fits+" ").Want(t, http.StatusRequestEntityTooLarge)
	ada.Send(http.MethodPut, path, `{}`, "Origin", "https://evil.example").Want(t, http.StatusForbidden)
	if got := read(ada); got != `{"preferences":{"theme":"night"}}` {
		t.Errorf("after refusals: %s", got)
	}
}
