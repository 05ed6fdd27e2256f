package httpapi

import (
	"context"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// TestEventWriterKeepsQuietStreams sends an event long after another one, as nodes do to each other, and checks that the stream
// still exists. HTTP/2 ended a stream whose deadline passed while there was nothing to send, so that a driver whose session is at
// another node lost the events every five seconds.
func TestEventWriterKeepsQuietStreams(t *testing.T) {
	for name, set := range map[string]func(p *http.Protocols){
		"HTTP/1": func(p *http.Protocols) { p.SetHTTP1(true) },
		"HTTP/2": func(p *http.Protocols) { p.SetUnencryptedHTTP2(true) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var protocols http.Protocols
				set(&protocols)
				a := &API{}
				a.StreamWriteTimeout = defaultStreamWriteTimeout
				server := &http.Server{Protocols: &protocols, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					events := a.NewEventWriter(w)
					for _, event := range []string{"first\n", "second\n"} {
						if err := events.Send(r.Context(), []byte(event)); err != nil {
							t.Error(err)
						}
						time.Sleep(2 * defaultStreamWriteTimeout) // virtual
					}
				})}
				client, accepted := net.Pipe()
				listener := pipes{make(chan net.Conn, 1)}
				listener.accepted <- accepted
				go func() { _ = server.Serve(listener) }() // ends when the listener is closed
				transport := &http.Transport{Protocols: &protocols, DialContext: func(context.Context, string, string) (net.Conn, error) { return client, nil }}
				req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://node.example/", http.NoBody)
				if err != nil {
					t.Fatal(err)
				}
				resp, err := transport.RoundTrip(req)
				if err != nil {
					t.Fatal(err)
				}
				body, err := io.ReadAll(resp.Body)
				if string(body) != "first\nsecond\n" || err != nil {
					t.Errorf("%q, %v", body, err)
				}
				_ = resp.Body.Close()
				transport.CloseIdleConnections()
				close(listener.accepted)
				_ = server.Close()
			})
		})
	}
}

// pipes accepts the server's ends of pipes, so that connections can be used over virtual time.
type pipes struct{ accepted chan net.Conn }

func (l pipes) Accept() (net.Conn, error) {
	conn, open := <-l.accepted
	if !open {
		return nil, net.ErrClosed
	}
	return conn, nil
}

func (l pipes) Close() error   { return nil }
func (l pipes) Addr() net.Addr { return &net.UnixAddr{Net: "pipe"} }
