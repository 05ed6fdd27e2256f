package httpapitest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"wayside/internal/http/console"
	"wayside/internal/roads/region"
)

// FormType is the content type of forms.
const FormType = "application/x-www-form-urlencoded"

// AuthService is the part of the service that signs people in, behind a real server.
type AuthService struct {
	T      *testing.T
	Store  *RecordingStore
	Server *httptest.Server
	Log    bytes.Buffer
	mu     sync.Mutex
	Now    time.Time
}

// NewConsole makes the pages for people.
func NewConsole(t *testing.T, cfg *console.Config) *console.Console {
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

// Time returns the test's time.
func (h *AuthService) Time() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.Now
}

// Advance moves the test's time forward.
func (h *AuthService) Advance(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.Now = h.Now.Add(d)
}

// Browser is an HTTP client that keeps cookies.
type Browser struct {
	*AuthService
	Client *http.Client
}

// Browser returns a browser without cookies.
func (h *AuthService) Browser() *Browser {
	h.T.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		h.T.Fatal(err)
	}
	client := *h.Server.Client()
	client.Jar = jar
	return &Browser{h, &client}
}

// Reply is a response whose body has been read.
type Reply struct {
	*http.Response
	Body string
}

// Send sends a request. A body is JSON unless the header pairs say otherwise.
func (b *Browser) Send(method, path, body string, header ...string) Reply {
	b.T.Helper()
	req, err := http.NewRequestWithContext(b.T.Context(), method, b.Server.URL+path, strings.NewReader(body))
	if err != nil {
		b.T.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := b.Client.Do(req)
	if err != nil {
		b.T.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		b.T.Fatal(err)
	}
	CheckAnswer(b.T, resp, text)
	return Reply{resp, string(text)}
}

// Want fails the test unless the reply has the status.
func (r Reply) Want(t *testing.T, status int) Reply {
	t.Helper()
	if r.StatusCode != status {
		t.Fatalf("%s, want %d: %s", r.Status, status, r.Body)
	}
	return r
}

// Decode decodes the reply's JSON.
func (r Reply) Decode(t *testing.T, v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(r.Body), v); err != nil {
		t.Fatalf("%v: %s", err, r.Body)
	}
}

// RequestSignIn asks for a sign-in e-mail and returns its token and code.
func (b *Browser) RequestSignIn(email string) (token, code string) {
	b.T.Helper()
	before := len(b.Store.Emails)
	b.Send(http.MethodPost, "/v2/auth/email", fmt.Sprintf(`{"email": %q}`, email)).Want(b.T, http.StatusAccepted)
	if len(b.Store.Emails) != before+1 {
		b.T.Fatal("no e-mail")
	}
	data := b.Store.Emails[before].Data
	return data["token"], data["code"]
}

// SignedIn returns a browser that is signed in.
func (h *AuthService) SignedIn(email string) *Browser {
	h.T.Helper()
	b := h.Browser()
	token, _ := b.RequestSignIn(email)
	b.Send(http.MethodPost, "/v2/auth/verify", fmt.Sprintf(`{"token": %q}`, token)).Want(h.T, http.StatusOK)
	return b
}

// Cookie checks the session cookie of a sign-in against D11.2, and returns it.
func (r Reply) Cookie(t *testing.T, secure bool) (name, value string) {
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

// WithoutRedirects returns a browser that does not follow redirects.
func (b *Browser) WithoutRedirects() *Browser {
	b.Client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return b
}

// WantRedirect fails the test unless the reply leads to an address.
func (r Reply) WantRedirect(t *testing.T, to string) {
	t.Helper()
	if got := r.Want(t, http.StatusSeeOther).Header.Get("Location"); got != to {
		t.Errorf("leads to %s, want %s", got, to)
	}
}

// Attr returns an attribute's value.
func Attr(e *html.Node, name string) string {
	for _, a := range e.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// FieldsOf returns the values of the form with the given action, and the values of its buttons.
func FieldsOf(t *testing.T, r Reply, action string) (fields url.Values, buttons []string) {
	t.Helper()
	for _, e := range Elements(t, []byte(r.Body)) {
		if e.Data != "form" || Attr(e, "action") != action {
			continue
		}
		fields = url.Values{}
		for n := range e.Descendants() {
			switch n.Data {
			case "input":
				fields.Add(Attr(n, "name"), Attr(n, "value"))
			case "button":
				buttons = append(buttons, Attr(n, "name")+"="+Attr(n, "value"))
			}
		}
	}
	if fields == nil {
		t.Fatalf("no form goes to %s:\n%s", action, r.Body)
	}
	return fields, buttons
}

// RequestSignInByPage requests a sign-in e-mail on the page and returns its code.
func (b *Browser) RequestSignInByPage(fields url.Values) (Reply, string) {
	b.T.Helper()
	before := len(b.Store.Emails)
	page := b.Form("/sign-in", fields).Want(b.T, http.StatusOK)
	if len(b.Store.Emails) != before+1 {
		b.T.Fatal("no e-mail")
	}
	return page, b.Store.Emails[before].Data["code"]
}

// SendRaw sends a request whose body may be broken, and closes its side; nil: the connection was closed without an answer.
func (b *Browser) SendRaw(t *testing.T, method, path, header, body string) *http.Response {
	t.Helper()
	base, err := url.Parse(b.Server.URL)
	if err != nil {
		t.Fatal(err)
	}
	var dialer net.Dialer
	conn, err := dialer.DialContext(t.Context(), "tcp", base.Host)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	var cookies []string
	for _, one := range b.Client.Jar.Cookies(base) {
		cookies = append(cookies, one.String())
	}
	text := fmt.Sprintf("%s %s HTTP/1.1\r\nHost: %s\r\nCookie: %s\r\n%s\r\n%s", method, path, base.Host, strings.Join(cookies, "; "), header, body)
	if _, err := io.WriteString(conn, text); err != nil {
		return nil
	}
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		return nil
	}
	if err := conn.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	answer, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		return nil
	}
	_ = answer.Body.Close()
	return answer
}
