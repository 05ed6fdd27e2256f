package httpapi_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"wayside/internal/entities/catalog"
	"wayside/internal/entities/nearby"
	"wayside/internal/feeds/feed"
	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/ratelimit"
	"wayside/internal/ground/signal"
	"wayside/internal/http/console"
	"wayside/internal/http/httpapi"
	"wayside/internal/people/account"
	"wayside/internal/roads/region"
)

const formType = "application/x-www-form-urlencoded"

// authService is the part of the service that signs people in, behind a real server.
type authService struct {
	t      *testing.T
	store  *recordingStore
	server *httptest.Server
	log    bytes.Buffer
	mu     sync.Mutex
	now    time.Time
}

func newAuthService(t *testing.T, secure bool) *authService {
	t.Helper()
	h := &authService{t: t, now: start}
	h.store = newRecordingStore(t, h.time)
	h.server = httptest.NewUnstartedServer(nil)
	scheme := "http://"
	if secure {
		h.server.StartTLS()
		scheme = "https://"
	} else {
		h.server.Start()
	}
	t.Cleanup(h.server.Close)
	log := slog.New(slog.NewTextHandler(&h.log, nil))
	catalogue := catalog.New(nil)
	accounts := account.New(account.Config{Store: h.store, Now: h.time, Key: []byte("key"), Log: log})
	address := scheme + h.server.Listener.Addr().String()
	h.server.Config.Handler = httpapi.New(httpapi.Deps{
		BaseURL: address, Now: h.time, Log: log,
		Console: newConsole(t, &console.Config{
			BaseURL: address, Now: h.time, Log: log, Accounts: accounts,
			Feeds: feed.New(feed.Config{Store: h.store, Now: h.time, Signals: signal.NewSet()}),
		}),
		TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
		Ready:          func() error { return nil },
		Nearby:         nearby.New(nearby.Config{Catalog: catalogue, Primary: "tesla", Now: h.time}), Sources: catalogue,
		Accounts: accounts,
		Limits:   httpapi.Limits{GuestReads: 60, AccountReads: 120, Manage: 60},
		Buckets:  ratelimit.NewMemory(1000),
	})
	return h
}

func newConsole(t *testing.T, cfg *console.Config) *console.Console {
	t.Helper()
	if cfg.Regions.Served == nil {
		cfg.Regions.Served = func() *region.Region { return nil }
	}
	c, err := console.New(*cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (h *authService) time() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.now
}

func (h *authService) advance(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now = h.now.Add(d)
}

// browser is an HTTP client that keeps cookies.
type browser struct {
	*authService
	client *http.Client
}

func (h *authService) browser() *browser {
	h.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		h.t.Fatal(err)
	}
	client := *h.server.Client()
	client.Jar = jar
	return &browser{h, &client}
}

// reply is a response whose body has been read.
type reply struct {
	*http.Response
	body string
}

// send sends a request. A body is JSON unless the header pairs say otherwise.
func (b *browser) send(method, path, body string, header ...string) reply {
	b.t.Helper()
	req, err := http.NewRequestWithContext(b.t.Context(), method, b.server.URL+path, strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := b.client.Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	checkAnswer(b.t, resp, text)
	return reply{resp, string(text)}
}

func (r reply) want(t *testing.T, status int) reply {
	t.Helper()
	if r.StatusCode != status {
		t.Fatalf("%s, want %d: %s", r.Status, status, r.body)
	}
	return r
}

func (r reply) decode(t *testing.T, v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(r.body), v); err != nil {
		t.Fatalf("%v: %s", err, r.body)
	}
}

// requestSignIn asks for a sign-in e-mail and returns its token and code.
func (b *browser) requestSignIn(email string) (token, code string) {
	b.t.Helper()
	before := len(b.store.emails)
	b.send(http.MethodPost, "/v2/auth/email", fmt.Sprintf(`{"email": %q}`, email)).want(b.t, http.StatusAccepted)
	if len(b.store.emails) != before+1 {
		b.t.Fatal("no e-mail")
	}
	data := b.store.emails[before].Data
	return data["token"], data["code"]
}

// signedIn returns a browser that is signed in.
func (h *authService) signedIn(email string) *browser {
	h.t.Helper()
	b := h.browser()
	token, _ := b.requestSignIn(email)
	b.send(http.MethodPost, "/v2/auth/verify", fmt.Sprintf(`{"token": %q}`, token)).want(h.t, http.StatusOK)
	return b
}

// cookie checks the session cookie of a sign-in against D11.2, and returns it.
func (r reply) cookie(t *testing.T, secure bool) (name, value string) {
	t.Helper()
	cookies := r.Cookies()
	if len(cookies) != 1 {
		t.Fatalf("%d cookies", len(cookies))
	}
	want := &http.Cookie{Name: "wayside_session", Path: "/", MaxAge: 180 * 24 * 3600, HttpOnly: true, Secure: secure, SameSite: http.SameSiteLaxMode}
	if secure {
		want.Name = "__Host-wayside_session"
	}
	c := cookies[0]
	got := &http.Cookie{Name: c.Name, Path: c.Path, Domain: c.Domain, MaxAge: c.MaxAge, HttpOnly: c.HttpOnly, Secure: c.Secure, SameSite: c.SameSite}
	if diff := cmp.Diff(want, got); diff != "" || len(c.Value) != 43 {
		t.Errorf("cookie of %d characters (-want +got):\n%s", len(c.Value), diff)
	}
	return c.Name, c.Value
}

func TestSignIn(t *testing.T) {
	ways := map[string]func(b *browser, token, code string) reply{
		"link": func(b *browser, token, _ string) reply {
			return b.send(http.MethodPost, "/v2/auth/verify", fmt.Sprintf(`{"token": %q}`, token))
		},
		"code": func(b *browser, _, code string) reply {
			return b.send(http.MethodPost, "/v2/auth/verify", fmt.Sprintf(`{"email": "ada@example.org", "code": %q}`, code))
		},
		"page": func(b *browser, token, _ string) reply {
			return b.send(http.MethodPost, "/auth/verify", url.Values{"token": {token}}.Encode(), "Content-Type", formType, "Origin", b.server.URL)
		},
	}
	for by, verify := range ways {
		for _, secure := range []bool{false, true} {
			t.Run(fmt.Sprintf("by %s, https %v", by, secure), func(t *testing.T) {
				b := newAuthService(t, secure).browser()
				b.send(http.MethodGet, "/v2/account", "").want(t, http.StatusUnauthorized)
				token, code := b.requestSignIn("Ada@example.org")
				name, value := verify(b, token, code).want(t, http.StatusOK).cookie(t, secure)
				var answer struct{ Account map[string]any }
				b.send(http.MethodGet, "/v2/account", "").want(t, http.StatusOK).decode(t, &answer)
				ada, err := b.store.AccountByEmail(t.Context(), "ada@example.org")
				if err != nil {
					t.Fatal(err)
				}
				want := map[string]any{
					"id": ada.ID.String(), "email": "ada@example.org", "role": "driver", "tier": "account",
					"created_at": "2026-11-21T08:00:00.000Z", "scope": "account",
				}
				if diff := cmp.Diff(want, answer.Account); diff != "" {
					t.Errorf("account (-want +got):\n%s", diff)
				}
				out := b.send(http.MethodPost, "/v2/auth/sign-out", "").want(t, http.StatusNoContent)
				if c := out.Cookies(); len(c) != 1 || c[0].Name != name || c[0].MaxAge >= 0 || c[0].Secure != secure {
					t.Errorf("the cookie is not deleted: %v", c)
				}
				b.send(http.MethodGet, "/v2/account", "", "Cookie", name+"="+value).want(t, http.StatusUnauthorized)
				b.send(http.MethodPost, "/v2/auth/sign-out", "").want(t, http.StatusNoContent)
			})
		}
	}
}

// TestSignInDoesNotRevealAccounts checks that a known address and an unknown one get the same response after the same calls of the
// store (D11.1).
func TestSignInDoesNotRevealAccounts(t *testing.T) {
	h := newAuthService(t, false)
	h.signedIn("known@example.org")
	for range 2 { // uses up the hour's e-mails, so that the next one is not sent
		h.browser().send(http.MethodPost, "/v2/auth/email", `{"email": "known@example.org"}`).want(t, http.StatusAccepted)
	}
	var first reply
	var steps []string
	for i, email := range []string{"known@example.org", "unknown@example.org"} {
		h.store.asked = nil
		r := h.browser().send(http.MethodPost, "/v2/auth/email", fmt.Sprintf(`{"email": %q}`, email)).want(t, http.StatusAccepted)
		r.Header.Del("Date")
		if secret := r.Cookies()[0].Value; len(secret) != 43 {
			t.Errorf("a secret of %d characters for the code", len(secret))
		}
		r.Header.Set("Set-Cookie", strings.Replace(r.Header.Get("Set-Cookie"), r.Cookies()[0].Value, "", 1))
		if i == 0 {
			first, steps = r, h.store.asked
			continue
		}
		if diff := cmp.Diff(first.Header, r.Header); diff != "" || first.body != r.body || r.body != `{"status":"sent"}`+"\n" {
			t.Errorf("answers differ: %q and %q\n%s", first.body, r.body, diff)
		}
		if diff := cmp.Diff(steps, h.store.asked); diff != "" || len(steps) == 0 {
			t.Errorf("steps %v differ:\n%s", steps, diff)
		}
	}
	if len(h.store.emails) != 4 {
		t.Errorf("%d e-mails, want 3 and 1", len(h.store.emails))
	}
}

func TestOpeningTheVerifyPageDoesNotUseTheLink(t *testing.T) {
	b := newAuthService(t, false).browser()
	token, _ := b.requestSignIn("ada@example.org")
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodGet} {
		r := b.send(method, "/auth/verify?token="+token, "").want(t, http.StatusOK)
		if len(r.Cookies()) > 0 || r.Header.Get("Cache-Control") != "no-store" || !strings.HasPrefix(r.Header.Get("Content-Type"), "text/html") {
			t.Errorf("header %v", r.Header)
		}
		if policy := r.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "form-action 'self'") ||
			!strings.Contains(policy, "frame-ancestors 'none'") || r.Header.Get("Referrer-Policy") != "same-origin" {
			t.Errorf("policy %s", policy)
		}
	}
	page := mainOf(b.send(http.MethodGet, "/auth/verify?token="+token, "").body)
	form := regexp.MustCompile(`(?s)<form method="post" action="(.*?)">.*<input type="hidden" name="(.*?)" value="(.*?)">.*<button type="submit">`).FindStringSubmatch(page)
	if form == nil || strings.Count(page, "<button") != 1 || strings.Contains(page, "<script") || strings.Contains(page, "http://") {
		t.Fatalf("page:\n%s", page)
	}
	press := func() reply {
		return b.send(http.MethodPost, form[1], url.Values{form[2]: {html.UnescapeString(form[3])}}.Encode(), "Content-Type", formType, "Origin", b.server.URL)
	}
	if r := press().want(t, http.StatusOK); !strings.Contains(r.body, "ada@example.org") {
		t.Errorf("page:\n%s", r.body)
	}
	b.send(http.MethodGet, "/v2/account", "").want(t, http.StatusOK)
	if r := press().want(t, http.StatusUnauthorized); !strings.Contains(r.body, "Request a new one") || len(r.Cookies()) > 0 {
		t.Errorf("the second time:\n%s", r.body)
	}
}

// mainOf returns a page's main part.
func mainOf(page string) string {
	_, page, _ = strings.Cut(page, "<main")
	page, _, _ = strings.Cut(page, "</main>")
	return page
}

func TestVerifyPageOfAnInvalidLink(t *testing.T) {
	b := newAuthService(t, false).browser()
	page := b.send(http.MethodGet, "/auth/verify?token="+url.QueryEscape(`"><script>alert(1)</script>`), "").want(t, http.StatusOK)
	if strings.Contains(page.body, "<script") {
		t.Errorf("page:\n%s", page.body)
	}
	if page := b.send(http.MethodGet, "/auth/verify", "").want(t, http.StatusOK); strings.Contains(mainOf(page.body), "<button") {
		t.Errorf("a button without a token:\n%s", page.body)
	}
}

func TestCrossOriginWritesAreRefused(t *testing.T) {
	h := newAuthService(t, false)
	tests := []struct {
		name   string
		header []string
		ok     bool
	}{
		{"a program", nil, true},
		{"our own page", []string{"Origin", h.server.URL, "Sec-Fetch-Site", "same-origin"}, true},
		{"our own page in an older browser", []string{"Origin", h.server.URL}, true},
		{"another site", []string{"Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site"}, false},
		{"another host of our site", []string{"Origin", "https://other.example", "Sec-Fetch-Site", "same-site"}, false},
		{"another site in an older browser", []string{"Origin", "https://evil.example"}, false},
		{"a page without an origin", []string{"Origin", "null"}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := h.signedIn(strings.ReplaceAll(tt.name, " ", ".") + "@example.org")
			want := func(good int) int {
				if tt.ok {
					return good
				}
				return http.StatusForbidden
			}
			token, _ := b.requestSignIn("grace@example.org")
			form := slices.Concat(tt.header, []string{"Content-Type", formType})
			b.send(http.MethodPost, "/v2/account/tokens", `{"name": "x"}`, tt.header...).want(t, want(http.StatusCreated))
			b.send(http.MethodPost, "/v2/auth/email", `{"email": "e@example.org"}`, tt.header...).want(t, want(http.StatusAccepted))
			b.send(http.MethodPost, "/auth/verify", "token="+token, form...).want(t, want(http.StatusOK))
			b.send(http.MethodPost, "/v2/auth/sign-out", "", tt.header...).want(t, want(http.StatusNoContent))
			h.advance(time.Hour + time.Second)
		})
	}
}

func TestSignInBodies(t *testing.T) {
	const email, verify = "/v2/auth/email", "/v2/auth/verify"
	tests := []struct {
		name, path, body string
		kind             string // Content-Type; empty: application/json
		status           int
		fields           []string
	}{
		{"a form", email, "email=a@b.example", formType, 415, nil},
		{"text, as a page of another site may send", email, `{"email": "a@b.example"}`, "text/plain", 415, nil},
		{"no type", email, `{"email": "a@b.example"}`, ";", 415, nil},
		{"another charset", email, `{"email": "a@b.example"}`, "application/json; charset=latin1", 415, nil},
		{"a charset", email, `{"email": "a@b.example"}`, "application/json; charset=UTF-8", 202, nil},
		{"nothing", email, " ", "", 400, nil},
		{"half", email, `{"email": "a@b.ex`, "", 400, nil},
		{"an array", email, `["a@b.example"]`, "", 400, nil},
		{"null", email, `null`, "", 400, nil},
		{"two objects", email, `{"email": "a@b.example"}{}`, "", 400, nil},
		{"one member twice", email, `{"email": "a@b.example", "email": "c@d.example"}`, "", 400, nil},
		{"invalid UTF-8", email, "{\"email\": \"a\xff@b.example\"}", "", 400, nil},
		{"too large", email, `{"email": "` + strings.Repeat("a", 70_000) + `"}`, "", 413, nil},
		{"no address", email, `{}`, "", 422, []string{"email missing"}},
		{"null address", email, `{"email": null}`, "", 422, []string{"email missing"}},
		{"a number", email, `{"email": 7}`, "", 422, []string{"email invalid_type"}},
		{"another spelling", email, `{"Email": "a@b.example"}`, "", 422, []string{"email missing", "Email unknown_field"}},
		{"more than is known", email, `{"email": "a@b.example", "z": 1, "y": {"email": 1}}`, "", 422, []string{"y unknown_field", "z unknown_field"}},
		{"no e-mail address", email, `{"email": "ada"}`, "", 422, []string{"email invalid_email"}},
		{"neither link nor code", verify, `{}`, "", 422, []string{"email missing", "code missing"}},
		{"code alone", verify, `{"code": "12345678"}`, "", 422, []string{"email missing"}},
		{"both", verify, `{"token": "x", "email": "a@b.example", "code": "1"}`, "", 422, []string{"code unknown_field", "email unknown_field"}},
		{"code as a number", verify, `{"email": "a@b.example", "code": 12345678}`, "", 422, []string{"code invalid_type"}},
		{"an unknown link", verify, `{"token": "x"}`, "", 401, nil},
		{"an unknown code", verify, `{"email": "a@b.example", "code": "12345678"}`, "", 401, nil},
		{"no address with a code", verify, `{"email": "a", "code": "12345678"}`, "", 401, nil},
	}
	h := newAuthService(t, false)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var header []string
			if tt.kind != "" {
				header = []string{"Content-Type", tt.kind}
			}
			r := h.browser().send(http.MethodPost, tt.path, tt.body, header...).want(t, tt.status)
			if tt.status == http.StatusAccepted {
				return
			}
			var p struct {
				Status int
				Errors []struct{ Field, Code, Message string }
			}
			r.decode(t, &p)
			var fields []string
			for _, f := range p.Errors {
				fields = append(fields, f.Field+" "+f.Code)
			}
			if diff := cmp.Diff(tt.fields, fields); diff != "" || p.Status != tt.status || r.Header.Get("Content-Type") != "application/problem+json" {
				t.Errorf("problem %s (-want +got):\n%s", r.body, diff)
			}
		})
	}
}

func FuzzSignInBody(f *testing.F) {
	f.Add(`{"email": "a@b.example"}`)
	f.Add(`{"email": "\ud800", "a": [[1e999]]}`)
	h := &authService{now: start}
	h.store = newRecordingStore(f, h.time)
	handler := httpapi.New(httpapi.Deps{
		BaseURL: "http://127.0.0.1", Now: h.time, Log: slog.New(slog.DiscardHandler), Buckets: ratelimit.NewMemory(1000),
		Accounts: account.New(account.Config{Store: h.store, Now: h.time, Log: slog.New(slog.DiscardHandler)}),
	})
	f.Fuzz(func(t *testing.T, body string) {
		h.advance(time.Minute)
		r := httptest.NewRequest(http.MethodPost, "/v2/auth/email", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if w.Code >= http.StatusInternalServerError || w.Code == http.StatusAccepted && !json.Valid([]byte(body)) {
			t.Errorf("status %d for %q", w.Code, body)
		}
	})
}

func TestWrongSignInCodes(t *testing.T) {
	b := newAuthService(t, false).browser()
	token, code := b.requestSignIn("ada@example.org")
	wrong := string([]byte{'0' + (code[0]-'0'+1)%10}) + code[1:]
	try := func(code string) reply {
		return b.send(http.MethodPost, "/v2/auth/verify", fmt.Sprintf(`{"email": "ada@example.org", "code": %q}`, code))
	}
	for range 5 {
		try(wrong).want(t, http.StatusUnauthorized)
	}
	if r := try(code).want(t, http.StatusUnauthorized); len(r.Cookies()) > 0 {
		t.Error("a refusal sets a cookie")
	}
	b.send(http.MethodPost, "/v2/auth/verify", fmt.Sprintf(`{"token": %q}`, token)).want(t, http.StatusOK)
}

func TestSignInLimitsOfAClient(t *testing.T) {
	tests := []struct {
		name, path, body, kind string
		status                 int
		wait                   string // Retry-After
	}{
		{"e-mails", "/v2/auth/email", `{"email": "a%d@example.org"}`, "application/json", 202, "60"},
		{"tries", "/v2/auth/verify", `{"email": "a%d@example.org", "code": "12345678"}`, "application/json", 401, "1"},
		{"tries on the page", "/auth/verify", "token=%d", formType, 401, "1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newAuthService(t, false).browser()
			send := func(i int, from string) reply {
				return b.send(http.MethodPost, tt.path, fmt.Sprintf(tt.body, i), "X-Forwarded-For", from, "Content-Type", tt.kind)
			}
			for i := range 60 {
				send(i, "2001:db8::1").want(t, tt.status)
			}
			if r := send(60, "2001:db8::2").want(t, http.StatusTooManyRequests); r.Header.Get("Retry-After") != tt.wait {
				t.Errorf("Retry-After %s, want %s", r.Header.Get("Retry-After"), tt.wait)
			}
			send(60, "2001:db8:0:1::1").want(t, tt.status)
		})
	}
}

func TestSessionsOverHTTP(t *testing.T) {
	h := newAuthService(t, false)
	one := h.signedIn("ada@example.org")
	h.advance(time.Hour)
	two, other := h.signedIn("ada@example.org"), h.signedIn("grace@example.org")
	var list struct {
		Sessions []struct {
			ID, Agent string
			Current   bool
			CreatedAt string `json:"created_at"`
			ExpiresAt string `json:"expires_at"`
		}
	}
	one.send(http.MethodGet, "/v2/account/sessions", "").want(t, http.StatusOK).decode(t, &list)
	if len(list.Sessions) != 2 || !list.Sessions[0].Current || list.Sessions[1].Current {
		t.Fatalf("sessions %+v", list.Sessions)
	}
	if s := list.Sessions[1]; s.CreatedAt != "2026-11-21T09:00:00.000Z" || s.ExpiresAt != "2026-12-21T09:00:00.000Z" || !strings.HasPrefix(s.Agent, "Go-http") {
		t.Errorf("session %+v", s)
	}
	second := "/v2/account/sessions/" + list.Sessions[1].ID
	other.send(http.MethodDelete, second, "").want(t, http.StatusNotFound)
	two.send(http.MethodGet, "/v2/account", "").want(t, http.StatusOK)
	one.send(http.MethodDelete, second, "").want(t, http.StatusNoContent)
	two.send(http.MethodGet, "/v2/account", "").want(t, http.StatusUnauthorized)
	one.send(http.MethodDelete, second, "").want(t, http.StatusNotFound)
	r := one.send(http.MethodDelete, "/v2/account/sessions/"+list.Sessions[0].ID, "").want(t, http.StatusNoContent)
	if c := r.Cookies(); len(c) != 1 || c[0].MaxAge >= 0 {
		t.Errorf("cookies %v after ending one's own session", c)
	}
}

func TestAPITokensOverHTTP(t *testing.T) {
	h := newAuthService(t, false)
	ada, grace := h.signedIn("ada@example.org"), h.signedIn("grace@example.org")
	var made struct {
		Token    string
		APIToken struct {
			ID, Name   string
			LastUsedAt *string `json:"last_used_at"`
		} `json:"api_token"`
	}
	ada.send(http.MethodPost, "/v2/account/tokens", `{"name": "my server"}`).want(t, http.StatusCreated).decode(t, &made)
	if !regexp.MustCompile(`^wsk_[0-9A-Za-z]{46}$`).MatchString(made.Token) || made.APIToken.Name != "my server" || made.APIToken.LastUsedAt != nil {
		t.Errorf("made %+v", made.APIToken)
	}
	server := h.browser()
	bearer := []string{"Authorization", "Bearer " + made.Token}
	read := server.send(http.MethodGet, "/v2/kinds", "", bearer...).want(t, http.StatusOK).Header
	if read.Get("RateLimit-Policy") != `"default";q=120;w=60` || read.Get("RateLimit") != `"default";r=119;t=1` {
		t.Errorf("a token reads with %s, %s", read.Get("RateLimit-Policy"), read.Get("RateLimit"))
	}
	server.send(http.MethodGet, "/v2/account", "", bearer...).want(t, http.StatusUnauthorized)
	server.send(http.MethodPost, "/v2/account/tokens", `{"name": "x"}`, bearer...).want(t, http.StatusUnauthorized)
	list := ada.send(http.MethodGet, "/v2/account/tokens", "").want(t, http.StatusOK)
	if strings.Contains(list.body, made.Token) || !strings.Contains(list.body, `"last_used_at":"2026-11-21T08:00:00.000Z"`) {
		t.Errorf("list %s", list.body)
	}
	if r := grace.send(http.MethodGet, "/v2/account/tokens", "").want(t, http.StatusOK); r.body != `{"tokens":[]}`+"\n" {
		t.Errorf("another account's list %s", r.body)
	}
	grace.send(http.MethodDelete, "/v2/account/tokens/"+made.APIToken.ID, "").want(t, http.StatusNotFound)
	ada.send(http.MethodDelete, "/v2/account/tokens/"+made.APIToken.ID, "").want(t, http.StatusNoContent)
	server.send(http.MethodGet, "/v2/kinds", "", bearer...).want(t, http.StatusUnauthorized)
	ada.send(http.MethodPost, "/v2/account/tokens", `{"name": ""}`).want(t, http.StatusUnprocessableEntity)
}

func TestManagementLimitOfAnAccount(t *testing.T) {
	h := newAuthService(t, false)
	ada, grace := h.signedIn("ada@example.org"), h.signedIn("grace@example.org")
	for range 60 {
		ada.send(http.MethodGet, "/v2/account", "").want(t, http.StatusOK)
	}
	if r := ada.send(http.MethodGet, "/v2/account", "").want(t, http.StatusTooManyRequests); r.Header.Get("Retry-After") != "1" {
		t.Errorf("Retry-After %s", r.Header.Get("Retry-After"))
	}
	grace.send(http.MethodGet, "/v2/account", "").want(t, http.StatusOK)
}

// TestSignInWithAFullDisk checks that if the store cannot write, the response is 503 and the log contains no personal data.
func TestSignInWithAFullDisk(t *testing.T) {
	h := newAuthService(t, false)
	b := h.browser()
	token, _ := b.requestSignIn("ada@example.org")
	h.store.fail = fmt.Errorf("write: %w", mapdata.ErrUnavailable)
	for path, body := range map[string]string{"/v2/auth/email": `{"email": "ada@example.org"}`, "/v2/auth/verify": fmt.Sprintf(`{"token": %q}`, token)} {
		r := b.send(http.MethodPost, path, body).want(t, http.StatusServiceUnavailable)
		if r.Header.Get("Retry-After") == "" || len(r.Cookies()) > 0 {
			t.Errorf("%s: header %v", path, r.Header)
		}
	}
	if log := h.log.String(); strings.Contains(log, token) || strings.Contains(log, "ada@") || !strings.Contains(log, "/v2/auth/verify") {
		t.Errorf("log: %s", log)
	}
}
