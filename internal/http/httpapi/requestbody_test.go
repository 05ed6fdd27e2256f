package httpapi_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"wayside/internal/ground/mapdata"
	"wayside/internal/http/httpapi"
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
	d := newTestServiceWith(t, serviceOptions{manage: 1_000_000, requests: 1_000_000, entities: 1_000_000, reports: true})
	c := &roleTest{
		testService: d, guest: d.browser(), other: d.signedInAs("other@example.org", mapdata.Driver),
		curator: d.signedInAs("curator@example.org", mapdata.Curator), admin: d.signedInAs("admin@example.org", mapdata.Admin),
		maintainer: d.signedInAs(maintainerEmail, mapdata.Driver),
	}
	s := c.newFixture()
	if n := strings.Count(d.log.String(), "level=ERROR"); n > 0 {
		t.Fatalf("%d errors before the first request", n)
	}
	sent := 0
	for i, rt := range httpapi.RouteTable() {
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
		if rt.Page {
			types = []string{formType, "multipart/form-data; boundary=b"}
		}
		for _, media := range types {
			for name, broken := range brokenBodies {
				for who, b := range map[string]*browser{"owner": s.owner, "admin": c.admin} {
					n++
					from := fmt.Sprintf("192.%d.%d.%d", i/250, i%250, n)
					answer := b.sendRaw(t, rt.Method, path, "Content-Type: "+media+"\r\nX-Forwarded-For: "+from+"\r\n"+broken.header, broken.body)
					sent++
					if answer != nil && answer.StatusCode >= http.StatusInternalServerError && answer.StatusCode != http.StatusServiceUnavailable {
						t.Errorf("%s %s, %s of %s by the %s: %s", rt.Method, rt.Path, name, media, who, answer.Status)
					}
				}
			}
		}
	}
	if log := d.log.String(); strings.Contains(log, "level=ERROR") {
		t.Errorf("%d of %d requests left an error in the log", strings.Count(log, "level=ERROR"), sent)
	}
}

// sendRaw sends a request whose body may be broken, and closes its side; nil: the connection was closed without an answer.
func (b *browser) sendRaw(t *testing.T, method, path, header, body string) *http.Response {
	t.Helper()
	base, err := url.Parse(b.server.URL)
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
	for _, one := range b.client.Jar.Cookies(base) {
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
