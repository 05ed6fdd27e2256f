package accounts_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"wayside/internal/ground/mapdata"
	"wayside/internal/http/httpapi/httpapitest"
)

// mainText returns the text of a page's main part.
func mainText(t *testing.T, r httpapitest.Reply) string {
	t.Helper()
	var out strings.Builder
	for _, e := range httpapitest.Elements(t, []byte(r.Body)) {
		if e.Data != "main" {
			continue
		}
		for n := range e.Descendants() {
			if n.Type == html.TextNode {
				out.WriteString(" " + n.Data)
			}
		}
	}
	return strings.Join(strings.Fields(out.String()), " ")
}

// checkPage checks what applies to every page with a form: no resources of other origins, no scripts, no caching.
func checkPage(t *testing.T, r httpapitest.Reply) {
	t.Helper()
	h := r.Header
	if h.Get("Content-Security-Policy") != "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'" ||
		h.Get("Cache-Control") != "no-store" || h.Get("Referrer-Policy") != "same-origin" || h.Get("Content-Type") != "text/html; charset=utf-8" {
		t.Errorf("header %v", h)
	}
	headings, labels := 0, map[string]bool{}
	for _, e := range httpapitest.Elements(t, []byte(r.Body)) {
		switch e.Data {
		case "script", "style", "iframe", "object", "embed", "base", "img", "b", "svg":
			t.Errorf("the page holds <%s>:\n%s", e.Data, r.Body)
		case "h1":
			headings++
		case "label":
			labels[httpapitest.Attr(e, "for")] = true
		case "input":
			if httpapitest.Attr(e, "type") != "hidden" && !labels[httpapitest.Attr(e, "id")] {
				t.Errorf("an input has no label")
			}
		}
		for _, a := range e.Attr {
			if a.Key == "style" || strings.HasPrefix(a.Key, "on") || httpapitest.AddressAttributes[a.Key] && !strings.HasPrefix(a.Val, "#") && (!strings.HasPrefix(a.Val, "/") || strings.HasPrefix(a.Val, "//")) {
				t.Errorf("<%s %s=%q>", e.Data, a.Key, a.Val)
			}
		}
	}
	if headings != 1 {
		t.Errorf("%d first headings", headings)
	}
}

func TestPairPage(t *testing.T) {
	for answer, want := range map[string]struct {
		words  string
		status int
	}{
		"approve": {"Your car is connected", http.StatusOK},
		"deny":    {"Denied", http.StatusGone},
	} {
		t.Run(answer, func(t *testing.T) {
			d := httpapitest.NewService(t)
			car, phone := d.Screen(carAgent), d.SignedInAs("ada@example.org", mapdata.Driver).WithoutRedirects()
			d.Advance(2 * time.Minute)
			address := strings.TrimPrefix(car.WholeURL, "http://wayside.test")
			var page httpapitest.Reply
			for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodGet} {
				page = phone.Send(method, address, "").Want(t, http.StatusOK)
			}
			checkPage(t, page)
			text := mainText(t, page)
			for _, part := range []string{"Is this your car’s screen? It must show this code " + car.UserCode, "Chromium 79 on a Tesla", "2 minutes ago", "ada@example.org"} {
				if !strings.Contains(text, part) {
					t.Errorf("the page lacks %q: %s", part, text)
				}
			}
			car.Poll().Want(t, http.StatusAccepted) // opening the page approved nothing
			fields, buttons := httpapitest.FieldsOf(t, page, "/pair")
			if len(buttons) != 2 || buttons[0] != "answer=approve" || buttons[1] != "answer=deny" {
				t.Errorf("buttons %v", buttons)
			}
			fields.Set("answer", answer)
			for range 2 { // a double tap
				done := phone.Form("/pair", fields).Want(t, http.StatusOK)
				checkPage(t, done)
				if !strings.HasPrefix(mainText(t, done), want.words) {
					t.Errorf("afterwards: %s", mainText(t, done))
				}
			}
			car.Next().Want(t, want.status)
			if again := phone.Send(http.MethodGet, address, "").Want(t, http.StatusOK); !strings.HasPrefix(mainText(t, again), want.words) {
				t.Errorf("opened again: %s", mainText(t, again))
			}
			other := d.SignedInAs("eve@example.org", mapdata.Driver)
			late := other.Form("/pair", fields).Want(t, http.StatusConflict)
			checkPage(t, late)
		})
	}
}

func TestPairPageNormalizesCodes(t *testing.T) {
	d := httpapitest.NewService(t)
	car, phone := d.Screen(carAgent), d.SignedInAs("ada@example.org", mapdata.Driver).WithoutRedirects()
	page := phone.Send(http.MethodGet, "/pair", "").Want(t, http.StatusOK)
	checkPage(t, page)
	if fields, _ := httpapitest.FieldsOf(t, page, "/pair"); !fields.Has("code") {
		t.Errorf("the form asks for %v", fields)
	}
	typed := strings.ToLower(car.UserCode[:4] + " - " + car.UserCode[5:])
	if page := phone.Send(http.MethodGet, "/pair?code="+url.QueryEscape(typed), "").Want(t, http.StatusOK); !strings.Contains(mainText(t, page), car.UserCode) {
		t.Errorf("page: %s", mainText(t, page))
	}
	for _, wrong := range []string{"BCDF", `"><script>alert(1)</script>`, "\xff\xfe", "\u202egnp", strings.Repeat("B", 10_000), "BCDFGHJK\x00", "ZZZZ-ZZZZ"} {
		page := phone.Send(http.MethodGet, "/pair?code="+url.QueryEscape(wrong), "").Want(t, http.StatusNotFound)
		checkPage(t, page)
		posted := phone.Form("/pair", url.Values{"code": {wrong}, "answer": {"approve"}}).Want(t, http.StatusNotFound)
		checkPage(t, posted)
		if fields, _ := httpapitest.FieldsOf(t, page, "/pair"); len(fields.Get("code")) > 90 {
			t.Errorf("the page repeats %d bytes", len(fields.Get("code")))
		}
	}
	notice := phone.Form("/pair", url.Values{"code": {car.UserCode}, "answer": {"yes"}}).Want(t, http.StatusBadRequest)
	checkPage(t, notice)
	car.Poll().Want(t, http.StatusAccepted)
}

// TestPairPageEscapesTheUserAgent checks that the page shows this service's description of a device, whatever its User-Agent
// contains.
func TestPairPageEscapesTheUserAgent(t *testing.T) {
	t.Parallel()
	for _, agent := range []string{
		"", `<script>alert(1)</script>`, `"><img src=//evil.example onerror=alert(1)>`, "Your bank: press Approve",
		"\xff\xfe\xc0", "\u202eevil\u2066", strings.Repeat("Chrome/1 ", 5000), "Chrome/1<b>{{.Email}}",
	} {
		d := httpapitest.NewService(t)
		car, phone := d.Screen(agent), d.SignedInAs("ada@example.org", mapdata.Driver)
		page := phone.Send(http.MethodGet, "/pair?code="+car.UserCode, "").Want(t, http.StatusOK)
		checkPage(t, page)
		if text := mainText(t, page); strings.Contains(text, "evil") || strings.Contains(text, "bank") || strings.Contains(text, "alert") || strings.Contains(text, "{{") {
			t.Errorf("%q is shown: %s", agent, text)
		}
		if kept := phone.Pairing(car.Path()).Pairing.Agent; len([]rune(kept)) > 200 {
			t.Errorf("%d characters are kept", len([]rune(kept)))
		}
	}
}

func TestPagesRefuseCrossOriginForms(t *testing.T) {
	d := httpapitest.NewService(t)
	car, phone := d.Screen(carAgent), d.SignedInAs("ada@example.org", mapdata.Driver).WithoutRedirects()
	fields := url.Values{"code": {car.UserCode}, "answer": {"approve"}, "email": {"ada@example.org"}}
	for _, path := range []string{"/pair", "/sign-in", "/sign-in/code", "/sign-out"} {
		for _, header := range [][]string{
			{"Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site"},
			{"Origin", "https://evil.example", "Sec-Fetch-Site", ""},
			{"Origin", "null", "Sec-Fetch-Site", ""},
		} {
			phone.Form(path, fields, header...).Want(t, http.StatusForbidden)
		}
	}
	car.Poll().Want(t, http.StatusAccepted)
	phone.Send(http.MethodGet, "/v2/account", "").Want(t, http.StatusOK)
}

func TestSignInPage(t *testing.T) {
	const code = "BCDFGHJK"
	for _, tt := range []struct{ name, pair, query, next string }{
		{"to pair a screen", code, "?pair=" + code, "/pair?code=" + code},
		{"to pair any screen", "", "?pair=", "/pair"},
		{"for its own sake", "none", "", "/account"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newAuthService(t, false).Browser().WithoutRedirects()
			if tt.pair != "none" {
				b.Send(http.MethodGet, strings.TrimSuffix("/pair?code="+tt.pair, "?code="), "").WantRedirect(t, "/sign-in"+tt.query)
			}
			page := b.Send(http.MethodGet, "/sign-in"+tt.query, "").Want(t, http.StatusOK)
			checkPage(t, page)
			fields, _ := httpapitest.FieldsOf(t, page, "/sign-in")
			if fields.Has("pair") != (tt.pair != "none") {
				t.Errorf("fields %v", fields)
			}
			fields.Set("email", "ada@")
			bad := b.Form("/sign-in", fields).Want(t, http.StatusUnprocessableEntity)
			checkPage(t, bad)
			fields, _ = httpapitest.FieldsOf(t, bad, "/sign-in")
			if fields.Get("email") != "ada@" {
				t.Errorf("the form lost its input: %v", fields)
			}
			fields.Set("email", "Ada@example.org")
			sent, digits := b.RequestSignInByPage(fields)
			checkPage(t, sent)
			fields, _ = httpapitest.FieldsOf(t, sent, "/sign-in/code")
			fields.Set("code", string([]byte{'0' + (digits[0]-'0'+1)%10})+digits[1:])
			wrong := b.Form("/sign-in/code", fields).Want(t, http.StatusUnauthorized)
			checkPage(t, wrong)
			fields, _ = httpapitest.FieldsOf(t, wrong, "/sign-in/code")
			fields.Set("code", digits[:4]+" "+digits[4:])
			in := b.Form("/sign-in/code", fields)
			in.WantRedirect(t, tt.next)
			in.Cookie(t, false)
			b.Send(http.MethodGet, "/v2/account", "").Want(t, http.StatusOK)
			if tt.pair == "none" {
				page := b.Send(http.MethodGet, "/sign-in", "").Want(t, http.StatusOK)
				checkPage(t, page)
				if !strings.Contains(mainText(t, page), "ada@example.org") {
					t.Errorf("page: %s", mainText(t, page))
				}
				b.Form("/sign-out", url.Values{}).WantRedirect(t, "/sign-in")
			} else {
				b.Send(http.MethodGet, "/sign-in"+tt.query, "").WantRedirect(t, tt.next)
				b.Form("/sign-out", url.Values{"pair": {tt.pair}}).WantRedirect(t, "/sign-in"+tt.query)
			}
			b.Send(http.MethodGet, "/v2/account", "").Want(t, http.StatusUnauthorized)
		})
	}
}

// TestSignInRedirectsOnlyToOurPages checks that nothing in a URL or a form redirects a browser to another site.
func TestSignInRedirectsOnlyToOurPages(t *testing.T) {
	for i, target := range []string{"//evil.example", "https://evil.example/", "/\\evil.example", "javascript:alert(1)", "BCDFGHJK/../../x", "\r\nLocation: //evil.example", "BCDFGHJK&next=//evil.example"} {
		b := newAuthService(t, false).Browser().WithoutRedirects()
		query := url.Values{"pair": {target}, "next": {target}, "then": {target}, "code": {target}}
		b.Send(http.MethodGet, "/pair?"+query.Encode(), "").WantRedirect(t, "/sign-in?pair=")
		page := b.Send(http.MethodGet, "/sign-in?"+query.Encode(), "").Want(t, http.StatusOK)
		checkPage(t, page)
		query.Set("email", fmt.Sprintf("a%d@example.org", i))
		sent, digits := b.RequestSignInByPage(query)
		checkPage(t, sent)
		query.Set("code", digits)
		b.Form("/sign-in/code", query).WantRedirect(t, "/pair")
		b.Form("/sign-out", query).WantRedirect(t, "/sign-in?pair=")
	}
}

// TestSignInPageDoesNotRevealAccounts checks that the page is the same for every address (D11.1).
func TestSignInPageDoesNotRevealAccounts(t *testing.T) {
	h := newAuthService(t, false)
	h.SignedIn("known@example.org")
	page := func(email string) string {
		r := h.Browser().Form("/sign-in", url.Values{"email": {email}}).Want(t, http.StatusOK)
		return strings.ReplaceAll(r.Body, email, "…")
	}
	known, unknown := page("known@example.org"), page("unknown@example.org")
	for range 3 {
		page("known@example.org")
	}
	if full := page("known@example.org"); known != unknown || full != known {
		t.Errorf("pages differ:\n%s\n%s\n%s", known, unknown, full)
	}
	if len(h.Store.Emails) != 4 {
		t.Errorf("%d e-mails, want 3 and 1", len(h.Store.Emails))
	}
}

func TestSignInPageLimits(t *testing.T) {
	h := newAuthService(t, false)
	b := h.Browser()
	for i := range 60 {
		b.Form("/sign-in", url.Values{"email": {fmt.Sprintf("a%d@example.org", i)}}).Want(t, http.StatusOK)
		b.Form("/sign-in/code", url.Values{"email": {fmt.Sprintf("a%d@example.org", i)}, "code": {"1"}}).Want(t, http.StatusUnauthorized)
	}
	for path, wait := range map[string]string{"/sign-in": "60", "/sign-in/code": "1"} {
		r := b.Form(path, url.Values{"email": {"b@example.org"}}).Want(t, http.StatusTooManyRequests)
		checkPage(t, r)
		if r.Header.Get("Retry-After") != wait {
			t.Errorf("%s: Retry-After %s, want %s", path, r.Header.Get("Retry-After"), wait)
		}
	}
}

func TestSignInPageWithAFullDisk(t *testing.T) {
	h := newAuthService(t, false)
	h.Store.Fail = mapdata.ErrUnavailable
	r := h.Browser().Form("/sign-in", url.Values{"email": {"ada@example.org"}}).Want(t, http.StatusServiceUnavailable)
	checkPage(t, r)
	if log := h.Log.String(); !strings.Contains(log, "route=/sign-in") || strings.Contains(log, "ada@") {
		t.Errorf("log: %s", log)
	}
}
