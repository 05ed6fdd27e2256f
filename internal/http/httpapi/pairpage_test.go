package httpapi_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"wayside/internal/ground/mapdata"
)

// withoutRedirects returns a browser that does not follow redirects.
func (b *browser) withoutRedirects() *browser {
	b.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return b
}

func (r reply) wantRedirect(t *testing.T, to string) {
	t.Helper()
	if got := r.want(t, http.StatusSeeOther).Header.Get("Location"); got != to {
		t.Errorf("leads to %s, want %s", got, to)
	}
}

// attr returns an attribute's value.
func attr(e *html.Node, name string) string {
	for _, a := range e.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// mainText returns the text of a page's main part.
func mainText(t *testing.T, r reply) string {
	t.Helper()
	var out strings.Builder
	for _, e := range elements(t, []byte(r.body)) {
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
func checkPage(t *testing.T, r reply) {
	t.Helper()
	h := r.Header
	if h.Get("Content-Security-Policy") != "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'" ||
		h.Get("Cache-Control") != "no-store" || h.Get("Referrer-Policy") != "same-origin" || h.Get("Content-Type") != "text/html; charset=utf-8" {
		t.Errorf("header %v", h)
	}
	headings, labels := 0, map[string]bool{}
	for _, e := range elements(t, []byte(r.body)) {
		switch e.Data {
		case "script", "style", "iframe", "object", "embed", "base", "img", "b", "svg":
			t.Errorf("the page holds <%s>:\n%s", e.Data, r.body)
		case "h1":
			headings++
		case "label":
			labels[attr(e, "for")] = true
		case "input":
			if attr(e, "type") != "hidden" && !labels[attr(e, "id")] {
				t.Errorf("an input has no label")
			}
		}
		for _, a := range e.Attr {
			if a.Key == "style" || strings.HasPrefix(a.Key, "on") || addressAttributes[a.Key] && !strings.HasPrefix(a.Val, "#") && (!strings.HasPrefix(a.Val, "/") || strings.HasPrefix(a.Val, "//")) {
				t.Errorf("<%s %s=%q>", e.Data, a.Key, a.Val)
			}
		}
	}
	if headings != 1 {
		t.Errorf("%d first headings", headings)
	}
}

// fieldsOf returns the values of the form with the given action, and the values of its buttons.
func fieldsOf(t *testing.T, r reply, action string) (fields url.Values, buttons []string) {
	t.Helper()
	for _, e := range elements(t, []byte(r.body)) {
		if e.Data != "form" || attr(e, "action") != action {
			continue
		}
		fields = url.Values{}
		for n := range e.Descendants() {
			switch n.Data {
			case "input":
				fields.Add(attr(n, "name"), attr(n, "value"))
			case "button":
				buttons = append(buttons, attr(n, "name")+"="+attr(n, "value"))
			}
		}
	}
	if fields == nil {
		t.Fatalf("no form goes to %s:\n%s", action, r.body)
	}
	return fields, buttons
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
			d := newTestService(t)
			car, phone := d.screen(carAgent), d.signedInAs("ada@example.org", mapdata.Driver).withoutRedirects()
			d.advance(2 * time.Minute)
			address := strings.TrimPrefix(car.WholeURL, "http://wayside.test")
			var page reply
			for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodGet} {
				page = phone.send(method, address, "").want(t, http.StatusOK)
			}
			checkPage(t, page)
			text := mainText(t, page)
			for _, part := range []string{"Is this your car’s screen? It must show this code " + car.UserCode, "Chromium 79 on a Tesla", "2 minutes ago", "ada@example.org"} {
				if !strings.Contains(text, part) {
					t.Errorf("the page lacks %q: %s", part, text)
				}
			}
			car.poll().want(t, http.StatusAccepted) // opening the page approved nothing
			fields, buttons := fieldsOf(t, page, "/pair")
			if len(buttons) != 2 || buttons[0] != "answer=approve" || buttons[1] != "answer=deny" {
				t.Errorf("buttons %v", buttons)
			}
			fields.Set("answer", answer)
			for range 2 { // a double tap
				done := phone.form("/pair", fields).want(t, http.StatusOK)
				checkPage(t, done)
				if !strings.HasPrefix(mainText(t, done), want.words) {
					t.Errorf("afterwards: %s", mainText(t, done))
				}
			}
			car.next().want(t, want.status)
			if again := phone.send(http.MethodGet, address, "").want(t, http.StatusOK); !strings.HasPrefix(mainText(t, again), want.words) {
				t.Errorf("opened again: %s", mainText(t, again))
			}
			other := d.signedInAs("eve@example.org", mapdata.Driver)
			late := other.form("/pair", fields).want(t, http.StatusConflict)
			checkPage(t, late)
		})
	}
}

func TestPairPageNormalizesCodes(t *testing.T) {
	d := newTestService(t)
	car, phone := d.screen(carAgent), d.signedInAs("ada@example.org", mapdata.Driver).withoutRedirects()
	page := phone.send(http.MethodGet, "/pair", "").want(t, http.StatusOK)
	checkPage(t, page)
	if fields, _ := fieldsOf(t, page, "/pair"); !fields.Has("code") {
		t.Errorf("the form asks for %v", fields)
	}
	typed := strings.ToLower(car.UserCode[:4] + " - " + car.UserCode[5:])
	if page := phone.send(http.MethodGet, "/pair?code="+url.QueryEscape(typed), "").want(t, http.StatusOK); !strings.Contains(mainText(t, page), car.UserCode) {
		t.Errorf("page: %s", mainText(t, page))
	}
	for _, wrong := range []string{"BCDF", `"><script>alert(1)</script>`, "\xff\xfe", "\u202egnp", strings.Repeat("B", 10_000), "BCDFGHJK\x00", "ZZZZ-ZZZZ"} {
		page := phone.send(http.MethodGet, "/pair?code="+url.QueryEscape(wrong), "").want(t, http.StatusNotFound)
		checkPage(t, page)
		posted := phone.form("/pair", url.Values{"code": {wrong}, "answer": {"approve"}}).want(t, http.StatusNotFound)
		checkPage(t, posted)
		if fields, _ := fieldsOf(t, page, "/pair"); len(fields.Get("code")) > 90 {
			t.Errorf("the page repeats %d bytes", len(fields.Get("code")))
		}
	}
	notice := phone.form("/pair", url.Values{"code": {car.UserCode}, "answer": {"yes"}}).want(t, http.StatusBadRequest)
	checkPage(t, notice)
	car.poll().want(t, http.StatusAccepted)
}

// TestPairPageEscapesTheUserAgent checks that the page shows this service's description of a device, whatever its User-Agent
// contains.
func TestPairPageEscapesTheUserAgent(t *testing.T) {
	t.Parallel()
	for _, agent := range []string{
		"", `<script>alert(1)</script>`, `"><img src=//evil.example onerror=alert(1)>`, "Your bank: press Approve",
		"\xff\xfe\xc0", "\u202eevil\u2066", strings.Repeat("Chrome/1 ", 5000), "Chrome/1<b>{{.Email}}",
	} {
		d := newTestService(t)
		car, phone := d.screen(agent), d.signedInAs("ada@example.org", mapdata.Driver)
		page := phone.send(http.MethodGet, "/pair?code="+car.UserCode, "").want(t, http.StatusOK)
		checkPage(t, page)
		if text := mainText(t, page); strings.Contains(text, "evil") || strings.Contains(text, "bank") || strings.Contains(text, "alert") || strings.Contains(text, "{{") {
			t.Errorf("%q is shown: %s", agent, text)
		}
		if kept := phone.pairing(car.path()).Pairing.Agent; len([]rune(kept)) > 200 {
			t.Errorf("%d characters are kept", len([]rune(kept)))
		}
	}
}

func TestPagesRefuseCrossOriginForms(t *testing.T) {
	d := newTestService(t)
	car, phone := d.screen(carAgent), d.signedInAs("ada@example.org", mapdata.Driver).withoutRedirects()
	fields := url.Values{"code": {car.UserCode}, "answer": {"approve"}, "email": {"ada@example.org"}}
	for _, path := range []string{"/pair", "/sign-in", "/sign-in/code", "/sign-out"} {
		for _, header := range [][]string{
			{"Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site"},
			{"Origin", "https://evil.example", "Sec-Fetch-Site", ""},
			{"Origin", "null", "Sec-Fetch-Site", ""},
		} {
			phone.form(path, fields, header...).want(t, http.StatusForbidden)
		}
	}
	car.poll().want(t, http.StatusAccepted)
	phone.send(http.MethodGet, "/v2/account", "").want(t, http.StatusOK)
}

// requestSignInByPage requests a sign-in e-mail on the page and returns its code.
func (b *browser) requestSignInByPage(fields url.Values) (reply, string) {
	b.t.Helper()
	before := len(b.store.emails)
	page := b.form("/sign-in", fields).want(b.t, http.StatusOK)
	if len(b.store.emails) != before+1 {
		b.t.Fatal("no e-mail")
	}
	return page, b.store.emails[before].Data["code"]
}

func TestSignInPage(t *testing.T) {
	const code = "BCDFGHJK"
	for _, tt := range []struct{ name, pair, query, next string }{
		{"to pair a screen", code, "?pair=" + code, "/pair?code=" + code},
		{"to pair any screen", "", "?pair=", "/pair"},
		{"for its own sake", "none", "", "/account"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newAuthService(t, false).browser().withoutRedirects()
			if tt.pair != "none" {
				b.send(http.MethodGet, strings.TrimSuffix("/pair?code="+tt.pair, "?code="), "").wantRedirect(t, "/sign-in"+tt.query)
			}
			page := b.send(http.MethodGet, "/sign-in"+tt.query, "").want(t, http.StatusOK)
			checkPage(t, page)
			fields, _ := fieldsOf(t, page, "/sign-in")
			if fields.Has("pair") != (tt.pair != "none") {
				t.Errorf("fields %v", fields)
			}
			fields.Set("email", "ada@")
			bad := b.form("/sign-in", fields).want(t, http.StatusUnprocessableEntity)
			checkPage(t, bad)
			fields, _ = fieldsOf(t, bad, "/sign-in")
			if fields.Get("email") != "ada@" {
				t.Errorf("the form lost its input: %v", fields)
			}
			fields.Set("email", "Ada@example.org")
			sent, digits := b.requestSignInByPage(fields)
			checkPage(t, sent)
			fields, _ = fieldsOf(t, sent, "/sign-in/code")
			fields.Set("code", string([]byte{'0' + (digits[0]-'0'+1)%10})+digits[1:])
			wrong := b.form("/sign-in/code", fields).want(t, http.StatusUnauthorized)
			checkPage(t, wrong)
			fields, _ = fieldsOf(t, wrong, "/sign-in/code")
			fields.Set("code", digits[:4]+" "+digits[4:])
			in := b.form("/sign-in/code", fields)
			in.wantRedirect(t, tt.next)
			in.cookie(t, false)
			b.send(http.MethodGet, "/v2/account", "").want(t, http.StatusOK)
			if tt.pair == "none" {
				page := b.send(http.MethodGet, "/sign-in", "").want(t, http.StatusOK)
				checkPage(t, page)
				if !strings.Contains(mainText(t, page), "ada@example.org") {
					t.Errorf("page: %s", mainText(t, page))
				}
				b.form("/sign-out", url.Values{}).wantRedirect(t, "/sign-in")
			} else {
				b.send(http.MethodGet, "/sign-in"+tt.query, "").wantRedirect(t, tt.next)
				b.form("/sign-out", url.Values{"pair": {tt.pair}}).wantRedirect(t, "/sign-in"+tt.query)
			}
			b.send(http.MethodGet, "/v2/account", "").want(t, http.StatusUnauthorized)
		})
	}
}

// TestSignInRedirectsOnlyToOurPages checks that nothing in a URL or a form redirects a browser to another site.
func TestSignInRedirectsOnlyToOurPages(t *testing.T) {
	for i, target := range []string{"//evil.example", "https://evil.example/", "/\\evil.example", "javascript:alert(1)", "BCDFGHJK/../../x", "\r\nLocation: //evil.example", "BCDFGHJK&next=//evil.example"} {
		b := newAuthService(t, false).browser().withoutRedirects()
		query := url.Values{"pair": {target}, "next": {target}, "then": {target}, "code": {target}}
		b.send(http.MethodGet, "/pair?"+query.Encode(), "").wantRedirect(t, "/sign-in?pair=")
		page := b.send(http.MethodGet, "/sign-in?"+query.Encode(), "").want(t, http.StatusOK)
		checkPage(t, page)
		query.Set("email", fmt.Sprintf("a%d@example.org", i))
		sent, digits := b.requestSignInByPage(query)
		checkPage(t, sent)
		query.Set("code", digits)
		b.form("/sign-in/code", query).wantRedirect(t, "/pair")
		b.form("/sign-out", query).wantRedirect(t, "/sign-in?pair=")
	}
}

// TestSignInPageDoesNotRevealAccounts checks that the page is the same for every address (D11.1).
func TestSignInPageDoesNotRevealAccounts(t *testing.T) {
	h := newAuthService(t, false)
	h.signedIn("known@example.org")
	page := func(email string) string {
		r := h.browser().form("/sign-in", url.Values{"email": {email}}).want(t, http.StatusOK)
		return strings.ReplaceAll(r.body, email, "…")
	}
	known, unknown := page("known@example.org"), page("unknown@example.org")
	for range 3 {
		page("known@example.org")
	}
	if full := page("known@example.org"); known != unknown || full != known {
		t.Errorf("pages differ:\n%s\n%s\n%s", known, unknown, full)
	}
	if len(h.store.emails) != 4 {
		t.Errorf("%d e-mails, want 3 and 1", len(h.store.emails))
	}
}

func TestSignInPageLimits(t *testing.T) {
	h := newAuthService(t, false)
	b := h.browser()
	for i := range 60 {
		b.form("/sign-in", url.Values{"email": {fmt.Sprintf("a%d@example.org", i)}}).want(t, http.StatusOK)
		b.form("/sign-in/code", url.Values{"email": {fmt.Sprintf("a%d@example.org", i)}, "code": {"1"}}).want(t, http.StatusUnauthorized)
	}
	for path, wait := range map[string]string{"/sign-in": "60", "/sign-in/code": "1"} {
		r := b.form(path, url.Values{"email": {"b@example.org"}}).want(t, http.StatusTooManyRequests)
		checkPage(t, r)
		if r.Header.Get("Retry-After") != wait {
			t.Errorf("%s: Retry-After %s, want %s", path, r.Header.Get("Retry-After"), wait)
		}
	}
}

func TestSignInPageWithAFullDisk(t *testing.T) {
	h := newAuthService(t, false)
	h.store.fail = mapdata.ErrUnavailable
	r := h.browser().form("/sign-in", url.Values{"email": {"ada@example.org"}}).want(t, http.StatusServiceUnavailable)
	checkPage(t, r)
	if log := h.log.String(); !strings.Contains(log, "route=/sign-in") || strings.Contains(log, "ada@") {
		t.Errorf("log: %s", log)
	}
}
