package safehttp

import (
	"errors"
	"net/http"
	"strings"
	"testing"
)

func TestCheckAuthHeaderAccepts(t *testing.T) {
	tests := []struct{ text, name, value string }{
		{"Authorization: Bearer abc", "Authorization", "Bearer abc"},
		{"x-api-KEY:abc", "x-api-KEY", "abc"},
		{"X-Key:   abc  ", "X-Key", "abc"},
		{"X-Key: a:b: c", "X-Key", "a:b: c"},
		{"Cookie: a=b; c=d", "Cookie", "a=b; c=d"},
		{"!#$%&'*+-.^_`|~: x", "!#$%&'*+-.^_`|~", "x"},
		{"X-Key: ключ", "X-Key", "ключ"},
		{"Accept-Language: de", "Accept-Language", "de"},
		{"X-Amz-Date: x", "X-Amz-Date", "x"},
		{"Hosted: x", "Hosted", "x"},
		{"X-Key: " + strings.Repeat("a", 8192-7), "X-Key", strings.Repeat("a", 8192-7)},
	}
	for _, tt := range tests {
		name, value, err := CheckAuthHeader(tt.text)
		if err != nil || name != tt.name || value != tt.value {
			t.Errorf("%.40q: %q, %.40q, %v", tt.text, name, value, err)
		}
	}
}

// invalidHeaders are rejected, by the code of the rule.
var invalidHeaders = map[string][]string{
	"empty":    {"", " ", "   ", "X-Key:", "X-Key: ", "X-Key:      "},
	"too_long": {"X-Key: " + strings.Repeat("a", 8192-6), strings.Repeat("x", 1<<20)},
	"bad_characters": {
		"X-Key: a\r\nHost: evil", "X-Key: a\nb", "X-Key: a\rb", "X-Key: a\x00", "X-Key\x00: a", "X-Key: a\tb", "X-Key:\ta", "X-Key: \x7f", "X-Key: \u0085",
		"\nX-Key: a", "X-Key: a\n", "X-Key: \x1b[31m", "X-Key: \xff", "\xffX: a",
	},
	"bad_form": {"X-Key", "Bearer abc", "X-Key abc"},
	"bad_name": {": a", " X-Key: a", "X-Key : a", "X Key: a", "X(Key): a", "Schlüssel: a", "\"X\": a", "[X]: a", "X/Y: a", "{X}: a", "X@Y: a", "X,Y: a", "X;Y: a", "X=Y: a", "X?Y: a", "<X>: a", "X\\Y: a", "Ｘ: a", "::a"},
	"reserved_name": {
		"Host: evil.org", "host: x", "HOST:x", "Content-Length: 5", "Transfer-Encoding: chunked", "Connection: close", "Upgrade: h2c", "TE: trailers", "Trailer: X", "Expect: 100-continue",
		"Proxy-Authorization: x", "Proxy-Connection: x", "proxy-x: x", "Accept: */*", "Accept-Encoding: br", "Range: bytes=0-", "If-None-Match: x", "If-Modified-Since: x", "if-x: x",
		"Metadata-Flavor: Google", "METADATA-FLAVOR: x", "X-aws-ec2-metadata-token: x", "X-AWS-EC2-METADATA-TOKEN-TTL-SECONDS: 1", "User-Agent: x",
	},
}

func TestCheckAuthHeaderErrors(t *testing.T) {
	for code, texts := range invalidHeaders {
		for _, text := range texts {
			name, value, err := CheckAuthHeader(text)
			var refusal *Refusal
			if !errors.As(err, &refusal) {
				t.Errorf("%.60q passed as %q, %q", text, name, value)
			} else if refusal.Code() != code {
				t.Errorf("%.60q: %s, want %s", text, refusal.Code(), code)
			}
		}
	}
}

func FuzzCheckAuthHeader(f *testing.F) {
	f.Add("Authorization: Bearer abc")
	for _, texts := range invalidHeaders {
		for _, text := range texts {
			if len(text) < 200 {
				f.Add(text)
			}
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		name, value, err := CheckAuthHeader(text)
		if err != nil {
			if len(text) > 12 && strings.Contains(err.Error(), text) {
				t.Fatalf("%q repeats the header", err)
			}
			return
		}
		var wire strings.Builder
		if err := (http.Header{name: {value}}).Write(&wire); err != nil {
			t.Fatal(err)
		}
		// On the wire it is one line, unchanged.
		if wire.String() != name+": "+value+"\r\n" {
			t.Fatalf("%q is sent as %q", text, wire.String())
		}
		if len(text) > maxAuthHeader || reserved(strings.ToLower(http.CanonicalHeaderKey(name))) || !strings.HasPrefix(text, name+":") {
			t.Fatalf("%q passed as %q", text, name)
		}
	})
}
