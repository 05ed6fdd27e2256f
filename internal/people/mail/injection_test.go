//go:build !race

package mail

import (
	"fmt"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"wayside/internal/ground/mapdata"
)

// payloads are values that try to break out of their place in an e-mail: in headers, HTML, templates or text direction.
var payloads = []string{
	// Headers.
	"x\r\nBcc: eve@evil.example", "x\nBcc: eve@evil.example", "x\rBcc: eve@evil.example", "x\r\n\r\n<b>body</b>", "x\n\nbody",
	"x\r\n Subject: folded", "x\r\n\tTo: eve@evil.example", "x\u2028Bcc: eve@evil.example", "x\u2029Bcc: eve@evil.example",
	"x\u0085Bcc: eve@evil.example", "x\vBcc: eve@evil.example", "x\fBcc: eve@evil.example", "x\x00Bcc: eve@evil.example",
	"%0d%0aBcc: eve@evil.example", "=?UTF-8?Q?=0D=0ABcc:_eve@evil.example?=", "=?UTF-8?B?DQpCY2M6IGV2ZUBldmlsLmV4YW1wbGU=?=",
	"=0D=0ABcc: eve@evil.example", "嘊嘍Bcc: eve@evil.example", "\r\n.\r\nMAIL FROM:<eve@evil.example>", "\n.\n", ".", "..",
	"\r\n--boundary\r\nContent-Type: text/html\r\n\r\n<h1>x", "Content-Transfer-Encoding: base64\r\n\r\nPGI+",
	// HTML.
	"<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "<img src=https://evil.example/p.gif>", "</bdi></p><h1>x</h1>",
	"</title><script>alert(1)</script>", "</style><script>alert(1)</script>", "\"><a href=\"https://evil.example\">x</a>",
	"'><svg onload=alert(1)>", "<svg/onload=alert(1)>", "<iframe src=javascript:alert(1)>", "<a href=\"javascript:alert(1)\">x</a>",
	"javascript:alert(1)", "data:text/html,<script>alert(1)</script>", "<style>*{display:none}</style>", "<!-- ", "--><b>x</b>",
	"<![CDATA[<b>x</b>]]>", "&lt;script&gt;", "&#60;script&#62;", "&amp;#x3c;", "<form action=https://evil.example><input name=code>",
	"<base href=https://evil.example>", "<meta http-equiv=refresh content=0;url=https://evil.example>",
	"<link rel=stylesheet href=https://evil.example/x.css>", "<object data=x>", "<math><mtext><b>x", "\u003cscript\u003ealert(1)",
	"＜script＞alert(1)＜/script＞", "<scr\x00ipt>alert(1)</scr\x00ipt>", "\xc0\xbcscript\xc0\xbe", "<bdo dir=rtl>x</bdo>",
	// Templates.
	"{{.service}}", "{{template \"spans\"}}", "{feed}{rows}{service}", "${7*7}", "%s%n%d", "{{define \"spans\"}}x{{end}}",
	// Text direction and invisible characters.
	"\u202eevil\u202c", "\u2066a\u2067b\u2068c\u2069\u2069", "\u200e\u200f\u061c", "a\u202d\u202eb", "\ufeffx\u200b\u200dy", "שלום 123 evil",
	"مرحبا (abc) 5", "\x1b[31mred\x1b[0m", "\x9b31mred", "\a\b\x7f", strings.Repeat("\u0301", 300), strings.Repeat("🚗", 5000),
	strings.Repeat("A", 20_000), strings.Repeat("é ", 5000), "\xff\xfe\xfd", "\xed\xa0\x80", strings.Repeat("\n", 9000), "",
}

// injectionShare is the inverse of the share of payloads that is tried for each kind and language, another part for the next. A payload
// meets every kind and every language, but not every combination.
const injectionShare = 3

// TestInjection puts each payload into every value of every kind of e-mail, parses the result, and checks that headers and HTML elements
// are the same as with a harmless value.
func TestInjection(t *testing.T) {
	d := newTestSender(t, Config{SMTPURL: "smtp://127.0.0.1:25"}) // never dialled
	for k, kind := range kinds {
		for l, language := range mapdata.Languages() {
			harmless := d.structureOf(t, kind, language, "x")
			for i, payload := range payloads {
				if (k+l+i)%injectionShare != 0 {
					continue
				}
				got := d.structureOf(t, kind, language, payload)
				if clean("note", payload) == "" {
					continue // without a note there is no quotation; the e-mail only has to parse
				}
				if got != harmless {
					t.Errorf("%s in %s, payload %d %.60q: is\n%s\nwant\n%s", kind, language, i, payload, got, harmless)
				}
			}
		}
	}
}

// structureOf describes an e-mail with the value: number and values of headers, and the elements and attributes of its HTML.
func (d *testSender) structureOf(t *testing.T, kind mapdata.EmailKind, language mapdata.Language, value string) string {
	t.Helper()
	data := map[string]string{"base_url": value, "service": value, "path": value, "feed": value, "id": value}
	for _, name := range []string{"feed_name", "feed_id", "note", "error", "outcome", "rows", "rows_before", "code", "token", "name", "made_id", "app_name", "app_id"} {
		data[name] = value
	}
	msg, err := d.compose(&mapdata.Email{Kind: kind, Data: data, Language: language, Address: "ada@example.org"}, start)
	if err != nil {
		t.Fatal(err)
	}
	var raw strings.Builder
	if _, err := msg.WriteTo(&raw); err != nil {
		t.Fatal(err)
	}
	head, _, _ := strings.Cut(raw.String(), "\r\n\r\n")
	for line := range strings.SplitSeq(head, "\r\n") {
		if len(line) > 78 || strings.HasSuffix(line, " ") || line == "Subject:" {
			t.Errorf("%.60q makes a line of %d bytes in the header: %q", value, len(line), line)
		}
	}
	for line := range strings.SplitSeq(raw.String(), "\r\n") {
		if len(line) > maxUnencodedLine || strings.ContainsAny(line, "\r\n\x00\x1b") {
			t.Errorf("%.60q makes a line of %d bytes, or control characters: %.100q", value, len(line), line)
		}
		for _, r := range line {
			if r > 0x7e {
				t.Fatalf("%.60q goes over the wire unencoded: %.100q", value, line)
			}
		}
	}
	read, text, page := parseBoth(t, raw.String())
	if to := read.Header["To"]; len(to) != 1 || !strings.Contains(to[0], "ada@example.org") || !strings.Contains(text, "https://wayside.example.org") {
		t.Errorf("%.60q: to %q", value, to)
	}
	email, err := d.texts.render(&mapdata.Email{Kind: kind, Data: data, Language: language})
	if err != nil {
		t.Fatal(err)
	}
	if got := subjectOf(t, read); got != email.subject {
		t.Errorf("%.60q: subject %q, want %q", value, got, email.subject)
	}
	if strings.ContainsAny(text+page+subjectOf(t, read), "\u202e\u202d\u200f\u061c\u2066\u2067\ufeff") {
		t.Errorf("%.60q turns text around", value)
	}
	if strings.Count(text, firstStrongIsolate) != strings.Count(text, popIsolate) {
		t.Errorf("%.60q: isolates are not closed:\n%s", value, text)
	}
	if read.Header.Get("Auto-Submitted") != "auto-generated" || read.Header.Get("Content-Language") != string(language) {
		t.Errorf("%.60q: header %v", value, read.Header)
	}
	var shape strings.Builder
	fmt.Fprintln(&shape, len(read.Header), read.Header.Get("From"), read.Header.Get("List-Id"))
	elements(t, &shape, page)
	return shape.String()
}

func elements(t *testing.T, out *strings.Builder, page string) {
	t.Helper()
	for z := html.NewTokenizer(strings.NewReader(page)); ; {
		switch z.Next() {
		case html.ErrorToken:
			return
		case html.StartTagToken, html.SelfClosingTagToken, html.EndTagToken:
			token := z.Token()
			if token.Data == "br" {
				continue // one per line of the note
			}
			if token.Data == "bdi" {
				continue
			}
			fmt.Fprint(out, token.Data)
			for _, a := range token.Attr {
				switch {
				case a.Key == "href" && !strings.HasPrefix(a.Val, "https://wayside.example.org/"):
					t.Errorf("a link to %s", a.Val)
				case a.Key == "href":
					a.Val = ""
				}
				fmt.Fprintf(out, " %s=%q", a.Key, a.Val)
			}
			fmt.Fprintln(out)
		case html.CommentToken, html.DoctypeToken, html.TextToken:
		}
	}
}

// TestEmailsContainNoOtherSecrets checks that an e-mail contains no secrets except those of its own kind, even if its data contains others.
func TestEmailsContainNoOtherSecrets(t *testing.T) {
	texts, err := newTexts("https://wayside.example.org")
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range kinds[1:] {
		l, err := texts.render(&mapdata.Email{Kind: kind, Data: map[string]string{
			"feed_id": "7", "token": "T0ken", "code": "00420815", "push_token": "wsp_x", "pull_url": "https://u:p@feeds.example",
		}})
		if err != nil {
			t.Fatal(err)
		}
		for _, secret := range []string{"T0ken", "00420815", "wsp_x", "u:p@"} {
			if secret == "T0ken" && changesAddress(kind) {
				continue // its link
			}
			if strings.Contains(l.subject+l.text+l.html, secret) {
				t.Errorf("%s tells %s", kind, secret)
			}
		}
	}
	l, err := texts.render(&mapdata.Email{Kind: mapdata.EmailSignIn, Data: map[string]string{"token": "T0ken", "code": "00420815"}})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(l.subject, "00420815") || strings.Count(l.html, "T0ken") != 1 || strings.Count(l.html, "00420815") != 1 {
		t.Errorf("subject %q, page %s", l.subject, l.html)
	}
}

func TestIsolate(t *testing.T) {
	for value, apart := range map[string]bool{"Gent": false, "Köln ①": false, "": false, "שלום": true, "a مرحبا": true, "٣": true} {
		if got := isolate(value); (got != value) != apart {
			t.Errorf("%q becomes %q", value, got)
		}
	}
}

func TestWrap(t *testing.T) {
	long := strings.Repeat("x", 90)
	tests := []struct {
		line string
		want []string
	}{
		{"", []string{""}},
		{"short", []string{"short"}},
		{strings.Repeat("ab ", 30), []string{strings.TrimSpace(strings.Repeat("ab ", 24)), strings.Repeat("ab ", 6)}},
		{long, []string{long}},
		{"a " + long + " b", []string{"a", long, "b"}},
		{strings.Repeat("ü", 450), []string{strings.Repeat("ü", 200), strings.Repeat("ü", 200), strings.Repeat("ü", 50)}},
	}
	for _, tt := range tests {
		got := wrap(tt.line)
		if strings.Join(got, "|") != strings.Join(tt.want, "|") {
			t.Errorf("%.40q: %q, want %q", tt.line, got, tt.want)
		}
	}
}

// TestBidirectionalText checks that right-to-left values are isolated from the text around them.
func TestBidirectionalText(t *testing.T) {
	texts, err := newTexts("https://wayside.example.org")
	if err != nil {
		t.Fatal(err)
	}
	const name, note = "שלום 5", "مرحبا\n(b) \u202eא"
	l, err := texts.render(&mapdata.Email{Kind: mapdata.EmailRejected, Data: map[string]string{"feed_name": name, "note": note}})
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string][]string{
		l.subject: {"Feed rejected: \u2068שלום 5\u2069"},
		l.text:    {"“\u2068שלום 5\u2069”", "    \u2068مرحبا\u2069\n    \u2068(b)  א\u2069\n"},
		l.html: {
			"<h1>Feed rejected: <bdi>שלום 5</bdi></h1>", "“<bdi>שלום 5</bdi>”", `<blockquote dir="auto"><bdi>مرحبا</bdi><br>`, "<bdi>(b)  א</bdi></blockquote>",
		},
	} {
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("%q is not in\n%s", w, text)
			}
		}
	}
}
