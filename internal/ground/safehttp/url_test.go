package safehttp

import (
	"errors"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestCheckURLAccepts(t *testing.T) {
	tests := []struct{ name, text, want, origin string }{
		{"plain", "https://data.example.org/feed.json", "https://data.example.org/feed.json", "https://data.example.org"},
		{"no path", "https://example.org", "https://example.org", "https://example.org"},
		{"query", "https://example.org/f?a=1&b=%20", "https://example.org/f?a=1&b=%20", "https://example.org"},
		{"query without path", "https://example.org?a=1", "https://example.org?a=1", "https://example.org"},
		{"empty query", "https://example.org/?", "https://example.org/?", "https://example.org"},
		{"a URL in the query", "https://example.org/?u=https://user@x/", "https://example.org/?u=https://user@x/", "https://example.org"},
		{"@ in the path", "https://example.org/@you", "https://example.org/@you", "https://example.org"},
		{"upper case", "HTTPS://Data.EXAMPLE.org/Feed", "https://data.example.org/Feed", "https://data.example.org"},
		{"trailing dot", "https://example.org./f", "https://example.org/f", "https://example.org"},
		{"trailing dot and port", "https://example.org.:8443/f", "https://example.org:8443/f", "https://example.org:8443"},
		{"ideographic trailing dot", "https://example.org。/f", "https://example.org/f", "https://example.org"},
		{"port 443", "https://example.org:443/f", "https://example.org/f", "https://example.org"},
		{"empty port", "https://example.org:/f", "https://example.org/f", "https://example.org"},
		{"port 1024", "https://example.org:1024/", "https://example.org:1024/", "https://example.org:1024"},
		{"port 8443", "https://example.org:8443/", "https://example.org:8443/", "https://example.org:8443"},
		{"port 65535", "https://example.org:65535/", "https://example.org:65535/", "https://example.org:65535"},
		{"umlaut", "https://bücher.example.org/", "https://xn--bcher-kva.example.org/", "https://xn--bcher-kva.example.org"},
		{"umlaut decomposed, in capitals", "https://BU\u0308CHER.example.org/", "https://xn--bcher-kva.example.org/", "https://xn--bcher-kva.example.org"},
		{"sharp s stays itself (non-transitional)", "https://straße.de/", "https://xn--strae-oqa.de/", "https://xn--strae-oqa.de"},
		{"final sigma stays itself (non-transitional)", "https://βόλος.com/", "https://xn--nxasmm1c.com/", "https://xn--nxasmm1c.com"},
		{"top-level domain in its own script", "https://пример.рф/", "https://xn--e1afmkfd.xn--p1ai/", "https://xn--e1afmkfd.xn--p1ai"},
		{"A-labels", "https://XN--BCHER-KVA.example.org/", "https://xn--bcher-kva.example.org/", "https://xn--bcher-kva.example.org"},
		{"wide letters", "https://ｅｘａｍｐｌｅ.org/", "https://example.org/", "https://example.org"},
		{"hyphens inside", "https://r3---sn.example.org/", "https://r3---sn.example.org/", "https://r3---sn.example.org"},
		{"digits first", "https://1.2.3.4.example.org/", "https://1.2.3.4.example.org/", "https://1.2.3.4.example.org"},
		{"longest label", "https://" + strings.Repeat("a", 63) + ".org/", "https://" + strings.Repeat("a", 63) + ".org/", "https://" + strings.Repeat("a", 63) + ".org"},
		{"second level of a wildcard domain", "https://data.example.ck/", "https://data.example.ck/", "https://data.example.ck"},
		{"example.com", "https://example.com/", "https://example.com/", "https://example.com"},
		{"path not ASCII", "https://example.org/straße", "https://example.org/stra%C3%9Fe", "https://example.org"},
		{"path with a joiner", "https://example.org/نامه\u200cای", "https://example.org/%D9%86%D8%A7%D9%85%D9%87%E2%80%8C%D8%A7%DB%8C", "https://example.org"},
		{"query not ASCII", "https://example.org/?q=ß", "https://example.org/?q=%C3%9F", "https://example.org"},
		{"escapes kept", "https://example.org/a%2Fb%00?c=%ff", "https://example.org/a%2Fb%00?c=%ff", "https://example.org"},
		{"dots in the path kept", "https://example.org/a/../b", "https://example.org/a/../b", "https://example.org"},
		{"2 048 characters", "https://example.org/" + strings.Repeat("a", 2028), "https://example.org/" + strings.Repeat("a", 2028), "https://example.org"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			u, err := CheckURL(tt.text)
			if err != nil {
				t.Fatalf("refused: %v", err)
			}
			if u.String() != tt.want || u.Origin() != tt.origin {
				t.Errorf("got %q of %q, want %q of %q", u.String(), u.Origin(), tt.want, tt.origin)
			}
		})
	}
}

// invalidURLs are rejected, by the code of the rule.
var invalidURLs = map[string][]string{
	"too_long": {"https://example.org/" + strings.Repeat("a", 2029), "https://example.org/" + strings.Repeat("ß", 1000), strings.Repeat("x", 1<<20)},
	"bad_characters": {
		" https://example.org/", "https://example.org/ ", "https://example.org/a b", "https://exa mple.org/", "https://example.org/\t",
		"https://example.org/\n", "ht\ntps://example.org/", "https://example.org/a\r\nHost: x", "https://example.org/\x00", "https://example.org\x00.evil.org/",
		"https://example.org/\x7f", "https://example.org/\u0085", "https://example.org/\u00a0", "https://example.org/\u2028", "https://example.org/\u3000",
		"https://example.org/\u200b", "https://exa\u00admple.org/", "\ufeffhttps://example.org/", "https://example.org/\u202egpj", "https://example.org/\u2066x",
		"https://example.org\\@evil.org/", "https:\\\\example.org/", "https://example.org/\\..\\x", "https://example.org/\xff", "https://\xc3\x28.org/", "\vhttps://example.org/",
	},
	"not_https": {
		"", "example.org", "//example.org/", "/feed.json", "http://example.org/", "http:https://example.org/", "httpss://example.org/", "ftp://example.org/",
		"file:///etc/passwd", "gopher://example.org/", "javascript:alert(1)", "data:text/plain,x", "https", "wss://example.org/", "ｈttps://example.org/", "view-source:https://example.org/",
	},
	"bad_url":   {"https:", "https:example.org", "https:/example.org/", "https:?x", "https://example.org/%zz", "https://example.org/%", "https://example.org/%1"},
	"fragment":  {"https://example.org/#", "https://example.org/#a", "https://example.org#@evil.org/", "https://example.org/?q#a"},
	"user_info": {"https://user@example.org/", "https://user:pass@example.org/", "https://@example.org/", "https://:@example.org/", "https://example.org@127.0.0.1/", "https://example.org:443@evil.org/", "https://a@b@example.org/", "https://@/"},
	"ip_literal": {
		"https://127.0.0.1/", "https://127.0.0.1:8443/", "https://8.8.8.8/", "https://127.1/", "https://127.0.1/", "https://127.0.0.1./", "https://2130706433/", "https://017700000001/",
		"https://0177.0.0.1/", "https://0x7f000001/", "https://0x7f.0.0.1/", "https://0X7F.1/", "https://0x.1/", "https://127.0.0.0x1/", "https://0/", "https://0x/", "https://00000000177.1/",
		"https://１２７.０.０.１/", "https://127。0。0。1/", "https://127｡0｡0｡1/", "https://①②⑦.⓪.⓪.①/", "https://169.254.169.254/latest/meta-data/", "https://[::1]/", "https://[::1]:8443/",
		"https://[::ffff:127.0.0.1]/", "https://[fe80::1%25eth0]/", "https://[2606:4700::1111]/", "https://[127.0.0.1]/", "https://[]/", "https://[::1/", "https://::1/", "https://fe80::1/", "https://1.2.3/", "https://999.999.999.999/",
		"https://256.256.256.256/", "https://4294967296/", "https://192.168.0.1.:443/", "https://example.123/", "https://example.0x1f/",
	},
	"bad_host": {
		"https:///path", "https://", "https:///", "https://:443/", "https://?x", "https://./", "https://../", "https://.example.org/", "https://example..org/", "https://example.org../", "https://example.org。。/",
		"https://%65xample.org/", "https://example%2eorg/", "https://127%2e0.0.1/", "https://exa_mple.org/", "https://-example.org/", "https://example-.org/", "https://exa$mple.org/", "https://exa*mple.org/",
		"https://*.example.org/", "https://exa,mple.org/", "https://exa;mple.org/", "https://exa|mple.org/", "https://exa\"mple.org/", "https://exa<mple.org/", "https://exa`mple.org/", "https://{example}.org/", "https://exa^mple.org/",
		"https://xn--.org/", "https://xn--a.org/", "https://xn--example-.org/", "https://xn--localhost-.org/", "https://xn--zzzzzz.org/", "https://" + strings.Repeat("a", 64) + ".org/", "https://" + strings.Repeat("a.", 126) + "org/",
		"https://ex\u200campleb.org/", "https://א1a.org/", "https://a⒈com/", "https://example.org;evil.org/", "https://example&.org/", "https://ex'ample.org/", "https://(example).org/", "https://exa=mple.org/", "https://exa!mple.org/", "https://exa+mple.org/",
	},
	"not_public_host": {
		"https://localhost/", "https://LOCALHOST:8443/", "https://localhost./", "https://ｌｏｃａｌｈｏｓｔ/", "https://foo.localhost/", "https://localhost.localdomain/", "https://printer.local/", "https://metadata.google.internal/",
		"https://metadata/", "https://intranet/", "https://com/", "https://router.lan/", "https://nas.home.arpa/", "https://4.3.2.1.in-addr.arpa/", "https://x.ip6.arpa/", "https://arpa/", "https://abcdefghij.onion/", "https://foo.invalid/", "https://foo.test/",
		"https://foo.example/", "https://foo.corp/", "https://foo.home/", "https://foo.mail/", "https://foo.alt/", "https://wpad.domain/", "https://foo.bit/", "https://server.private/", "https://foo.intranet/", "https://kubernetes.default.svc/", "https://kubernetes.default.svc.cluster.local/",
		"https://host.docker.internal/", "https://foo.i2p/", "https://foo.consul/", "https://a.b.localhost/", "https://example.c0m/", "https://example.comm/", "https://example.xn--zckzah/",
	},
	"bad_port": {
		"https://example.org:80/", "https://example.org:22/", "https://example.org:0/", "https://example.org:1/", "https://example.org:444/", "https://example.org:1023/", "https://example.org:65536/", "https://example.org:99999/",
		"https://example.org:4294967739/", "https://example.org:-443/", "https://example.org:+443/", "https://example.org:0443/", "https://example.org:00443/", "https://example.org:0x1bb/", "https://example.org:４４３/", "https://example.org:44a/", "https://example.org:8443x/",
		"https://example.org:1719/", "https://example.org:1720/", "https://example.org:1723/", "https://example.org:2049/", "https://example.org:3659/", "https://example.org:4045/", "https://example.org:4190/", "https://example.org:5060/", "https://example.org:5061/",
		"https://example.org:6000/", "https://example.org:6566/", "https://example.org:6665/", "https://example.org:6669/", "https://example.org:6679/", "https://example.org:6697/", "https://example.org:10080/", "https://example.org:%34%34%33/", "https://example.org:443.5/",
	},
}

func TestCheckURLErrors(t *testing.T) {
	for code, texts := range invalidURLs {
		for _, text := range texts {
			u, err := CheckURL(text)
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

func TestTLDs(t *testing.T) {
	for _, label := range []string{"com", "org", "nl", "ck", "np", "xn--p1ai", "zw", "aaa"} {
		if !isDelegated(label) {
			t.Errorf("%s is delegated", label)
		}
	}
	for _, label := range []string{"", "onion", "arpa", "local", "localhost", "internal", "lan", "test", "invalid", "example", "com\norg", "#", "do not edit."} {
		if isDelegated(label) && !strings.Contains(label, "\n") {
			t.Errorf("%q is not delegated", label)
		}
	}
	if n := strings.Count(delegated, "\n"); n < 1200 {
		t.Errorf("%d lines", n)
	}
}

func FuzzCheckURL(f *testing.F) {
	f.Add("https://bücher.example.org:8443/a?b=ß")
	for _, texts := range invalidURLs {
		for _, text := range texts {
			if len(text) < 200 {
				f.Add(text)
			}
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		u, err := CheckURL(text)
		if err != nil {
			var refusal *Refusal
			if !errors.As(err, &refusal) {
				t.Fatalf("%T", err)
			}
			return
		}
		// A valid URL has the same meaning for net/url, and validating it again changes nothing.
		shown := u.String()
		again, err := CheckURL(shown)
		if err != nil || again.String() != shown || again.Origin() != u.Origin() {
			t.Fatalf("%q became %q, which became %v, %v", text, shown, again, err)
		}
		parsed, err := url.Parse(shown)
		if err != nil || parsed.Scheme != "https" || parsed.User != nil || parsed.Hostname() != u.Host() || parsed.Fragment != "" {
			t.Fatalf("%q is read otherwise: %+v %v", shown, parsed, err)
		}
		if len(shown) > maxURL || strings.ContainsFunc(shown, func(r rune) bool { return r <= ' ' || r >= 0x7f }) || !utf8.ValidString(shown) {
			t.Fatalf("%q is not fit to be sent", shown)
		}
	})
}
