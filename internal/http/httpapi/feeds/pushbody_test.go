package feeds

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"wayside/internal/http/httpapi"
)

// pipeListener accepts the server's ends of pipes, so that connections can be used over virtual time.
type pipeListener struct{ accepted chan net.Conn }

func (l pipeListener) Accept() (net.Conn, error) {
	conn, open := <-l.accepted
	if !open {
		return nil, net.ErrClosed
	}
	return conn, nil
}

func (l pipeListener) Close() error   { return nil }
func (l pipeListener) Addr() net.Addr { return &net.UnixAddr{Net: "pipe"} }

// TestPushBodyMustGoOn checks D7.1: a body that arrives at 64 KiB/s is accepted, however long it takes; one that is slower, or
// stops, is cut off at the latest ten seconds after it fell behind. Bytes that arrive early count.
func TestPushBodyMustGoOn(t *testing.T) {
	const kib = 1 << 10
	for _, tt := range []struct {
		name   string
		first  int           // bytes sent first
		each   int           // and then each second
		length int           // as in the header
		want   string        // part of the answer
		after  time.Duration // when it arrives
	}{
		{"64 KiB/s", 64 * kib, 64 * kib, 10 << 20, "10485760 bytes", 159 * time.Second},
		{"64 KiB/s after a pause", 0, 64 * kib, 2 << 20, "2097152 bytes", 32 * time.Second},
		{"at once", 10 << 20, 0, 10 << 20, "10485760 bytes", 0},
		{"32 KiB/s", 32 * kib, 32 * kib, 10 << 20, "too slowly", 20 * time.Second},
		{"nothing sent", 0, 0, 10 << 20, "too slowly", 10 * time.Second},
		{"a byte a second", 1, 1, 10 << 20, "too slowly", 10 * time.Second},
		{"stops at once", 64 * kib, 0, 10 << 20, "too slowly", 11 * time.Second},
		{"stops after 1 MiB", 1 << 20, 0, 10 << 20, "too slowly", 26 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, listener := pushServer(t)
				began := time.Now()
				sent := make(chan struct{})
				go func() {
					defer close(sent)
					sendBody(client, tt.length, tt.first, tt.each)
				}()
				answer, err := http.ReadResponse(bufio.NewReader(client), nil)
				if err != nil {
					t.Fatal(err)
				}
				took := time.Since(began)
				text, err := io.ReadAll(answer.Body)
				if err != nil {
					t.Fatal(err)
				}
				// The deadline moves in steps of a second.
				if !strings.Contains(string(text), tt.want) || took > tt.after || took < tt.after-time.Second {
					t.Errorf("%q after %s, want %q after %s", text, took, tt.want, tt.after)
				}
				_ = client.Close()
				close(listener.accepted)
				<-sent
			})
		})
	}
}

// pushServer runs a server that reads the body of a push and answers with its length, or with the error.
func pushServer(t *testing.T) (client net.Conn, listener pipeListener) {
	t.Helper()
	return servedPipe(t, func(w http.ResponseWriter, r *http.Request) {
		body := newPushBody(w, r, false)
		n, err := io.Copy(io.Discard, body)
		if err != nil {
			body.abandon()
			_, _ = io.WriteString(w, err.(*httpapi.Problem).Detail) //nolint:errorlint // the type that Read promises
			return
		}
		_, _ = fmt.Fprintf(w, "%d bytes", n)
	})
}

// servedPipe serves one connection, whose client's end it returns, until the listener is closed.
func servedPipe(t *testing.T, handle http.HandlerFunc) (client net.Conn, listener pipeListener) {
	t.Helper()
	listener = pipeListener{make(chan net.Conn, 1)}
	client, server := net.Pipe()
	listener.accepted <- server
	s := &http.Server{Handler: handle}
	go func() { _ = s.Serve(listener) }() // ends when the listener is closed
	return client, listener
}

// sendBody sends a request whose body arrives in parts, until it is whole or the connection closed.
func sendBody(conn net.Conn, length, first, each int) {
	if _, err := fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: %d\r\n\r\n", length); err != nil {
		return
	}
	for left, next := length, first; left > 0; next = each {
		if next > 0 {
			n, err := conn.Write(make([]byte, min(next, left)))
			if err != nil {
				return
			}
			left -= n
		}
		if each == 0 {
			return
		}
		time.Sleep(time.Second) // virtual
	}
}
