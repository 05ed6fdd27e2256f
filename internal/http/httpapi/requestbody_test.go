package httpapi_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"wayside/internal/ground/mapdata"
	"wayside/internal/http/httpapi"
	"wayside/internal/http/httpapi/httpapitest"
	"wayside/internal/http/httpapi/public"
)

// brokenBodies are bodies, with their headers, that a client may send; {} stands for bytes of a valid body.
var brokenBodies = map[string]struct{ header, body string }{
	"no length of a chunk":        {"Transfer-Encoding: chunked\r\n", "zz\r\n{}\r\n0\r\n\r\n"},
	"a chunk's extension of 9 kB": {"Transfer-Encoding: chunked\r\n", "2;" + strings.Repeat("x", 9000) + "\r\n{}\r\n0\r\n\r\n"},
	"no end of a chunk":           {"Transfer-Encoding: chunked\r\n", "2\r\n{}0\r\n\r\n"},
	"a chunk of 2^63 bytes":       {"Transfer-Encoding: chunked\r\n", "8000000000000000\r\n{}"},
	"a negative chunk":            {"Transfer-Encoding: chunked\r\n", "-2\r\n{}\r\n0\r\n\r\n"},
	"a trailer of 90 kB":          {"Transfer-Encoding: chunked\r\n", "2\r\n{}\r\n0\r\nX: " + strings.Repeat("x", 90_000) + "\r\n\r\n"},
	"an end within a chunk":       {"Transfer-Encoding: chunked\r\n", "ff\r\n{"},
	"an end before the length":    {"Content-Length: 100\r\n", `{"email": "`},
	"no body at all":              {"Content-Length: 100\r\n", ""},
}

// TestBrokenBodiesAreTheClients sends unreadable bodies to every route that may read one, in each way that bodies are sent, as an
// admin and as the owner of the objects in the path, and checks that no answer is 500 or more, and that the log has no error (T4).
func TestBrokenBodiesAreTheClients(t *testing.T) {
	t.Parallel()
	d := httpapitest.NewServiceWith(t, httpapitest.Options{Manage: 1_000_000, Requests: 1_000_000, Entities: 1_000_000, Reports: true})
	c := &roleTest{
		Service: d, guest: d.Browser(), other: d.SignedInAs("other@example.org", mapdata.Driver),
		curator: d.SignedInAs("curator@example.org", mapdata.Curator), admin: d.SignedInAs("admin@example.org", mapdata.Admin),
		maintainer: d.SignedInAs(maintainerEmail, mapdata.Driver),
	}
	s := c.newFixture()
	if n := strings.Count(d.Log.String(), "level=ERROR"); n > 0 {
		t.Fatalf("%d errors before the first request", n)
	}
	sent := 0
	for i, rt := range public.Table() {
		if rt.Method == http.MethodGet || strings.Contains(rt.Path, "sign-out") || strings.Contains(rt.Path, "end-others") {
			continue
		}
		c.restore(t, s)
		var parts []string
		for part := range strings.SplitSeq(rt.Path, "/") {
			if strings.HasPrefix(part, "{") {
				part = url.PathEscape(c.pathValue(t, rt, part, s))
			}
			parts = append(parts, part)
		}
		path := strings.Join(parts, "/")
		n := 0
		types := []string{"application/json"}
		if rt.Class == httpapi.ClassPage {
			types = []string{httpapitest.FormType, "multipart/form-data; boundary=b"}
		}
		for _, media := range types {
			for name, broken := range brokenBodies {
				for who, b := range map[string]*httpapitest.Browser{"owner": s.owner, "admin": c.admin} {
					n++
					from := fmt.Sprintf("192.%d.%d.%d", i/250, i%250, n)
					answer := b.SendRaw(t, rt.Method, path, "Content-Type: "+media+"\r\nX-Forwarded-For: "+from+"\r\n"+broken.header, broken.body)
					sent++
					if answer != nil && answer.StatusCode >= http.StatusInternalServerError && answer.StatusCode != http.StatusServiceUnavailable {
						t.Errorf("%s %s, %s of %s by the %s: %s", rt.Method, rt.Path, name, media, who, answer.Status)
					}
				}
			}
		}
	}
	if log := d.Log.String(); strings.Contains(log, "level=ERROR") {
		t.Errorf("%d of %d requests left an error in the log", strings.Count(log, "level=ERROR"), sent)
	}
}
