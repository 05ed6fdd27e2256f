package httpserver

import (
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// TestUnknownProtocolsAreTheClients verifies that no header makes the server answer 500 or more before a handler runs.
func TestUnknownProtocolsAreTheClients(t *testing.T) {
	base, stop := start(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	defer stop() //nolint:errcheck // nothing is under way
	for _, request := range []string{
		"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: identity\r\n\r\n", "GET / HTTP/3.0\r\nHost: a\r\n\r\n", "GET / HTTP/0.9\r\n\r\n",
	} {
		var dialer net.Dialer
		conn, err := dialer.DialContext(t.Context(), "tcp", strings.TrimPrefix(base, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(conn, request); err != nil {
			t.Fatal(err)
		}
		answer, err := io.ReadAll(conn) // the connection ends
		if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 400 Bad Request\r\n") || !strings.Contains(string(answer), "\r\n\r\n400 Bad Request: unsupported ") {
			t.Errorf("%q is answered %q, %v", request, answer, err)
		}
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	}
}
