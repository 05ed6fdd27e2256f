package safehttp

import (
	"errors"
	"net/url"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func mustOperatorURL(t testing.TB, text string) *URL {
	t.Helper()
	u, err := OperatorURL(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return u
}

func TestOperatorURLAccepts(t *testing.T) {
	tests := []struct{ name, text, want, origin, host string }{
		{"https", "https://relay.example.org", "https://relay.example.org", "https://relay.example.org", "relay.example.org"},
		{"http", "http://relay.example.org/", "http://relay.example.org/", "http://relay.example.org", "relay.example.org"},
		{"upper case", "HTTP://Relay.Example.ORG/Path", "http://relay.example.org/Path", "http://relay.example.org", "relay.example.org"},
		{"slash at the end kept", "https://relay.example.org/a/", "https://relay.example.org/a/", "https://relay.example.org", "relay.example.org"},
		{"path kept", "https://relay.example.org/a//b/../c%2Fd", "https://relay.example.org/a//b/../c%2Fd", "https://relay.example.org", "relay.example.org"},
		{"own port of http", "http://a.example.org:80/", "http://a.example.org/", "http://a.example.org", "a.example.org"},
		{"own port of https", "https://a.example.org:443/", "https://a.example.org/", "https://a.example.org", "a.example.org"},
		{"the other's port", "http://a.example.org:443/", "http://a.example.org:443/", "http://a.example.org:443", "a.example.org"},
		{"the other's port, too", "https://a.example.org:80/", "https://a.example.org:80/", "https://a.example.org:80", "a.example.org"},
		{"empty port", "http://a.example.org:/", "http://a.example.org/", "http://a.example.org", "a.example.org"},
		{"port 1", "http://a.example.org:1", "http://a.example.org:1", "http://a.example.org:1", "a.example.org"},
		{"port 65535", "http://a.example.org:65535", "http://a.example.org:65535", "http://a.example.org:65535", "a.example.org"},
		{"a port that browsers refuse", "http://a.example.org:6000", "http://a.example.org:6000", "http://a.example.org:6000", "a.example.org"},
		{"localhost", "http://localhost:9000", "http://localhost:9000", "http://localhost:9000", "localhost"},
		{"private name", "http://relay.internal.lan", "http://relay.internal.lan", "http://relay.internal.lan", "relay.internal.lan"},
		{"trailing dot", "http://relay.example.org.:8080/x", "http://relay.example.org:8080/x", "http://relay.example.org:8080", "relay.example.org"},
		{"umlaut", "https://bücher.example.org/", "https://xn--bcher-kva.example.org/", "https://xn--bcher-kva.example.org", "xn--bcher-kva.example.org"},
		{"IPv4", "http://127.0.0.1:8080/x", "http://127.0.0.1:8080/x", "http://127.0.0.1:8080", "127.0.0.1"},
		{"private IPv4", "https://10.1.2.3", "https://10.1.2.3", "https://10.1.2.3", "10.1.2.3"},
		{"IPv6", "http://[::1]:8080/x", "http://[::1]:8080/x", "http://[::1]:8080", "::1"},
		{"IPv6 without port", "https://[fd00::1]", "https://[fd00::1]", "https://[fd00::1]", "fd00::1"},
		{"IPv6 written at length", "https://[FD00:0:0:0:0:0:0:1]:443/", "https://[fd00::1]/", "https://[fd00::1]", "fd00::1"},
		{"mapped", "http://[::ffff:127.0.0.1]/", "http://127.0.0.1/", "http://127.0.0.1", "127.0.0.1"},
		{"@ in the path", "http://a.example.org/@b:c", "http://a.example.org/@b:c", "http://a.example.org", "a.example.org"},
		{"path not ASCII", "http://a.example.org/ß", "http://a.example.org/%C3%9F", "http://a.example.org", "a.example.org"},
		{"2 048 characters", "http://a.example.org/" + strings.Repeat("a", 2027), "http://a.example.org/" + strings.Repeat("a", 2027), "http://a.example.org", "a.example.org"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			u, err := OperatorURL(tt.text)
			if err != nil {
				t.Fatalf("refused: %v", err)
			}
			if u.String() != tt.want || u.Origin() != tt.origin || u.Host() != tt.host {
				t.Errorf("got %q of %q at %q, want %q of %q at %q", u.String(), u.Origin(), u.Host(), tt.want, tt.origin, tt.host)
			}
		})
	}
}

// invalidOperatorURLs are rejected, by the code of the rule.
var invalidOperatorURLs = map[string][]string{
	"too_long": {"http://a.example.org/" + strings.Repeat("a", 2028), "http://a.example.org/" + strings.Repeat("ß", 1000)},
	"bad_characters": {
		" http://a.example.org", "http://a.example.org ", "http://a.example.org/a b", "http://a.exam\tple.org", "http://a.example.org/\r\nHost: evil", "http://a.example.org/\x00",
		"http://a.example.org\\@evil", "http://a.example.org/\xff", "http://a.example.org/\u200b", "http://a.example.org/\u00a0", "\ufeffhttp://a.example.org",
	},
	"bad_scheme": {"", "a.example.org", "//a.example.org", "ftp://a.example.org", "file:///etc/passwd", "http:a.example.org", "http:/a.example.org", "unix:///run/x", "https", "httpss://a.example.org", "ws://a.example.org"},
	"bad_url":    {"http://a.example.org/%zz", "http://a.example.org/%"},
	"fragment":   {"http://a.example.org#", "http://a.example.org/#x", "http://a.example.org#@evil", "http://a.example.org/?#"},
	"query":      {"http://a.example.org?", "http://a.example.org/?", "http://a.example.org/x?lat=1", "http://a.example.org?@evil"},
	"user_info":  {"http://user@a.example.org", "http://user:evil@a.example.org/", "http://@a.example.org", "http://:@a.example.org", "http://a.example.org@evil/", "http://a@[::1]/", "http://@"},
	"bad_address": {
		"http://127.1", "http://2130706433", "http://0x7f000001", "http://0x7f.0.0.1", "http://0177.0.0.1", "http://127.0.0.256", "http://1.2.3", "http://example.123", "http://[]", "http://[::1%25eth0]", "http://[::1%eth0]/",
		"http://[127.0.0.1]", "http://[a.example.org]", "http://[::1]evil/", "http://[v1.x]/", "http://[::1]]/", "http://[[::1]]/", "http://0",
	},
	"bad_host": {"http://", "http:///x", "http://:80", "http://.", "http://a..b", "http://a_b.example.org", "http://-a.example.org", "http://%61.example.org", "http://a%2eb", "http://exa$mple", "http://" + strings.Repeat("a", 64), "http://a.example.org;evil", "http://xn--zzzzzz.example.org", "http://]", "http://a]:80"},
	"bad_port": {
		"http://a.example.org:0", "http://a.example.org:65536", "http://a.example.org:99999999999", "http://a.example.org:-1", "http://a.example.org:+80", "http://a.example.org:080", "http://a.example.org:８０", "http://a.example.org:http", "http://a:80:80", "http://[::1]:0", "http://fe80::1", "http://::1", "http://:::", "http://[::1", "http://[::1]:80:80",
	},
}

func TestOperatorURLErrors(t *testing.T) {
	for code, texts := range invalidOperatorURLs {
		for _, text := range texts {
			u, err := OperatorURL(text)
			var refusal *Refusal
			if !errors.As(err, &refusal) {
				t.Errorf("%.80q passed as %v", text, u)
				continue
			}
			if refusal.Code() != code {
				t.Errorf("%.80q: %s, want %s", text, refusal.Code(), code)
			}
			if !strings.HasPrefix(refusal.Error(), "must ") || strings.Contains(refusal.Error(), "evil") {
				t.Errorf("%.80q: %q", text, refusal.Error())
			}
		}
	}
}

func TestWith(t *testing.T) {
	query := url.Values{"lat": {"52.5"}, "tenant": {"a&b"}}
	tests := []struct{ base, path, want string }{
		{"http://h:1", "relay/incidents", "http://h:1/relay/incidents?lat=52.5&tenant=a%26b"},
		{"http://h:1/", "relay/incidents", "http://h:1/relay/incidents?lat=52.5&tenant=a%26b"},
		{"http://h:1/base", "/incidents", "http://h:1/base/incidents?lat=52.5&tenant=a%26b"},
		{"https://[::1]/base/", "incidents", "https://[::1]/base/incidents?lat=52.5&tenant=a%26b"},
		{"http://h/a%2F", "b", "http://h/a%2F/b?lat=52.5&tenant=a%26b"},
		{"http://h/a%2Fb/", "c/d e", "http://h/a%2Fb/c/d%20e?lat=52.5&tenant=a%26b"},
		{"http://h/a//b", "c", "http://h/a//b/c?lat=52.5&tenant=a%26b"},
		{"http://h/a", "b?c#d%2Fe", "http://h/a/b%3Fc%23d%252Fe?lat=52.5&tenant=a%26b"},
		{"http://h", "//evil/x", "http://h//evil/x?lat=52.5&tenant=a%26b"},
		{"http://h/a/", "", "http://h/a/?lat=52.5&tenant=a%26b"},
	}
	for _, tt := range tests {
		base := mustOperatorURL(t, tt.base)
		got := base.With(tt.path, query)
		if got.String() != tt.want || got.Origin() != base.Origin() || got.Host() != base.Host() || !got.operator {
			t.Errorf("%s with %q: %s, want %s", tt.base, tt.path, got, tt.want)
		}
		if base.String() != tt.base {
			t.Errorf("%s became %s itself", tt.base, base)
		}
	}
	asked, err := CheckURL("https://example.org/a?b=c")
	if err != nil {
		t.Fatal(err)
	}
	if got := asked.With("d", nil); got.String() != "https://example.org/a/d" || got.operator {
		t.Errorf("got %s, the operator's %v", got, got.operator)
	}
}

// TestWithKeepsHost checks that net/url parses the same host and the whole path and query, for any path and query.
func TestWithKeepsHost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base, err := OperatorURL(rapid.SampledFrom([]string{"http://h", "https://h:1/", "http://[::1]/a", "https://h/a%2F/", "http://h/ß"}).Draw(t, "base"))
		if err != nil {
			t.Fatal(err)
		}
		path, value := rapid.String().Draw(t, "path"), rapid.String().Draw(t, "value")
		got := base.With(path, url.Values{"q": {value}})
		parsed, err := url.Parse(got.String())
		if err != nil {
			t.Fatal(err)
		}
		if parsed.Scheme+"://"+parsed.Host != base.Origin() || parsed.User != nil || parsed.Fragment != "" || parsed.Query().Get("q") != value {
			t.Errorf("%q led to %s", path, got)
		}
		if !strings.HasSuffix(parsed.Path, strings.TrimPrefix(path, "/")) {
			t.Errorf("%q is not the end of %q", path, parsed.Path)
		}
	})
}

func FuzzOperatorURL(f *testing.F) {
	f.Add("http://bücher.example.org:8443/a/ß")
	f.Add("https://[fd00::1]:65535/a%2Fb/")
	f.Add("http://192.0.2.1:1")
	for _, texts := range invalidOperatorURLs {
		for _, text := range texts {
			if len(text) < 200 {
				f.Add(text)
			}
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		u, err := OperatorURL(text)
		if err != nil {
			var refusal *Refusal
			if !errors.As(err, &refusal) {
				t.Fatalf("%T", err)
			}
			return
		}
		if typed, err := url.Parse(text); err == nil && (typed.User != nil || typed.Fragment != "" || typed.RawQuery != "" || typed.ForceQuery) {
			t.Fatalf("%q passed, of which others read %+v", text, typed)
		}
		shown := u.String()
		again, err := OperatorURL(shown)
		if err != nil || again.String() != shown || again.Origin() != u.Origin() || again.host != u.host || again.addr != u.addr || again.port != u.port {
			t.Fatalf("%q became %q, which became %v, %v", text, shown, again, err)
		}
		parsed, err := url.Parse(shown)
		if err != nil || parsed.User != nil || parsed.Hostname() != u.Host() || parsed.Fragment != "" || parsed.RawQuery != "" || parsed.Scheme+"://"+parsed.Host != u.Origin() {
			t.Fatalf("%q is read otherwise: %+v %v", shown, parsed, err)
		}
		if len(shown) > maxURL || strings.ContainsFunc(shown, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
			t.Fatalf("%q is not fit to be sent", shown)
		}
		if again, err := CheckURL(shown); err == nil && again.operator {
			t.Fatalf("%q became the operator's without their doing", shown)
		}
	})
}
