package accounts_test

import (
	"encoding/json"
	"fmt"
	"html"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
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
	"wayside/internal/http/httpapi/httpapitest"
	"wayside/internal/http/httpapi/public"
	"wayside/internal/people/account"
)

func newAuthService(t *testing.T, secure bool) *httpapitest.AuthService {
	t.Helper()
	h := &httpapitest.AuthService{T: t, Now: httpapitest.Start}
	h.Store = newRecordingStore(t, h.Time)
	h.Server = httptest.NewUnstartedServer(nil)
	scheme := "http://"
	if secure {
		h.Server.StartTLS()
		scheme = "https://"
	} else {
		h.Server.Start()
	}
	t.Cleanup(h.Server.Close)
	log := slog.New(slog.NewTextHandler(&h.Log, nil))
	catalogue := catalog.New(nil)
	accounts := account.New(account.Config{Store: h.Store, Now: h.Time, Key: []byte("key"), Log: log})
	address := scheme + h.Server.Listener.Addr().String()
	h.Server.Config.Handler = public.New(public.Deps{
		BaseURL: address, Now: h.Time, Log: log,
		Console: httpapitest.NewConsole(t, &console.Config{
			BaseURL: address, Now: h.Time, Log: log, Accounts: accounts,
			Feeds: feed.New(feed.Config{Store: h.Store, Now: h.Time, Signals: signal.NewSet()}),
		}),
		TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
		Ready:          func() error { return nil },
		Nearby:         nearby.New(nearby.Config{Catalog: catalogue, Primary: "tesla", Now: h.Time}), Sources: catalogue,
		Accounts: accounts,
		Limits:   httpapi.Limits{GuestReads: 60, AccountReads: 120, Manage: 60},
		Buckets:  ratelimit.NewMemory(1000),
	})
	return h
}

func TestSignIn(t *testing.T) {
	ways := map[string]func(b *httpapitest.Browser, token, code string) httpapitest.Reply{
		"link": func(b *httpapitest.Browser, token, _ string) httpapitest.Reply {
			return b.Send(http.MethodPost, "/v2/auth/verify", fmt.Sprintf(`{"token": %q}`, token))
		},
		"code": func(b *httpapitest.Browser, _, code string) httpapitest.Reply {
			return b.Send(http.MethodPost, "/v2/auth/verify", fmt.Sprintf(`{"email": "ada@example.org", "code": %q}`, code))
		},
		"page": func(b *httpapitest.Browser, token, _ string) httpapitest.Reply {
			return b.Send(http.MethodPost, "/auth/verify", url.Values{"token": {token}}.Encode(), "Content-Type", httpapitest.FormType, "Origin", b.Server.URL)
		},
	}
	for by, verify := range ways {
		for _, secure := range []bool{false, true} {
			t.Run(fmt.Sprintf("by %s, https %v", by, secure), func(t *testing.T) {
				b := newAuthService(t, secure).Browser()
				b.Send(http.MethodGet, "/v2/account", "").Want(t, http.StatusUnauthorized)
				token, code := b.RequestSignIn("Ada@example.org")
				name, value := verify(b, token, code).Want(t, http.StatusOK).Cookie(t, secure)
				var answer struct{ Account map[string]any }
				b.Send(http.MethodGet, "/v2/account", "").Want(t, http.StatusOK).Decode(t, &answer)
				ada, err := b.Store.AccountByEmail(t.Context(), "ada@example.org")
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
				out := b.Send(http.MethodPost, "/v2/auth/sign-out", "").Want(t, http.StatusNoContent)
				if c := out.Cookies(); len(c) != 1 || c[0].Name != name || c[0].MaxAge >= 0 || c[0].Secure != secure {
					t.Errorf("the cookie is not deleted: %v", c)
				}
				b.Send(http.MethodGet, "/v2/account", "", "Cookie", name+"="+value).Want(t, http.StatusUnauthorized)
				b.Send(http.MethodPost, "/v2/auth/sign-out", "").Want(t, http.StatusNoContent)
			})
		}
	}
}

// TestSignInDoesNotRevealAccounts checks that a known address and an unknown one get the same response after the same calls of the
// store (D11.1).
func TestSignInDoesNotRevealAccounts(t *testing.T) {
	h := newAuthService(t, false)
	h.SignedIn("known@example.org")
	for range 2 { // uses up the hour's e-mails, so that the next one is not sent
		h.Browser().Send(http.MethodPost, "/v2/auth/email", `{"email": "known@example.org"}`).Want(t, http.StatusAccepted)
	}
	var first httpapitest.Reply
	var steps []string
	for i, email := range []string{"known@example.org", "unknown@example.org"} {
		h.Store.Asked = nil
		r := h.Browser().Send(http.MethodPost, "/v2/auth/email", fmt.Sprintf(`{"email": %q}`, email)).Want(t, http.StatusAccepted)
		r.Header.Del("Date")
		if secret := r.Cookies()[0].Value; len(secret) != 43 {
			t.Errorf("a secret of %d characters for the code", len(secret))
		}
		r.Header.Set("Set-Cookie", strings.Replace(r.Header.Get("Set-Cookie"), r.Cookies()[0].Value, "", 1))
		if i == 0 {
			first, steps = r, h.Store.Asked
			continue
		}
		if diff := cmp.Diff(first.Header, r.Header); diff != "" || first.Body != r.Body || r.Body != `{"status":"sent"}`+"\n" {
			t.Errorf("answers differ: %q and %q\n%s", first.Body, r.Body, diff)
		}
		if diff := cmp.Diff(steps, h.Store.Asked); diff != "" || len(steps) == 0 {
			t.Errorf("steps %v differ:\n%s", steps, diff)
		}
	}
	if len(h.Store.Emails) != 4 {
		t.Errorf("%d e-mails, want 3 and 1", len(h.Store.Emails))
	}
}

func TestOpeningTheVerifyPageDoesNotUseTheLink(t *testing.T) {
	b := newAuthService(t, false).Browser()
	token, _ := b.RequestSignIn("ada@example.org")
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodGet} {
		r := b.Send(method, "/auth/verify?token="+token, "").Want(t, http.StatusOK)
		if len(r.Cookies()) > 0 || r.Header.Get("Cache-Control") != "no-store" || !strings.HasPrefix(r.Header.Get("Content-Type"), "text/html") {
			t.Errorf("header %v", r.Header)
		}
		if policy := r.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "form-action 'self'") ||
			!strings.Contains(policy, "frame-ancestors 'none'") || r.Header.Get("Referrer-Policy") != "same-origin" {
			t.Errorf("policy %s", policy)
		}
	}
	page := mainOf(b.Send(http.MethodGet, "/auth/verify?token="+token, "").Body)
	form := regexp.MustCompile(`(?s)<form method="post" action="(.*?)">.*<input type="hidden" name="(.*?)" value="(.*?)">.*<button type="submit">`).FindStringSubmatch(page)
	if form == nil || strings.Count(page, "<button") != 1 || strings.Contains(page, "<script") || strings.Contains(page, "http://") {
		t.Fatalf("page:\n%s", page)
	}
	press := func() httpapitest.Reply {
		return b.Send(http.MethodPost, form[1], url.Values{form[2]: {html.UnescapeString(form[3])}}.Encode(), "Content-Type", httpapitest.FormType, "Origin", b.Server.URL)
	}
	if r := press().Want(t, http.StatusOK); !strings.Contains(r.Body, "ada@example.org") {
		t.Errorf("page:\n%s", r.Body)
	}
	b.Send(http.MethodGet, "/v2/account", "").Want(t, http.StatusOK)
	if r := press().Want(t, http.StatusUnauthorized); !strings.Contains(r.Body, "Request a new one") || len(r.Cookies()) > 0 {
		t.Errorf("the second time:\n%s", r.Body)
	}
}

// mainOf returns a page's main part.
func mainOf(page string) string {
	_, page, _ = strings.Cut(page, "<main")
	page, _, _ = strings.Cut(page, "</main>")
	return page
}

func TestVerifyPageOfAnInvalidLink(t *testing.T) {
	b := newAuthService(t, false).Browser()
	page := b.Send(http.MethodGet, "/auth/verify?token="+url.QueryEscape(`"><script>alert(1)</script>`), "").Want(t, http.StatusOK)
	if strings.Contains(page.Body, "<script") {
		t.Errorf("page:\n%s", page.Body)
	}
	if page := b.Send(http.MethodGet, "/auth/verify", "").Want(t, http.StatusOK); strings.Contains(mainOf(page.Body), "<button") {
		t.Errorf("a button without a token:\n%s", page.Body)
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
		{"our own page", []string{"Origin", h.Server.URL, "Sec-Fetch-Site", "same-origin"}, true},
		{"our own page in an older browser", []string{"Origin", h.Server.URL}, true},
		{"another site", []string{"Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site"}, false},
		{"another host of our site", []string{"Origin", "https://other.example", "Sec-Fetch-Site", "same-site"}, false},
		{"another site in an older browser", []string{"Origin", "https://evil.example"}, false},
		{"a page without an origin", []string{"Origin", "null"}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := h.SignedIn(strings.ReplaceAll(tt.name, " ", ".") + "@example.org")
			want := func(good int) int {
				if tt.ok {
					return good
				}
				return http.StatusForbidden
			}
			token, _ := b.RequestSignIn("grace@example.org")
			form := slices.Concat(tt.header, []string{"Content-Type", httpapitest.FormType})
			b.Send(http.MethodPost, "/v2/account/tokens", `{"name": "x"}`, tt.header...).Want(t, want(http.StatusCreated))
			b.Send(http.MethodPost, "/v2/auth/email", `{"email": "e@example.org"}`, tt.header...).Want(t, want(http.StatusAccepted))
			b.Send(http.MethodPost, "/auth/verify", "token="+token, form...).Want(t, want(http.StatusOK))
			b.Send(http.MethodPost, "/v2/auth/sign-out", "", tt.header...).Want(t, want(http.StatusNoContent))
			h.Advance(time.Hour + time.Second)
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
		{"a form", email, "email=a@b.example", httpapitest.FormType, 415, nil},
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
			r := h.Browser().Send(http.MethodPost, tt.path, tt.body, header...).Want(t, tt.status)
			if tt.status == http.StatusAccepted {
				return
			}
			var p struct {
				Status int
				Errors []struct{ Field, Code, Message string }
			}
			r.Decode(t, &p)
			var fields []string
			for _, f := range p.Errors {
				fields = append(fields, f.Field+" "+f.Code)
			}
			if diff := cmp.Diff(tt.fields, fields); diff != "" || p.Status != tt.status || r.Header.Get("Content-Type") != "application/problem+json" {
				t.Errorf("problem %s (-want +got):\n%s", r.Body, diff)
			}
		})
	}
}

func FuzzSignInBody(f *testing.F) {
	f.Add(`{"email": "a@b.example"}`)
	f.Add(`{"email": "\ud800", "a": [[1e999]]}`)
	h := &httpapitest.AuthService{Now: httpapitest.Start}
	h.Store = newRecordingStore(f, h.Time)
	handler := public.New(public.Deps{
		BaseURL: "http://127.0.0.1", Now: h.Time, Log: slog.New(slog.DiscardHandler), Buckets: ratelimit.NewMemory(1000),
		Accounts: account.New(account.Config{Store: h.Store, Now: h.Time, Log: slog.New(slog.DiscardHandler)}),
	})
	f.Fuzz(func(t *testing.T, body string) {
		h.Advance(time.Minute)
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
	b := newAuthService(t, false).Browser()
	token, code := b.RequestSignIn("ada@example.org")
	wrong := string([]byte{'0' + (code[0]-'0'+1)%10}) + code[1:]
	try := func(code string) httpapitest.Reply {
		return b.Send(http.MethodPost, "/v2/auth/verify", fmt.Sprintf(`{"email": "ada@example.org", "code": %q}`, code))
	}
	for range 5 {
		try(wrong).Want(t, http.StatusUnauthorized)
	}
	if r := try(code).Want(t, http.StatusUnauthorized); len(r.Cookies()) > 0 {
		t.Error("a refusal sets a cookie")
	}
	b.Send(http.MethodPost, "/v2/auth/verify", fmt.Sprintf(`{"token": %q}`, token)).Want(t, http.StatusOK)
}

func TestSignInLimitsOfAClient(t *testing.T) {
	tests := []struct {
		name, path, body, kind string
		status                 int
		wait                   string // Retry-After
	}{
		{"e-mails", "/v2/auth/email", `{"email": "a%d@example.org"}`, "application/json", 202, "60"},
		{"tries", "/v2/auth/verify", `{"email": "a%d@example.org", "code": "12345678"}`, "application/json", 401, "1"},
		{"tries on the page", "/auth/verify", "token=%d", httpapitest.FormType, 401, "1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newAuthService(t, false).Browser()
			send := func(i int, from string) httpapitest.Reply {
				return b.Send(http.MethodPost, tt.path, fmt.Sprintf(tt.body, i), "X-Forwarded-For", from, "Content-Type", tt.kind)
			}
			for i := range 60 {
				send(i, "2001:db8::1").Want(t, tt.status)
			}
			if r := send(60, "2001:db8::2").Want(t, http.StatusTooManyRequests); r.Header.Get("Retry-After") != tt.wait {
				t.Errorf("Retry-After %s, want %s", r.Header.Get("Retry-After"), tt.wait)
			}
			send(60, "2001:db8:0:1::1").Want(t, tt.status)
		})
	}
}

func TestSessionsOverHTTP(t *testing.T) {
	h := newAuthService(t, false)
	one := h.SignedIn("ada@example.org")
	h.Advance(time.Hour)
	two, other := h.SignedIn("ada@example.org"), h.SignedIn("grace@example.org")
	var list struct {
		Sessions []struct {
			ID, Agent string
			Current   bool
			CreatedAt string `json:"created_at"`
			ExpiresAt string `json:"expires_at"`
		}
	}
	one.Send(http.MethodGet, "/v2/account/sessions", "").Want(t, http.StatusOK).Decode(t, &list)
	if len(list.Sessions) != 2 || !list.Sessions[0].Current || list.Sessions[1].Current {
		t.Fatalf("sessions %+v", list.Sessions)
	}
	if s := list.Sessions[1]; s.CreatedAt != "2026-11-21T09:00:00.000Z" || s.ExpiresAt != "2026-12-21T09:00:00.000Z" || !strings.HasPrefix(s.Agent, "Go-http") {
		t.Errorf("session %+v", s)
	}
	second := "/v2/account/sessions/" + list.Sessions[1].ID
	other.Send(http.MethodDelete, second, "").Want(t, http.StatusNotFound)
	two.Send(http.MethodGet, "/v2/account", "").Want(t, http.StatusOK)
	one.Send(http.MethodDelete, second, "").Want(t, http.StatusNoContent)
	two.Send(http.MethodGet, "/v2/account", "").Want(t, http.StatusUnauthorized)
	one.Send(http.MethodDelete, second, "").Want(t, http.StatusNotFound)
	r := one.Send(http.MethodDelete, "/v2/account/sessions/"+list.Sessions[0].ID, "").Want(t, http.StatusNoContent)
	if c := r.Cookies(); len(c) != 1 || c[0].MaxAge >= 0 {
		t.Errorf("cookies %v after ending one's own session", c)
	}
}

func TestAPITokensOverHTTP(t *testing.T) {
	h := newAuthService(t, false)
	ada, grace := h.SignedIn("ada@example.org"), h.SignedIn("grace@example.org")
	var made struct {
		Token    string
		APIToken struct {
			ID, Name   string
			LastUsedAt *string `json:"last_used_at"`
		} `json:"api_token"`
	}
	ada.Send(http.MethodPost, "/v2/account/tokens", `{"name": "my server"}`).Want(t, http.StatusCreated).Decode(t, &made)
	if !regexp.MustCompile(`^wsk_[0-9A-Za-z]{46}$`).MatchString(made.Token) || made.APIToken.Name != "my server" || made.APIToken.LastUsedAt != nil {
		t.Errorf("made %+v", made.APIToken)
	}
	server := h.Browser()
	bearer := []string{"Authorization", "Bearer " + made.Token}
	read := server.Send(http.MethodGet, "/v2/kinds", "", bearer...).Want(t, http.StatusOK).Header
	if read.Get("RateLimit-Policy") != `"default";q=120;w=60` || read.Get("RateLimit") != `"default";r=119;t=1` {
		t.Errorf("a token reads with %s, %s", read.Get("RateLimit-Policy"), read.Get("RateLimit"))
	}
	server.Send(http.MethodGet, "/v2/account", "", bearer...).Want(t, http.StatusUnauthorized)
	server.Send(http.MethodPost, "/v2/account/tokens", `{"name": "x"}`, bearer...).Want(t, http.StatusUnauthorized)
	list := ada.Send(http.MethodGet, "/v2/account/tokens", "").Want(t, http.StatusOK)
	if strings.Contains(list.Body, made.Token) || !strings.Contains(list.Body, `"last_used_at":"2026-11-21T08:00:00.000Z"`) {
		t.Errorf("list %s", list.Body)
	}
	if r := grace.Send(http.MethodGet, "/v2/account/tokens", "").Want(t, http.StatusOK); r.Body != `{"tokens":[]}`+"\n" {
		t.Errorf("another account's list %s", r.Body)
	}
	grace.Send(http.MethodDelete, "/v2/account/tokens/"+made.APIToken.ID, "").Want(t, http.StatusNotFound)
	ada.Send(http.MethodDelete, "/v2/account/tokens/"+made.APIToken.ID, "").Want(t, http.StatusNoContent)
	server.Send(http.MethodGet, "/v2/kinds", "", bearer...).Want(t, http.StatusUnauthorized)
	ada.Send(http.MethodPost, "/v2/account/tokens", `{"name": ""}`).Want(t, http.StatusUnprocessableEntity)
}

func TestManagementLimitOfAnAccount(t *testing.T) {
	h := newAuthService(t, false)
	ada, grace := h.SignedIn("ada@example.org"), h.SignedIn("grace@example.org")
	for range 60 {
		ada.Send(http.MethodGet, "/v2/account", "").Want(t, http.StatusOK)
	}
	if r := ada.Send(http.MethodGet, "/v2/account", "").Want(t, http.StatusTooManyRequests); r.Header.Get("Retry-After") != "1" {
		t.Errorf("Retry-After %s", r.Header.Get("Retry-After"))
	}
	grace.Send(http.MethodGet, "/v2/account", "").Want(t, http.StatusOK)
}

// TestSignInWithAFullDisk checks that if the store cannot write, the response is 503 and the log contains no personal data.
func TestSignInWithAFullDisk(t *testing.T) {
	h := newAuthService(t, false)
	b := h.Browser()
	token, _ := b.RequestSignIn("ada@example.org")
	h.Store.Fail = fmt.Errorf("write: %w", mapdata.ErrUnavailable)
	for path, body := range map[string]string{"/v2/auth/email": `{"email": "ada@example.org"}`, "/v2/auth/verify": fmt.Sprintf(`{"token": %q}`, token)} {
		r := b.Send(http.MethodPost, path, body).Want(t, http.StatusServiceUnavailable)
		if r.Header.Get("Retry-After") == "" || len(r.Cookies()) > 0 {
			t.Errorf("%s: header %v", path, r.Header)
		}
	}
	if log := h.Log.String(); strings.Contains(log, token) || strings.Contains(log, "ada@") || !strings.Contains(log, "/v2/auth/verify") {
		t.Errorf("log: %s", log)
	}
}
