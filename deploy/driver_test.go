package deploy

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

const sessions = "/v2/navigation/sessions"

// driver is a client on a drive, as the page for cars is: it reads the events of its session, and begins another session if that
// one is lost.
type driver struct {
	*caller
	traffic *traffic
	body    string // of a session, without its end

	mu     sync.Mutex
	id     string
	routes int       // events with the route
	moved  int       // events about a stopping node
	routed time.Time // when the last route came
}

// traffic counts the answers to the drivers.
type traffic struct {
	mu       sync.Mutex
	statuses map[string]int // by method and status
}

func (f *traffic) add(method string, status int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.statuses[fmt.Sprint(method, " ", status)]++
}

// take returns the counts so far, and resets them.
func (f *traffic) take() map[string]int {
	f.mu.Lock()
	defer f.mu.Unlock()
	taken := f.statuses
	f.statuses = make(map[string]int)
	return taken
}

// send sends a request and counts its answer.
func (d *driver) send(ctx context.Context, method, path, body string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, d.url+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := d.web.Do(req)
	if err == nil {
		d.traffic.add(method, resp.StatusCode)
	}
	return resp, err
}

// begin opens a session; resumes is the id of one that was lost.
func (d *driver) begin(ctx context.Context, resumes string) error {
	body := d.body + "}"
	if resumes != "" {
		body = fmt.Sprintf("%s,\"resumes\":%q}", d.body, resumes)
	}
	resp, err := d.send(ctx, http.MethodPost, sessions, body)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	var begun struct{ ID string }
	if err := json.NewDecoder(resp.Body).Decode(&begun); err != nil || resp.StatusCode != http.StatusCreated {
		return fmt.Errorf("%s: %w", resp.Status, errors.Join(err, errRefused))
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.id = begun.ID
	return nil
}

var errRefused = errors.New("no session was begun")

func (d *driver) session() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.id
}

// run reads events until ctx ends, and begins another session if this one is lost.
func (d *driver) run(ctx context.Context) {
	for ctx.Err() == nil {
		id := d.session()
		if d.follow(ctx, id) {
			for ctx.Err() == nil && d.begin(ctx, id) != nil {
				pause(ctx)
			}
			continue
		}
		pause(ctx)
	}
}

// pause waits, because a client must not call all the time.
func pause(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(time.Duration(rand.IntN(100)) * time.Millisecond):
	}
}

// follow reads the events of a session until its stream ends, and reports whether the session no longer exists.
func (d *driver) follow(ctx context.Context, id string) (lost bool) {
	resp, err := d.send(ctx, http.MethodGet, sessions+"/"+id+"/events", "")
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		_, _ = io.Copy(io.Discard, resp.Body)
		return resp.StatusCode == http.StatusNotFound
	}
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		d.mu.Lock()
		switch lines.Text() {
		case "event: route":
			d.routes, d.routed = d.routes+1, time.Now()
		case "event: moved":
			d.moved++
			lost = true
		}
		d.mu.Unlock()
		if lost {
			return true
		}
	}
	return false
}

// position sends the position of the car, and returns the status of the answer.
func (d *driver) position(ctx context.Context, lat, lng float64) (int, error) {
	resp, err := d.send(ctx, http.MethodPut, sessions+"/"+d.session()+"/position", fmt.Sprintf(`{"lat":%.6f,"lng":%.6f,"heading":90,"speed":15}`, lat, lng))
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, err
}

// ledSince returns how many drivers have another session than before and have received its route since the given time, and when the
// last of them received it.
func ledSince(drivers []*driver, before []string, since time.Time) (count int, last time.Time) {
	for i, d := range drivers {
		d.mu.Lock()
		if d.id != before[i] && d.routed.After(since) {
			count++
			if d.routed.After(last) {
				last = d.routed
			}
		}
		d.mu.Unlock()
	}
	return count, last
}

// drive opens a session for each driver and reads its events until the test ends.
func drive(t *testing.T, drivers []*driver) {
	t.Helper()
	var group sync.WaitGroup
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(func() { cancel(); group.Wait() })
	for i, d := range drivers {
		if err := d.begin(ctx, ""); err != nil {
			t.Fatalf("driver %d: %v", i, err)
		}
		group.Go(func() { d.run(ctx) })
	}
}
