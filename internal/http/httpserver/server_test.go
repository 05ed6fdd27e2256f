package httpserver

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

func start(t *testing.T, handler http.HandlerFunc) (url string, stop func() error) {
	t.Helper()
	s, err := Listen(t.Context(), "127.0.0.1:0", Limits{}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	s.Handle(handler)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	return "http://" + s.Addr().String(), func() error {
		cancel()
		return <-ended
	}
}

// TestStopUnderLoad checks that a stop breaks no answer (D12.5): every connection that was made gets its answer, and later ones are
// refused.
func TestStopUnderLoad(t *testing.T) {
	var served atomic.Int64
	warm := make(chan struct{})
	url, stop := start(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if served.Add(1) == 500 {
			close(warm)
		}
		_, _ = w.Write(make([]byte, 20_000))
	})
	var clients sync.WaitGroup
	for range 8 {
		client := &http.Client{Transport: &http.Transport{}}
		clients.Go(func() {
			defer client.CloseIdleConnections()
			for {
				resp, err := client.Post(url, "text/plain", http.NoBody)
				if errors.Is(err, syscall.ECONNREFUSED) {
					return
				}
				if err != nil {
					t.Errorf("request: %v", err)
					return
				}
				body, err := io.ReadAll(resp.Body)
				_ = resp.Body.Close()
				if err != nil || len(body) != 20_000 {
					t.Errorf("answer of %d bytes: %v", len(body), err)
					return
				}
			}
		})
	}
	<-warm
	if err := stop(); err != nil {
		t.Error(err)
	}
	clients.Wait()
}

// TestStopFinishesRequestsInFlight keeps a request open across the stop, and checks its answer.
func TestStopFinishesRequestsInFlight(t *testing.T) {
	inside, finish := make(chan struct{}), make(chan struct{})
	url, stop := start(t, func(w http.ResponseWriter, _ *http.Request) {
		close(inside)
		<-finish
		_, _ = io.WriteString(w, "done")
	})
	answer := make(chan string, 1)
	go func() {
		resp, err := http.Get(url)
		if err != nil {
			answer <- err.Error()
			return
		}
		defer resp.Body.Close()
		body, _ := io.ReadAll(resp.Body)
		answer <- string(body)
	}()
	<-inside
	stopped := make(chan error, 1)
	go func() { stopped <- stop() }()
	for refused := false; !refused; {
		resp, err := http.Get(url) // new connections are refused
		if refused = errors.Is(err, syscall.ECONNREFUSED); err == nil {
			_ = resp.Body.Close()
		}
	}
	close(finish)
	if got := <-answer; got != "done" {
		t.Errorf("answer %q", got)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

func TestIdleConnectionsDoNotDelayStop(t *testing.T) {
	url, stop := start(t, func(http.ResponseWriter, *http.Request) {})
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	began := time.Now()
	if err := stop(); err != nil || time.Since(began) > 5*time.Second {
		t.Errorf("stopped in %v: %v", time.Since(began), err)
	}
}
