package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// connections is the number of concurrent clients.
const connections = 32

// loadResult is the result of one round of load.
type loadResult struct {
	requests  int64
	bytes     int64
	elapsed   time.Duration
	latencies []time.Duration // of every 16th request
}

func (r *loadResult) perSecond() float64 { return float64(r.requests) / r.elapsed.Seconds() }

func (r *loadResult) size() int { return int(r.bytes / max(1, r.requests)) }

// percentile returns a percentile of the latencies.
func (r *loadResult) percentile(share float64) time.Duration {
	if len(r.latencies) == 0 {
		return 0
	}
	slices.Sort(r.latencies)
	return r.latencies[int(share*float64(len(r.latencies)-1))]
}

// load sends the paths in a loop on keep-alive connections for the given time. The client is minimal, because it shares the
// processors with the service.
func load(ctx context.Context, addr string, paths []string, length time.Duration) (*loadResult, error) {
	requests := make([][]byte, len(paths))
	for i, path := range paths {
		requests[i] = []byte("GET " + path + " HTTP/1.1\r\nHost: " + addr + "\r\n\r\n")
	}
	return loadRequests(ctx, addr, requests, readAnswer, length)
}

// loadRequests sends requests as load does, in any protocol; read reads one answer and returns its length.
func loadRequests(ctx context.Context, addr string, requests [][]byte, read func(*bufio.Reader) (int, error), length time.Duration) (*loadResult, error) {
	ctx, cancel := context.WithTimeout(ctx, length)
	defer cancel()
	var (
		result loadResult
		total  atomic.Int64
		size   atomic.Int64
		mu     sync.Mutex
		failed error
		group  sync.WaitGroup
	)
	began := time.Now()
	for worker := range connections {
		group.Go(func() {
			latencies, err := client(ctx, addr, requests, read, worker*len(requests)/connections, &total, &size)
			mu.Lock()
			defer mu.Unlock()
			result.latencies = append(result.latencies, latencies...)
			failed = errors.Join(failed, err)
		})
	}
	group.Wait()
	result.requests, result.bytes, result.elapsed = total.Load(), size.Load(), time.Since(began)
	return &result, failed
}

// client runs the loop of one connection.
func client(ctx context.Context, addr string, requests [][]byte, read func(*bufio.Reader) (int, error), first int, total, size *atomic.Int64) ([]time.Duration, error) {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	defer conn.Close() //nolint:errcheck // the client is done
	reader := bufio.NewReaderSize(conn, 128<<10)
	var latencies []time.Duration
	for i := first; ctx.Err() == nil; i++ {
		began := time.Now()
		if _, err := conn.Write(requests[i%len(requests)]); err != nil {
			return nil, err
		}
		n, err := read(reader)
		if err != nil {
			return nil, err
		}
		total.Add(1)
		size.Add(int64(n))
		if i%16 == 0 {
			latencies = append(latencies, time.Since(began))
		}
	}
	return latencies, nil
}

// readAnswer reads one answer and returns the length of its body.
func readAnswer(r *bufio.Reader) (int, error) {
	line, err := r.ReadSlice('\n')
	if err != nil {
		return 0, err
	}
	if !bytes.Contains(line, []byte(" 200 ")) {
		return 0, fmt.Errorf("answer: %s", bytes.TrimSpace(line))
	}
	length := -1
	for {
		line, err := r.ReadSlice('\n')
		if err != nil {
			return 0, err
		}
		if len(line) <= 2 {
			break
		}
		if value, ok := bytes.CutPrefix(line, []byte("Content-Length: ")); ok {
			if length, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil {
				return 0, err
			}
		}
	}
	if length < 0 {
		return 0, errors.New("answer without Content-Length")
	}
	_, err = r.Discard(length)
	return length, err
}

// bareServer is the baseline handler in its own process.
type bareServer struct {
	addr string
	cmd  *exec.Cmd
}

// startBare runs this program as a baseline handler with bodies of this size.
func startBare(ctx context.Context, size int) (*bareServer, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self, "-bare", strconv.Itoa(size))
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	addr, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return nil, err
	}
	return &bareServer{addr: addr[:len(addr)-1], cmd: cmd}, nil
}

func (s *bareServer) stop() {
	_ = s.cmd.Process.Kill() // it has no state
	_ = s.cmd.Wait()         // it only reports the kill
}

// serveBare runs the baseline handler in its own process.
func serveBare(size int) error {
	body := bytes.Repeat([]byte("x"), size)
	var config net.ListenConfig
	listener, err := config.Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	if _, err := io.WriteString(os.Stdout, listener.Addr().String()+"\n"); err != nil {
		return err
	}
	//nolint:gosec // loopback, for the length of a measurement
	return http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Content-Type"] = []string{"application/json"}
		w.Header()["Content-Length"] = []string{strconv.Itoa(len(body))}
		_, _ = w.Write(body) // the client may be gone
	}))
}
