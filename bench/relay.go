package main

import (
	"context"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// relay is an upstream of live incidents, which the service calls on drivers' requests.
type relay struct {
	server   *http.Server
	listener net.Listener
	body     atomic.Pointer[[]byte] // its answer around the spot
	calls    atomic.Int64
	hung     atomic.Int64 // calls without an answer

	mu       sync.Mutex
	released chan struct{} // hanging calls wait for it; nil: calls are answered immediately
}

const relaySecret = "known to bench alone"

// nowhere is the answer for other places: no incidents.
const nowhere = `{"entities":[],"fetched_at_utc":null}`

func newRelay() (*relay, error) {
	r := &relay{}
	none := []byte(nowhere)
	r.body.Store(&none)
	var config net.ListenConfig
	var err error
	if r.listener, err = config.Listen(context.Background(), "tcp", "127.0.0.1:0"); err != nil {
		return nil, err
	}
	r.server = &http.Server{ReadHeaderTimeout: time.Minute, Handler: r}
	go r.server.Serve(r.listener) //nolint:errcheck // ends with close
	return r, nil
}

// ServeHTTP answers one call, or hangs until the caller leaves or release is called.
func (r *relay) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	r.calls.Add(1)
	if req.Header.Get("X-Service-Auth") != relaySecret {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	r.mu.Lock()
	released := r.released
	r.mu.Unlock()
	if released != nil {
		r.hung.Add(1)
		select {
		case <-released:
		case <-req.Context().Done():
		}
		return
	}
	body := []byte(nowhere)
	if around(req.URL.Query().Get("lat"), spotLat) && around(req.URL.Query().Get("lng"), spotLng) {
		body = *r.body.Load()
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(body) // the service records the failure
}

// around reports whether a coordinate is near that of the spot.
func around(text string, of float64) bool {
	degrees, err := strconv.ParseFloat(text, 64)
	return err == nil && degrees > of-0.1 && degrees < of+0.1
}

// hang makes the relay accept calls and never answer.
func (r *relay) hang() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.released = make(chan struct{})
}

// release makes the relay answer again, also the hanging calls.
func (r *relay) release() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.released != nil {
		close(r.released)
	}
	r.released = nil
}

func (r *relay) close() {
	r.release()
	_ = r.server.Close() // a failure has no consequence
}
