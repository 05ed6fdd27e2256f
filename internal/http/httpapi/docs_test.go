package httpapi_test

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"wayside/internal/http/httpapi/httpapitest"
)

const pagesPolicy = "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// samePolicy compares two policies independent of the order of their directives.
func samePolicy(a, b string) bool {
	parts := func(policy string) []string { return slices.Sorted(strings.SplitSeq(policy, "; ")) }
	return slices.Equal(parts(a), parts(b))
}

// TestPagesLoadNothingFromElsewhere parses each page as a browser does (D13.4), and requests every URL in it.
func TestPagesLoadNothingFromElsewhere(t *testing.T) {
	s := httpapitest.NewReadService(t, nil)
	for _, path := range []string{"/about", "/docs"} {
		t.Run(path, func(t *testing.T) {
			resp, page := s.Get(path)
			want := pagesPolicy
			if path == "/about" { // its footer has a form
				want = strings.Replace(want, "form-action 'none'", "form-action 'self'", 1)
			}
			if got := resp.Header.Get("Content-Security-Policy"); !samePolicy(got, want) {
				t.Errorf("Content-Security-Policy %q", got)
			}
			if got := resp.Header.Get("Content-Type"); got != "text/html; charset=utf-8" {
				t.Errorf("Content-Type %q", got)
			}
			ids, anchors, addresses := map[string]bool{}, map[string]bool{}, map[string]bool{}
			for _, e := range httpapitest.Elements(t, page) {
				switch e.Data {
				case "script", "style", "iframe", "object", "embed", "base":
					t.Errorf("the page holds <%s>", e.Data)
				}
				for _, a := range e.Attr {
					switch {
					case a.Key == "id":
						if ids[a.Val] {
							t.Errorf("two elements are called %s", a.Val)
						}
						ids[a.Val] = true
					case a.Key == "style" || strings.HasPrefix(a.Key, "on"):
						t.Errorf("<%s> has %s", e.Data, a.Key)
					case !httpapitest.AddressAttributes[a.Key], a.Key == "action" && a.Val == "/language":
					case strings.HasPrefix(a.Val, "#"):
						anchors[a.Val[1:]] = true
					case strings.HasPrefix(a.Val, "/") && !strings.HasPrefix(a.Val, "//"):
						addresses[a.Val] = true
					default:
						t.Errorf("<%s %s=%q> leads elsewhere", e.Data, a.Key, a.Val)
					}
				}
			}
			for anchor := range anchors {
				if !ids[anchor] {
					t.Errorf("#%s leads nowhere", anchor)
				}
			}
			for address := range addresses {
				address, _, _ = strings.Cut(address, "#")
				if resp, _ := s.Get(address); resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusSeeOther {
					t.Errorf("%s: %s", address, resp.Status)
				}
			}
		})
	}
	_, style := s.Get("/docs/style.css")
	if found := regexp.MustCompile(`(?i)url\(|@import|https?:|expression\(`).Find(style); found != nil {
		t.Errorf("the style sheet holds %q", found)
	}
}

// TestDocsPageIsComplete looks for every operation, schema and problem of openapi.json on the page.
func TestDocsPageIsComplete(t *testing.T) {
	d := httpapitest.OpenDocument(t)
	_, page := httpapitest.NewReadService(t, httpapitest.WithApps).Get("/docs")
	ids := map[string]bool{}
	for _, e := range httpapitest.Elements(t, page) {
		for _, a := range e.Attr {
			if a.Key == "id" {
				ids[a.Val] = true
			}
		}
	}
	want := []string{}
	for path := range d.Object("paths") {
		for method := range d.Object("paths", path) {
			id, _ := d.At("paths", path, method, "operationId")
			want = append(want, "op-"+id.(string))
		}
	}
	for name := range d.Object("components", "schemas") {
		want = append(want, "schema-"+name)
	}
	for _, p := range d.Root["x-problems"].([]any) {
		want = append(want, "problem-"+p.(map[string]any)["type"].(string))
	}
	for _, id := range want {
		if !ids[id] {
			t.Errorf("the page has no #%s", id)
		}
	}
	if line := `curl &#34;http://wayside.test/v2/entities/nearby?lat=52.37&amp;lng=4.9&amp;radius=5000&#34;`; !strings.Contains(string(page), line) {
		t.Errorf("the page lacks %s", line)
	}
}

// TestPagesAreAccessible checks the needs of people with a keyboard, a phone or a screen reader.
func TestPagesAreAccessible(t *testing.T) {
	s := httpapitest.NewReadService(t, nil)
	for _, path := range []string{"/about", "/docs"} {
		_, page := s.Get(path)
		text := string(page)
		for _, want := range []string{`<html lang="en">`, `name="viewport"`, `name="color-scheme" content="light dark"`, "<main id=\"main\"", "<title>"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s lacks %s", path, want)
			}
		}
		headings, images := 0, 0
		for _, e := range httpapitest.Elements(t, page) {
			switch e.Data {
			case "h1":
				headings++
			case "img":
				images++
				described := false
				for _, a := range e.Attr {
					described = described || a.Key == "alt"
				}
				if !described {
					t.Errorf("%s: an image has no alt", path)
				}
			}
		}
		if headings != 1 {
			t.Errorf("%s has %d first headings", path, headings)
		}
	}
	_, style := s.Get("/docs/style.css")
	for _, want := range []string{"prefers-color-scheme: dark", ":focus-visible", "max-width: 52rem"} {
		if !strings.Contains(string(style), want) {
			t.Errorf("the style sheet lacks %s", want)
		}
	}
}
