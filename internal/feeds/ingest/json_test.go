package ingest

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

var testNow = time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)

// TestJSONTexts checks the kinds of texts that test suites for JSON parsers have: those that must be accepted, those
// that must be refused, and those that are left to the implementation.
func TestJSONTexts(t *testing.T) {
	const ok, bad, noArray = "ok", "malformed", "not an array"
	cases := map[string]string{}
	add := func(verdict string, texts ...string) {
		for _, text := range texts {
			cases[text] = verdict
		}
	}
	add(ok, "[]", " [ ] ", "\t[\r\n]\n", "[null]", "[1]", "[-0]", "[0e1]", "[0E+1]", "[1e-2]", "[123.456e78]", "[-1]", "[1.5]", "[1e400]",
		"[-1e999]", "[123123e100000]", "[0.4e00669999999999999999999999999]", "[100000000000000000000]", "[true,false,null]", `[""]`, `["a\/b"]`,
		`["\"\\\/\b\f\n\r\t"]`, `["\u0000"]`, `["\ud800"]`, `["\udc00\ud800"]`, `["\ud83d\ude00"]`, `["\uD800\u0061"]`, "[\"\x7f\"]", "[\"\u2028\"]",
		`["😀"]`, `[{"a":1,"a":2}]`, `[{"":0}]`, `[{"a":{"b":[{}]}}]`, "[[],[[]]]", "\xef\xbb\xbf[]", `["\uFFFE"]`, `["\u0012"]`,
		strings.Repeat("[", 1000)+strings.Repeat("]", 1000))
	add(bad, "", " ", "[", "]", "[1", "[1,", "[1,]", "[,1]", "[1,,2]", "[,]", "[1 2]", "[1:2]", "[}", "{]", "{", "}", "[{]", `{"a"}`, `{"a":}`, `{"a":1,}`,
		`{a:1}`, `{1:1}`, `{'a':1}`, `{"a" 1}`, `{"a":1 "b":2}`, "[']", "['a']", `["a]`, `["a`, `["\x"]`, `["\u12"]`, `["\u12G4"]`, `["\`, "[\"a\nb\"]", "[\"a\tb\"]",
		"[\"\x00\"]", "[\"\x1f\"]", "[+1]", "[01]", "[-01]", "[1.]", "[.5]", "[-]", "[1e]", "[1e+]", "[1.e1]", "[0x1]", "[NaN]", "[Infinity]", "[-Infinity]",
		"[nul]", "[TRUE]", "[truee]", "[tru", "[undefined]", "[1]x", "[1] 2", "[][]", "[]{}", "[1]\x00", "[/**/]", "[1]//x", "#[]", "[\xa0]", "[\f]", "[\v1]",
		"[\xff]", "[\"\xff\"]", "[\"\xc0\xaf\"]", "[\"\xed\xa0\x80\"]", "[\"\xf4\x90\x80\x80\"]", "[\"\xe9\"]", "[\"a\xc3\"]", "\xff\xfe[\x00]\x00", "\x00[\x00]",
		"\xef\xbb[]", "\xef\xbb\xbf", "\xef\xbb\xbf\xef\xbb\xbf[]", "<a>", "nul", "1x", `"a`, "tru", "-", "1 2", "{} []", `{"a":1} x`, `{"a":"\xff"}`,
		strings.Repeat("[", 1001)+strings.Repeat("]", 1001), strings.Repeat("[", 100_000), strings.Repeat(`[{"a":`, 5000),
		`[{"a":`+strings.Repeat("[", 999)+strings.Repeat("]", 999)+`}]`, "[\u00a0]", "[\u2060]", "\u00a0[]", "[1\u3000]", "*", "[*]", `[a]`, `["a" : 1]`, `[:]`, `[""`, `["",`,
		"[- 1]", "[1 .5]", "[1e 5]", "[--1]", "[1ee5]", "[1.2.3]", "[0e]", "[1_000]", "[１]", "[1,\n1\n,1", "[\"\\u\"]", "[\"\\uD8\"]", "[\"\\a\"]", "[\"\\'\"]", "[\"\\\t\"]")
	add(noArray, "null", "true", "false", "0", "-1.5e3", `"a"`, "{}", `{"entities":[]}`, ` {"a":[1,2]} `, "\xef\xbb\xbf{}", `""`, "1e400", `{"a":1,"a":2}`, `"\ud800"`)
	// Every scalar and container, wrapped, followed and preceded by a text that must not be there.
	for _, value := range []string{"1", "-0.5", "true", "null", `"x"`, "{}", "[]", `{"a":[1,{"b":null}]}`} {
		add(ok, "["+value+"]", "["+value+","+value+"]", " [ "+value+" , "+value+" ] \n")
		add(bad, "["+value+",]", "["+value+value[:1]+"", "["+value+"}", "["+value+";"+value+"]", "[,"+value+"]", "["+value+"] ,", "["+value+"]]", value+",", "("+value+")", value+"\x00")
	}
	for c := range 0x20 { // control characters must be escaped in strings
		add(bad, "[\"a"+string(rune(c))+"\"]")
	}
	if len(cases) < 300 {
		t.Errorf("only %d cases", len(cases))
	}
	for text, want := range cases {
		got := ok
		_, err := decode(strings.NewReader(text), testNow, 1_000_000, func(int, Row, *RowError) error { return nil })
		switch {
		case errors.Is(err, ErrNotArray):
			got = noArray
		case errors.Is(err, ErrMalformed):
			got = bad
		case err != nil:
			got = err.Error()
		}
		if got != want {
			t.Errorf("%.60q is %s, want %s", text, got, want)
		}
	}
}

// good returns a row that is accepted, with one member replaced, added or removed.
func good(edit string, value string) string {
	members := []string{"external_id", `"x"`, "kind", `"alert.police"`, "lat", "52", "lng", "4", "properties", "{}"}
	var b strings.Builder
	b.WriteByte('{')
	done := false
	for i := 0; i < len(members); i += 2 {
		v := members[i+1]
		if members[i] == edit {
			done = true
			if v = value; v == "" {
				continue
			}
		}
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%q:%s", members[i], v)
	}
	if !done && edit != "" {
		fmt.Fprintf(&b, ",%q:%s", edit, value)
	}
	return b.String() + "}"
}

func nested(depth int) string {
	return strings.Repeat(`{"a":`, depth-1) + "{}" + strings.Repeat("}", depth-1)
}

// TestRows checks D3.1 to D3.7, D3.10 and D3.12.
func TestRows(t *testing.T) {
	long := strings.Repeat("é", 128)
	fits := `{"a":"` + strings.Repeat("x", 16<<10-8) + `"}`
	tests := []struct {
		name, row, code string
	}{
		{"plain", good("", ""), ""},
		{"white space", " { \"external_id\" : \"x\" ,\n\"kind\":\"alert.police\",\"lat\":1,\"lng\":2,\"properties\":{ } } ", ""},
		{"no object", `[1]`, codeNotAnObject},
		{"a string", `"x"`, codeNotAnObject},
		{"null", `null`, codeNotAnObject},
		{"a member twice", strings.Replace(good("", ""), `"lat":52`, `"lat":52,"lat":52`, 1), codeDuplicateMember},
		{"twice by escape", strings.Replace(good("", ""), `"lat":52`, `"lat":52,"l\u0061t":52`, 1), codeDuplicateMember},
		{"an unknown member twice", strings.Replace(good("", ""), `{`, `{"q":1,"q":2,`, 1), codeDuplicateMember},
		{"two different half surrogates", strings.Replace(good("", ""), `{`, `{"\ud800":1,"\ud801":2,`, 1), ""},
		{"twice within an unknown member", good("q", `{"a":1,"a":2}`), ""},
		{"twice within properties", good("properties", `{"a":[{"b":1,"b":2}]}`), codeDuplicateMember},
		{"duplicate before everything else", `{"a":1,"a":2}`, codeDuplicateMember},
		{"no external_id", good("external_id", ""), codeMissingExternalID},
		{"null external_id", good("external_id", "null"), codeMissingExternalID},
		{"empty external_id", good("external_id", `""`), codeInvalidExternalID},
		{"numeric external_id", good("external_id", "7"), codeInvalidExternalID},
		{"256 bytes", good("external_id", `"`+long+`"`), ""},
		{"257 bytes", good("external_id", `"`+long+`x"`), codeInvalidExternalID},
		{"a control character", good("external_id", `"a\u0000"`), codeInvalidExternalID},
		{"DEL", good("external_id", "\"a\x7f\""), codeInvalidExternalID},
		{"C1", good("external_id", `"a\u0085"`), codeInvalidExternalID},
		{"half a surrogate", good("external_id", `"\ud800"`), codeInvalidExternalID},
		{"a pair", good("external_id", `"\ud83d\ude00"`), ""},
		{"quotes", good("external_id", `"a\"b\\c"`), ""},
		{"no kind", good("kind", ""), codeMissingKind},
		{"unknown kind", good("kind", `"alert"`), codeUnknownKind},
		{"kind in capitals", good("kind", `"ALERT.POLICE"`), codeUnknownKind},
		{"numeric kind", good("kind", "1"), codeUnknownKind},
		{"kind by escape", good("kind", `"alert\u002epolice"`), ""},
		{"no lat", good("lat", ""), codeMissingLat},
		{"lat as string", good("lat", `"52"`), codeInvalidLat},
		{"null lat", good("lat", "null"), codeMissingLat},
		{"LAT is not lat", strings.Replace(good("lat", ""), `{`, `{"LAT":52,`, 1), codeMissingLat},
		{"lat 90", good("lat", "90"), ""},
		{"lat beyond", good("lat", "90.0000001"), codeInvalidLat},
		{"lat 1e400", good("lat", "1e400"), codeInvalidLat},
		{"lat true", good("lat", "true"), codeInvalidLat},
		{"no lng", good("lng", ""), codeMissingLng},
		{"lng -180", good("lng", "-180"), ""},
		{"lng beyond", good("lng", "-180.1"), codeInvalidLng},
		{"lng as array", good("lng", "[1]"), codeInvalidLng},
		{"no properties", good("properties", ""), codeMissingProperties},
		{"null properties", good("properties", "null"), codeMissingProperties},
		{"properties as array", good("properties", "[]"), codeInvalidProperties},
		{"properties as string", good("properties", `"{}"`), codeInvalidProperties},
		{"8 deep", good("properties", nested(8)), ""},
		{"9 deep", good("properties", nested(9)), codeInvalidProperties},
		{"9 deep by arrays", good("properties", `{"a":[[[[[[[[1]]]]]]]]}`), codeInvalidProperties},
		{"8 deep by arrays", good("properties", `{"a":[[[[[[[1]]]]]]]}`), ""},
		{"16 KiB", good("properties", fits), ""},
		{"a byte more", good("properties", strings.Replace(fits, "x", "xx", 1)), codePropertiesTooLarge},
		{"16 KiB beside white space", good("properties", strings.Replace(fits, "{", "{ \n ", 1)), ""},
		{"16 KiB beside reserved keys", good("properties", strings.Replace(fits, "{", `{"wayside_x":"yyyyyyy","wayside_":1,"wayside_y":[],"merged_from":[1],"disputed_until":null,`, 1)), ""},
		{"U+0000", good("properties", `{"a":"\u0000"}`), codeInvalidProperties},
		{"U+0000 in a name", good("properties", `{"\u0000":1}`), codeInvalidProperties},
		{"half a surrogate within", good("properties", `{"a":["\udc00"]}`), codeInvalidProperties},
		{"a number beyond", good("properties", `{"a":-1e400}`), codeInvalidProperties},
		{"a long number", good("properties", `{"a":123456789012345678901234567890}`), ""},
		{"a coordinate array", good("properties", `{"line":[[4,52],[5,53]]}`), ""},
		{"ttl", good("ttl_seconds", "60"), ""},
		{"ttl 1", good("ttl_seconds", "1"), ""},
		{"ttl below 1", good("ttl_seconds", "0.999"), codeInvalidTTL},
		{"ttl in another unit", good("ttl_seconds", "0.5"), codeInvalidTTL},
		{"ttl 0", good("ttl_seconds", "0"), codeInvalidTTL},
		{"ttl negative", good("ttl_seconds", "-1"), codeInvalidTTL},
		{"ttl as string", good("ttl_seconds", `"60"`), codeInvalidTTL},
		{"ttl null", good("ttl_seconds", "null"), ""},
		{"ttl huge", good("ttl_seconds", "1e300"), ""},
		{"ttl beyond", good("ttl_seconds", "1e400"), codeInvalidTTL},
		{"observed", good("observed_at", `"2026-11-21T07:00:00Z"`), ""},
		{"observed in lower case", good("observed_at", `"2026-11-21t07:00:00z"`), ""},
		{"observed null", good("observed_at", "null"), ""},
		{"observed with an offset", good("observed_at", `"2026-11-21T09:04:59.5+01:00"`), ""},
		{"5 minutes ahead", good("observed_at", `"2026-11-21T08:05:00Z"`), ""},
		{"more than 5 minutes ahead", good("observed_at", `"2026-11-21T08:05:01Z"`), codeInvalidObservedAt},
		{"a date", good("observed_at", `"2026-11-21"`), codeInvalidObservedAt},
		{"seconds", good("observed_at", "1763712000"), codeInvalidObservedAt},
		{"64 KiB", good("moose", `"`+strings.Repeat("x", 64<<10-len(good("moose", `""`)))+`"`), ""},
		{"a byte more than 64 KiB", good("moose", `"`+strings.Repeat("x", 64<<10+1-len(good("moose", `""`)))+`"`), codeRowTooLarge},
		{"unknown members", good("moose", `[{"deep":[[[[[[[[[[1]]]]]]]]]]}]`), ""},
		// The first error in the order of D3.10 is reported.
		{"all wrong", `{"external_id":"","kind":"x","lat":"y","lng":null,"properties":[],"ttl_seconds":0,"observed_at":1}`, codeInvalidExternalID},
		{"all but the id", `{"external_id":"a","kind":"x","lat":"y","ttl_seconds":0}`, codeUnknownKind},
		{"from lat on", `{"external_id":"a","kind":"camera.speed","lat":"y","ttl_seconds":0}`, codeInvalidLat},
		{"from lng on", `{"external_id":"a","kind":"camera.speed","lat":1,"ttl_seconds":0}`, codeMissingLng},
		{"from properties on", `{"external_id":"a","kind":"camera.speed","lat":1,"lng":1,"ttl_seconds":0,"observed_at":1}`, codeMissingProperties},
		{"from ttl on", `{"external_id":"a","kind":"camera.speed","lat":1,"lng":1,"properties":{},"ttl_seconds":0,"observed_at":1}`, codeInvalidTTL},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			checked, err := Check(strings.NewReader("["+tt.row+"]"), testNow)
			if err != nil {
				t.Fatal(err)
			}
			report, got := checked.Report, ""
			if len(report.Errors) > 0 {
				got = report.Errors[0].Code
			}
			if got != tt.code || report.Accepted+report.Rejected != 1 || (report.Rejected == 1) != (tt.code != "") {
				t.Errorf("%q, want %q: %+v", got, tt.code, report)
			}
		})
	}
}
