package httpserver

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// pair returns a connection accepted by a coalescingListener, and its client end.
func pair(t *testing.T) (server *coalescingConn, client net.Conn) {
	t.Helper()
	var config net.ListenConfig
	listener, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	var dialer net.Dialer
	client, err = dialer.DialContext(t.Context(), "tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	conn, err := coalescingListener{listener}.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	server, ok := conn.(*coalescingConn)
	if !ok {
		t.Fatalf("accepted a %T", conn)
	}
	return server, client
}

// firstBuffer returns a full buffer that starts with the header.
func firstBuffer(header string) []byte {
	return append([]byte(header), bytes.Repeat([]byte("b"), serverBuffer-len(header))...)
}

// TestHoldsOnlyStartOfLongerAnswer checks that only the start of an answer whose Content-Length is longer is held, because after
// anything else no further write is certain.
func TestHoldsOnlyStartOfLongerAnswer(t *testing.T) {
	longer := "HTTP/1.1 200 OK\r\nContent-Length: 20000\r\n\r\n"
	for name, c := range map[string]struct {
		first []byte
		held  bool
	}{
		"a longer answer":               {firstBuffer(longer), true},
		"an answer without its end":     {firstBuffer(longer)[:serverBuffer-1], false},
		"a stream":                      {firstBuffer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"), false},
		"an event":                      {firstBuffer("event: change\n"), false},
		"an answer that is whole":       {firstBuffer(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", serverBuffer-41)), false},
		"a header and nothing else":     {[]byte(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: 9000\r\nX: %s\r\n\r\n", strings.Repeat("x", serverBuffer-46))), false},
		"a header that is not there":    {firstBuffer(""), false},
		"a length that is not a number": {firstBuffer("HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n"), false},
	} {
		t.Run(name, func(t *testing.T) {
			server, client := pair(t)
			if n, err := server.Write(c.first); n != len(c.first) || err != nil {
				t.Fatalf("wrote %d: %v", n, err)
			}
			if held := server.held != nil; held != c.held {
				t.Fatalf("held: %v", held)
			}
			if n, err := server.Write([]byte("and more")); n != len("and more") || err != nil {
				t.Fatalf("wrote %d more: %v", n, err)
			}
			if server.held != nil {
				t.Error("still held")
			}
			got := make([]byte, len(c.first)+len("and more"))
			if _, err := io.ReadFull(client, got); err != nil {
				t.Fatal(err)
			}
			if want := string(c.first) + "and more"; string(got) != want {
				t.Errorf("got %.100q", got)
			}
		})
	}
}

func TestReadFromSendsHeldBuffer(t *testing.T) {
	server, client := pair(t)
	first := firstBuffer("HTTP/1.1 200 OK\r\nContent-Length: 20000\r\n\r\n")
	if _, err := server.Write(first); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "rest")
	if err := os.WriteFile(path, []byte("the rest"), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if n, err := server.ReadFrom(file); n != int64(len("the rest")) || err != nil {
		t.Fatalf("sent %d: %v", n, err)
	}
	got := make([]byte, len(first)+len("the rest"))
	if _, err := io.ReadFull(client, got); err != nil || string(got) != string(first)+"the rest" {
		t.Errorf("got %.100q: %v", got, err)
	}
}

// TestWriteAfterClientClosed checks that after the client is gone, Write returns an error as without holding, and never counts more
// bytes than it was given.
func TestWriteAfterClientClosed(t *testing.T) {
	server, client := pair(t)
	if _, err := server.Write(firstBuffer("HTTP/1.1 200 OK\r\nContent-Length: 20000\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	_ = client.Close()
	_ = server.CloseWrite()
	if n, err := server.Write([]byte("and more")); n != 0 || err == nil {
		t.Errorf("wrote %d after the client closed: %v", n, err)
	}
}

// TestAnswersOfAllLengths checks that answers of all lengths around that of the buffer arrive complete on one connection, and
// events of a stream immediately.
func TestAnswersOfAllLengths(t *testing.T) {
	url, stop := start(t, func(w http.ResponseWriter, r *http.Request) {
		var length, padding int
		if _, err := fmt.Sscanf(r.URL.Path, "/%d/%d", &length, &padding); err != nil {
			t.Error(err)
		}
		w.Header().Set("X-Padding", strings.Repeat("p", padding))
		body := bytes.Repeat([]byte{byte('a' + length%26)}, length)
		if r.URL.RawQuery == "stream" {
			flush := http.NewResponseController(w)
			_, _ = w.Write(body)
			_ = flush.Flush()
			<-r.Context().Done()
			return
		}
		w.Header().Set("Content-Length", fmt.Sprint(length))
		_, _ = w.Write(body[:length/2])
		_, _ = w.Write(body[length/2:])
	})
	defer stop() //nolint:errcheck // its clients are gone
	client := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 1}}
	defer client.CloseIdleConnections()
	for length := 0; length < 3*serverBuffer; length += 61 {
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			want := length
			if method == http.MethodHead {
				want = 0
			}
			if got := fetch(t, client, method, fmt.Sprintf("%s/%d/%d", url, length, length%400)); got != want {
				t.Fatalf("%s of %d bytes: %d came", method, length, got)
			}
		}
	}
	streaming := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for length := serverBuffer - 300; length < serverBuffer+20; length++ {
		resp, err := streaming.Get(fmt.Sprintf("%s/%d/0?stream", url, length))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(bufio.NewReader(resp.Body), make([]byte, length)); err != nil {
			t.Fatalf("an event of %d bytes: %v", length, err)
		}
		_ = resp.Body.Close()
	}
}

func fetch(t *testing.T, client *http.Client, method, url string) int {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	n, err := io.Copy(io.Discard, resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return int(n)
}
