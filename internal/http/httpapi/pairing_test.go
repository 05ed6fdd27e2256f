package httpapi_test

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"rsc.io/qr"

	"wayside/internal/ground/mapdata"
)

// carAgent is the User-Agent of a car's browser.
const carAgent = "Mozilla/5.0 (X11; GNU/Linux) AppleWebKit/537.36 (KHTML, like Gecko) Chromium/79.0.3945.130 Chrome/79.0.3945.130 " +
	"Safari/537.36 Tesla/2020.16.2.1-e99c70fff409"

// screen is a car's browser that asks to be signed in.
type screen struct {
	*browser
	UserCode   string `json:"user_code"`
	DeviceCode string `json:"device_code"`
	URL        string `json:"verification_url"`
	WholeURL   string `json:"verification_url_complete"`
	ExpiresAt  string `json:"expires_at"`
	Interval   int    `json:"interval_seconds"`
}

func (d *testService) screen(agent string) *screen {
	d.t.Helper()
	s := &screen{browser: d.browser()}
	s.send(http.MethodPost, "/v2/auth/pair", `{}`, "User-Agent", agent).want(d.t, http.StatusCreated).decode(d.t, s)
	return s
}

func (s *screen) poll() reply {
	s.t.Helper()
	return s.send(http.MethodPost, "/v2/auth/pair/token", fmt.Sprintf(`{"device_code": %q}`, s.DeviceCode))
}

// next polls at the earliest time allowed.
func (s *screen) next() reply {
	s.t.Helper()
	s.advance(5 * time.Second)
	return s.poll()
}

func (s *screen) path() string { return "/v2/auth/pair/" + s.UserCode }

// pairingView is a phone's view of a screen.
type pairingView struct {
	Pairing struct {
		UserCode, Status, Device, Agent string
		CreatedAt                       string `json:"created_at"`
		ExpiresAt                       string `json:"expires_at"`
	}
}

func (b *browser) pairing(path string) pairingView {
	b.t.Helper()
	var s pairingView
	b.send(http.MethodGet, path, "").want(b.t, http.StatusOK).decode(b.t, &s)
	return s
}

func problemType(t *testing.T, r reply) string {
	t.Helper()
	var p struct{ Type string }
	r.decode(t, &p)
	return strings.TrimPrefix(p.Type, "/docs#problem-")
}

func TestPairingOverHTTP(t *testing.T) {
	d := newTestService(t)
	phone, car := d.signedInAs("ada@example.org", mapdata.Driver), d.screen(carAgent)
	bare := strings.ReplaceAll(car.UserCode, "-", "")
	if car.URL != "http://wayside.test/pair" || car.WholeURL != car.URL+"?code="+bare || car.Interval != 5 || car.ExpiresAt != "2026-11-21T08:10:00.000Z" {
		t.Errorf("the screen got %+v", car)
	}
	if r := car.poll().want(t, http.StatusAccepted); r.body != `{"status":"pending"}`+"\n" || len(r.Cookies()) > 0 {
		t.Errorf("before: %s", r.body)
	}
	found := phone.pairing("/v2/auth/pair/" + strings.ToLower(bare)).Pairing
	if found.Device != "Chromium 79 on a Tesla" || found.Agent != carAgent || found.Status != "pending" || found.CreatedAt != "2026-11-21T08:00:00.000Z" {
		t.Errorf("the phone got %+v", found)
	}
	car.next().want(t, http.StatusAccepted)
	phone.send(http.MethodPost, car.path()+"/approve", "").want(t, http.StatusOK)
	r := car.next().want(t, http.StatusOK)
	r.cookie(t, false)
	var answer struct{ Account struct{ Email string } }
	if r.decode(t, &answer); answer.Account.Email != "ada@example.org" {
		t.Errorf("signed in as %s", answer.Account.Email)
	}
	car.send(http.MethodGet, "/v2/account", "").want(t, http.StatusOK)
	if got := problemType(t, car.next().want(t, http.StatusGone)); got != "pairing-ended" {
		t.Errorf("the second time: %s", got)
	}
	if status := phone.pairing(car.path()).Pairing.Status; status != "used" {
		t.Errorf("the phone got %s", status)
	}
	var list struct{ Sessions []struct{ ID, Agent string } }
	phone.send(http.MethodGet, "/v2/account/sessions", "").want(t, http.StatusOK).decode(t, &list)
	if len(list.Sessions) != 2 || list.Sessions[1].Agent != carAgent {
		t.Fatalf("sessions %+v", list.Sessions)
	}
	phone.send(http.MethodDelete, "/v2/account/sessions/"+list.Sessions[1].ID, "").want(t, http.StatusNoContent)
	car.send(http.MethodGet, "/v2/account", "").want(t, http.StatusUnauthorized)
	if log := d.log.String(); strings.Contains(log, car.DeviceCode) || strings.Contains(log, bare) {
		t.Errorf("log: %s", log)
	}
}

func TestPairingDeniedOverHTTP(t *testing.T) {
	d := newTestService(t)
	phone, other, car := d.signedInAs("ada@example.org", mapdata.Driver), d.signedInAs("eve@example.org", mapdata.Driver), d.screen(carAgent)
	phone.send(http.MethodPost, car.path()+"/deny", "").want(t, http.StatusOK)
	phone.send(http.MethodPost, car.path()+"/deny", "").want(t, http.StatusOK)
	phone.send(http.MethodPost, car.path()+"/approve", "").want(t, http.StatusConflict)
	other.send(http.MethodPost, car.path()+"/approve", "").want(t, http.StatusConflict)
	if got := problemType(t, car.poll().want(t, http.StatusGone)); got != "pairing-denied" {
		t.Errorf("problem %s", got)
	}
}

func TestPairingEndsOverHTTP(t *testing.T) {
	d := newTestService(t)
	phone, car := d.signedInAs("ada@example.org", mapdata.Driver), d.screen(carAgent)
	d.advance(10*time.Minute - time.Millisecond)
	car.poll().want(t, http.StatusAccepted)
	phone.send(http.MethodGet, car.path(), "").want(t, http.StatusOK)
	d.advance(time.Millisecond)
	phone.send(http.MethodPost, car.path()+"/approve", "").want(t, http.StatusNotFound)
	if got := problemType(t, car.next().want(t, http.StatusGone)); got != "pairing-ended" {
		t.Errorf("problem %s", got)
	}
}

func TestPairingNeedsASession(t *testing.T) {
	d := newTestService(t)
	phone, car := d.signedInAs("ada@example.org", mapdata.Driver), d.screen(carAgent)
	elsewhere := []string{"Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site"}
	for _, step := range []struct{ method, path string }{{http.MethodGet, ""}, {http.MethodPost, "/approve"}, {http.MethodPost, "/deny"}} {
		d.browser().send(step.method, car.path()+step.path, "").want(t, http.StatusUnauthorized)
		if step.method == http.MethodPost {
			phone.send(step.method, car.path()+step.path, "", elsewhere...).want(t, http.StatusForbidden)
		}
	}
	d.browser().send(http.MethodPost, "/v2/auth/pair", `{}`, elsewhere...).want(t, http.StatusForbidden)
	d.browser().send(http.MethodPost, "/v2/auth/pair", `{}`, "Content-Type", "text/plain").want(t, http.StatusUnsupportedMediaType)
	if got := d.browser().send(http.MethodPost, "/v2/auth/pair", `{"name": "x"}`).want(t, http.StatusUnprocessableEntity).fieldErrors(t); got[0] != "name unknown_field" {
		t.Errorf("wrong %v", got)
	}
	if got := d.browser().send(http.MethodPost, "/v2/auth/pair/token", `{}`).want(t, http.StatusUnprocessableEntity).fieldErrors(t); got[0] != "device_code missing" {
		t.Errorf("wrong %v", got)
	}
	d.browser().send(http.MethodPost, "/v2/auth/pair/token", `{"device_code": "x"}`).want(t, http.StatusGone)
	car.poll().want(t, http.StatusAccepted)
}

// TestPairingLimits checks the limits of pairing and of polls.
func TestPairingLimits(t *testing.T) {
	d := newTestService(t)
	begin := func(from string) reply {
		return d.browser().send(http.MethodPost, "/v2/auth/pair", `{}`, "X-Forwarded-For", from)
	}
	for range 10 {
		begin("192.0.2.1").want(t, http.StatusCreated)
	}
	if r := begin("192.0.2.1").want(t, http.StatusTooManyRequests); r.Header.Get("Retry-After") != "360" {
		t.Errorf("Retry-After %s", r.Header.Get("Retry-After"))
	}
	car := &screen{browser: d.browser()}
	begin("192.0.2.2").want(t, http.StatusCreated).decode(t, car)
	car.poll().want(t, http.StatusAccepted)
	d.advance(3 * time.Second)
	if r := car.poll().want(t, http.StatusTooManyRequests); r.Header.Get("Retry-After") != "1" {
		t.Errorf("Retry-After %s", r.Header.Get("Retry-After"))
	}
	d.advance(time.Second) // the wait is not over yet
	car.poll().want(t, http.StatusAccepted)
	for range 20 {
		car.next().want(t, http.StatusAccepted)
	}
}

// TestWrongCodesOverHTTP checks that after five wrong codes an account must wait, and so must a client address with any account.
func TestWrongCodesOverHTTP(t *testing.T) {
	d := newTestService(t)
	car := d.screen(carAgent)
	at := func(address string) []string { return []string{"X-Forwarded-For", address} }
	for name, froms := range map[string][2]string{"an account": {"192.0.2.1", "192.0.2.9"}, "an address": {"192.0.2.2", "192.0.2.2"}} {
		t.Run(name, func(t *testing.T) {
			mail := strings.ReplaceAll(name, " ", ".") + "@example.org"
			phone := d.signedInAs(mail, mapdata.Driver)
			phone.send(http.MethodGet, "/v2/auth/pair/nonsense", "", at(froms[0])...).want(t, http.StatusNotFound) // not counted
			for i := range 5 {
				method, tail := http.MethodGet, ""
				if i%2 == 1 {
					method, tail = http.MethodPost, "/approve"
				}
				phone.send(method, "/v2/auth/pair/ZZZZZZZ"+string("BCDFG"[i])+tail, "", at(froms[0])...).want(t, http.StatusNotFound)
				phone.send(http.MethodGet, car.path(), "", at("192.0.2.77")...) // correct codes do not count
			}
			if name == "an address" {
				phone = d.signedInAs("second."+mail, mapdata.Driver)
			}
			r := phone.send(http.MethodGet, car.path(), "", at(froms[1])...).want(t, http.StatusTooManyRequests)
			if r.Header.Get("Retry-After") != "120" {
				t.Errorf("Retry-After %s", r.Header.Get("Retry-After"))
			}
			page := phone.send(http.MethodGet, "/pair?code="+car.UserCode, "", at(froms[1])...).want(t, http.StatusTooManyRequests)
			if !strings.Contains(page.body, "Too many requests") || page.Header.Get("Retry-After") != "120" {
				t.Errorf("page: %s", page.body)
			}
		})
	}
}

// TestWrongCodesEndAPairing checks that five wrong codes with the pairing's prefix end it, from any accounts and addresses.
func TestWrongCodesEndAPairing(t *testing.T) {
	d := newTestService(t)
	car, phone := d.screen(carAgent), d.signedInAs("ada@example.org", mapdata.Driver)
	for i := range 5 {
		code := []byte(car.UserCode)
		code[8] = "BCDFGH"[i]
		if string(code) == car.UserCode {
			code[8] = 'H'
		}
		eve := d.signedInAs(fmt.Sprintf("eve%d@example.org", i), mapdata.Driver)
		eve.send(http.MethodPost, "/v2/auth/pair/"+string(code)+"/approve", "", "X-Forwarded-For", fmt.Sprintf("192.0.2.%d", i)).want(t, http.StatusNotFound)
	}
	phone.send(http.MethodPost, car.path()+"/approve", "").want(t, http.StatusNotFound)
	if got := problemType(t, car.poll().want(t, http.StatusGone)); got != "pairing-ended" {
		t.Errorf("problem %s", got)
	}
}

func TestPairingQR(t *testing.T) {
	d := newTestService(t)
	b, car := d.browser(), d.screen(carAgent)
	known := b.send(http.MethodGet, "/v2/auth/pair/qr?code="+car.UserCode, "").want(t, http.StatusOK)
	unknown := b.send(http.MethodGet, "/v2/auth/pair/qr?code=zzzz-zzzz", "").want(t, http.StatusOK)
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
	dec := xml.NewDecoder(strings.NewReader(known.body))
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
		b.send(http.MethodGet, "/v2/auth/pair/qr"+query, "").want(t, http.StatusBadRequest)
	}
}

// TestPairingQREncodesTheURL checks that the drawing encodes the URL with the code, and has the quiet zone that scanners need.
func TestPairingQREncodesTheURL(t *testing.T) {
	d := newTestService(t)
	drawing := d.browser().send(http.MethodGet, "/v2/auth/pair/qr?code=bcdf-ghjk", "").want(t, http.StatusOK).body
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
	d := newTestService(t)
	ada, eve := d.signedInAs("ada@example.org", mapdata.Driver), d.signedInAs("eve@example.org", mapdata.Driver)
	const path = "/v2/account/preferences"
	d.browser().send(http.MethodGet, path, "").want(t, http.StatusUnauthorized)
	read := func(b *browser) string {
		return strings.TrimSpace(b.send(http.MethodGet, path, "").want(t, http.StatusOK).body)
	}
	if got := read(ada); got != `{"preferences":{}}` {
		t.Errorf("at first: %s", got)
	}
	const all = `{"units":"imperial","theme":"night","language":"fr","density":2.5,"tones":false,"lead":0.5,"sources_off":["incidents"],"kinds_off":["alert.police"],"networks":[]}`
	if r := ada.send(http.MethodPut, path, all).want(t, http.StatusOK); strings.TrimSpace(r.body) != `{"preferences":`+all+`}` {
		t.Errorf("answer %s", r.body)
	}
	if got := read(ada); got != `{"preferences":`+all+`}` {
		t.Errorf("stored %s", got)
	}
	if got := read(eve); got != `{"preferences":{}}` {
		t.Errorf("another account's preferences: %s", got)
	}
	ada.send(http.MethodPut, path, `{"theme":"day","units":null}`).want(t, http.StatusOK)
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
		if diff := cmp.Diff(want, ada.send(http.MethodPut, path, body).want(t, http.StatusUnprocessableEntity).fieldErrors(t)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", body, diff)
		}
	}
	ada.send(http.MethodPut, path, `[]`).want(t, http.StatusBadRequest)
	fits := `{"theme":"night"` + strings.Repeat(" ", 8<<10-17) + `}`
	ada.send(http.MethodPut, path, fits).want(t, http.StatusOK)
	ada.send(http.MethodPut, path, fits+" ").want(t, http.StatusRequestEntityTooLarge)
	ada.send(http.MethodPut, path, `{}`, "Origin", "https://evil.example").want(t, http.StatusForbidden)
	if got := read(ada); got != `{"preferences":{"theme":"night"}}` {
		t.Errorf("after refusals: %s", got)
	}
}

// form posts a page's form as a browser does.
func (b *browser) form(path string, fields url.Values, header ...string) reply {
	b.t.Helper()
	header = append([]string{"Content-Type", formType, "Origin", b.server.URL, "Sec-Fetch-Site", "same-origin"}, header...)
	return b.send(http.MethodPost, path, fields.Encode(), header...)
}
