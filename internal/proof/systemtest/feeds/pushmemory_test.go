package feeds

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"wayside/internal/proof/systemtest"
)

// The contents of hostile pushes, and the most that they may cost the service (F1).
const (
	hostileMemory  = 300 << 20
	hostilePushes  = 60
	stalledBodies  = 40
	halfOpen       = 1500      // connections with half a request
	hostileMembers = 2_300_000 // of one row: 16 MiB in 22 KB
)

// TestHostilePushesCostLittleMemory sends concurrently to the real binary 60 pushes that decompress to 16 MiB each, 60 of 16 MiB of
// valid rows, 40 bodies that stall after 16 MiB of white space, and 1 500 half-open connections, and checks that its resident
// memory, as the system counts it, stays near that at rest, and that others can read and push meanwhile (D7.1).
func TestHostilePushesCostLittleMemory(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("resident memory is read from /proc")
	}
	s := systemtest.StartService(t, "[limits]\nguest_reads_per_minute = 1000000\n")
	stalled := pushTokens(t, s.SignIn("stalled@example.org"), stalledBodies/2)
	attacked := pushTokens(t, s.SignIn("attacker@example.org"), 20)
	provider := pushTokens(t, s.SignIn("provider@example.org"), 1)[0]
	bomb := compressed(t, []byte(`[{"external_id":"a","kind":"alert.police","lat":1,"lng":1,"properties":{"a":{}`+
		strings.Repeat(`,"a":{}`, hostileMembers)+`}}]`))
	large := compressed(t, largeRows(1300, 12_000))
	spaces := compressed(t, bytes.Repeat([]byte(" "), 16<<20))
	reads := newReadTimes(s)
	reads.measure(t, 500) // warms the service up
	atRest := s.Memory(t, "VmRSS")

	stop := make(chan struct{})
	var readers sync.WaitGroup
	readers.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				reads.measure(t, 20)
			}
		}
	})
	reads.forget()
	for i := range stalledBodies {
		conn := stall(t, s, stalled[i%len(stalled)], spaces[:len(spaces)-9])
		defer conn.Close() // held open until the test ends
	}
	s.Flood(halfOpen, halfOpen/30, "GET /v2/kinds HTTP/1.1\r\nHost: a")
	bombs := pushAtOnce(t, s, attacked, bomb, hostilePushes)
	t.Logf("60 pushes of one row of 16 MiB: %v, %d MiB more at the peak", bombs, (s.Memory(t, "VmHWM")-atRest)>>20)
	filled := pushAtOnce(t, s, attacked, large, hostilePushes)
	if got := pushAtOnce(t, s, []string{provider}, compressed(t, []byte("[]")), 1); got[http.StatusOK] != 1 {
		t.Errorf("another account's push meanwhile: %v", got)
	}
	close(stop)
	readers.Wait()
	peak := s.Memory(t, "VmHWM")
	t.Logf("60 pushes of 16 MiB of rows: %v; %d MiB at rest, %d MiB more at the peak; %s", filled, atRest>>20, (peak-atRest)>>20, reads)
	if peak-atRest > hostileMemory {
		t.Errorf("%d MiB above rest, more than %d", (peak-atRest)>>20, hostileMemory>>20)
	}
	for _, statuses := range []map[int]int{bombs, filled} {
		if statuses[http.StatusOK]+statuses[http.StatusTooManyRequests]+statuses[http.StatusServiceUnavailable] != hostilePushes {
			t.Errorf("answers %v", statuses)
		}
	}
}

// largeRows returns rows with properties of the given size.
func largeRows(rows, size int) []byte {
	var text bytes.Buffer
	for i := range rows {
		fmt.Fprintf(&text, `%c{"external_id":"%d","kind":"camera.speed","lat":1,"lng":1,"properties":{"a":"%s"}}`,
			"[,"[min(i, 1)], i, strings.Repeat("x", size))
	}
	text.WriteByte(']')
	return text.Bytes()
}

// pushTokens registers push feeds and returns their tokens.
func pushTokens(t *testing.T, c *systemtest.Client, feeds int) (tokens []string) {
	t.Helper()
	for i := range feeds {
		resp, body := c.Do(http.MethodPost, "/v2/feeds", map[string]any{
			"name": fmt.Sprintf("Feed %d", i), "direction": "push", "visibility": "public", "licence": "ODbL-1.0",
		})
		var registered struct {
			Push string `json:"push_ingest_token"`
		}
		if err := json.Unmarshal(body, &registered); err != nil || resp.StatusCode != http.StatusCreated {
			t.Fatalf("register: %d %s", resp.StatusCode, body)
		}
		tokens = append(tokens, registered.Push)
	}
	return tokens
}

func compressed(t *testing.T, text []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err == nil {
		_, err = z.Write(text)
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// stall sends the head of a push and a body that never ends.
func stall(t *testing.T, s *systemtest.Service, token string, body []byte) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.Base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	head := fmt.Sprintf("POST /v2/feeds/%s/entities HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n",
		token, len(body)+9)
	if _, err := conn.Write(append([]byte(head), body...)); err != nil {
		t.Fatal(err)
	}
	return conn
}

// pushAtOnce sends a body the given number of times concurrently, with the tokens in turn, and counts the statuses of the answers;
// 0: there was none.
func pushAtOnce(t *testing.T, s *systemtest.Service, tokens []string, body []byte, times int) map[int]int {
	t.Helper()
	var (
		group    sync.WaitGroup
		mu       sync.Mutex
		statuses = make(map[int]int)
	)
	for i := range times {
		group.Go(func() {
			token := tokens[i%len(tokens)]
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.Base+"/v2/feeds/"+token+"/entities", bytes.NewReader(body))
			if err != nil {
				t.Error(err)
				return
			}
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("Content-Encoding", "gzip")
			status := 0
			if resp, err := http.DefaultClient.Do(req); err == nil {
				_, _ = io.Copy(io.Discard, resp.Body)
				resp.Body.Close() //nolint:gosec // it was only read
				status = resp.StatusCode
			} else {
				t.Log(err)
			}
			mu.Lock()
			defer mu.Unlock()
			statuses[status]++
		})
	}
	group.Wait()
	return statuses
}

// readTimes collects how long reads took.
type readTimes struct {
	s      *systemtest.Service
	mu     sync.Mutex
	took   []time.Duration
	failed atomic.Int32
}

func newReadTimes(s *systemtest.Service) *readTimes { return &readTimes{s: s} }

// measure reads the given number of times, one after the other.
func (r *readTimes) measure(t *testing.T, times int) {
	t.Helper()
	for range times {
		began := time.Now()
		resp, err := http.Get(r.s.Base + "/v2/entities/nearby?lat=1&lng=1&radius=1000")
		if err != nil {
			r.failed.Add(1)
			continue
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		resp.Body.Close() //nolint:gosec // it was only read
		if resp.StatusCode != http.StatusOK {
			r.failed.Add(1)
		}
		r.mu.Lock()
		r.took = append(r.took, time.Since(began))
		r.mu.Unlock()
	}
}

func (r *readTimes) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.took = nil
}

func (r *readTimes) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	slices.Sort(r.took)
	if len(r.took) == 0 {
		return "no reads"
	}
	return fmt.Sprintf("%d reads, %d failed, median %v, p99 %v", len(r.took), r.failed.Load(), r.took[len(r.took)/2], r.took[len(r.took)*99/100])
}
