package backup

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"wayside/internal/proof/systemtest"
)

// TestKillKeepsAcknowledgedPushes kills the service repeatedly during pushes, and checks that every acknowledged batch is there
// after the restart, and that no batch is there in part (D7.2, D12.5).
func TestKillKeepsAcknowledgedPushes(t *testing.T) {
	const writers, rows = 4, 200
	s := systemtest.StartService(t, systemtest.Unlimited)
	c := s.SignIn("owner@example.org")
	var feeds [writers]systemtest.PushFeed
	for i := range feeds {
		feeds[i] = c.Register(fmt.Sprint("feed ", i))
	}
	next := [writers]int{}
	for round := range systemtest.Rounds(t) {
		var (
			mu      sync.Mutex
			batches []systemtest.Batch
			done    atomic.Int64
			group   sync.WaitGroup
			enough  = make(chan struct{})
			target  = int64(5 + rand.IntN(60))
		)
		for feed := range feeds {
			group.Go(func() {
				writer := &systemtest.Client{Service: s}
				defer writer.HTTP.CloseIdleConnections()
				for {
					b := systemtest.Batch{Feed: feed, Number: next[feed]}
					next[feed]++
					lat, lng := b.Place()
					resp, body, err := writer.Try(http.MethodPost, "/v2/feeds/"+feeds[feed].Token+"/entities",
						systemtest.RowsAt(lat, lng, strconv.Itoa(b.Number), rows))
					b.Answered = err == nil && resp.StatusCode == http.StatusOK
					mu.Lock()
					batches = append(batches, b)
					mu.Unlock()
					if !b.Answered {
						if err == nil {
							t.Errorf("round %d: %d %s", round, resp.StatusCode, body)
						}
						return
					}
					if done.Add(1) == target {
						close(enough)
					}
				}
			})
		}
		<-enough
		s.Kill()
		group.Wait()
		s.Start(nil)
		checkBatches(t, s, round, batches, rows)
		if t.Failed() {
			return
		}
	}
}

// checkBatches reads every batch back.
func checkBatches(t *testing.T, s *systemtest.Service, round int, batches []systemtest.Batch, rows int) {
	t.Helper()
	reader := &systemtest.Client{Service: s}
	defer reader.HTTP.CloseIdleConnections()
	for _, b := range batches {
		ids, err := reader.Near(b.Place())
		switch {
		case err != nil:
			t.Fatalf("round %d: %v", round, err)
		case b.Answered && len(ids) != rows:
			t.Errorf("round %d: batch %d of feed %d was answered 200, and %d of %d rows are there", round, b.Number, b.Feed, len(ids), rows)
		case len(ids) != 0 && len(ids) != rows:
			t.Errorf("round %d: batch %d of feed %d is stored in part: %d of %d rows", round, b.Number, b.Feed, len(ids), rows)
		}
	}
}

// TestStopUnderPushes stops the service during pushes and reads, and checks that every accepted request gets a complete answer,
// that the program exits with 0, and that no acknowledged push is lost (D12.5).
func TestStopUnderPushes(t *testing.T) {
	const writers, rows = 4, 200
	s := systemtest.StartService(t, systemtest.Unlimited)
	c := s.SignIn("owner@example.org")
	var (
		mu      sync.Mutex
		batches []systemtest.Batch
		done    atomic.Int64
		group   sync.WaitGroup
		enough  = make(chan struct{})
	)
	for feed := range writers {
		f := c.Register(fmt.Sprint("feed ", feed))
		group.Go(func() {
			writer := &systemtest.Client{Service: s}
			defer writer.HTTP.CloseIdleConnections()
			for number := 0; ; number++ {
				b := systemtest.Batch{Feed: feed, Number: number}
				lat, lng := b.Place()
				resp, body, err := writer.Try(http.MethodPost, "/v2/feeds/"+f.Token+"/entities", systemtest.RowsAt(lat, lng, strconv.Itoa(number), rows))
				if refused(err) {
					return
				}
				if err != nil || resp.StatusCode != http.StatusOK || !json.Valid(body) {
					t.Errorf("push: %v %s", err, body)
					return
				}
				b.Answered = true
				mu.Lock()
				batches = append(batches, b)
				mu.Unlock()
				if done.Add(1) == 30 {
					close(enough)
				}
				if _, err := writer.Near(lat, lng); refused(err) {
					return
				} else if err != nil {
					t.Errorf("read: %v", err)
					return
				}
			}
		})
	}
	<-enough
	err := s.Terminate()
	group.Wait()
	if err != nil {
		t.Errorf("exit: %v\n%s", err, s.Log)
	}
	s.Start(nil)
	checkBatches(t, s, 0, batches, rows)
}

// TestFullDisk runs the service on a small file system, and checks that pushes are answered with 503 and Retry-After, that reads
// continue, that no batch is stored in part, and that the service recovers once there is space.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	const rows = 200
	s := systemtest.NewService(t, systemtest.Unlimited)
	smallDisk(t, s.Dir)
	s.Start(nil)
	c := s.SignIn("owner@example.org")
	f := c.Register("feed")
	push := func(number int) (*http.Response, []byte) {
		lat, lng := systemtest.Batch{Number: number}.Place()
		return c.Do(http.MethodPost, "/v2/feeds/"+f.Token+"/entities", systemtest.RowsAt(lat, lng, strconv.Itoa(number), rows))
	}
	if resp, body := push(0); resp.StatusCode != http.StatusOK {
		t.Fatalf("push: %d %s", resp.StatusCode, body)
	}
	ballast := filepath.Join(s.Dir, "ballast")
	fill(t, ballast)
	refusedAt := 0
	for number := 1; refusedAt == 0; number++ {
		resp, body := push(number)
		switch {
		case resp.StatusCode == http.StatusServiceUnavailable && resp.Header.Get("Retry-After") != "":
			refusedAt = number
		case resp.StatusCode != http.StatusOK:
			t.Fatalf("push %d: %d %v %s\n%s", number, resp.StatusCode, resp.Header, body, s.Log)
		case number > 10_000:
			t.Fatal("the disk is never full")
		}
	}
	for number := range refusedAt + 1 {
		ids, err := c.Near(systemtest.Batch{Number: number}.Place())
		want := rows
		if number == refusedAt {
			want = 0
		}
		if err != nil || len(ids) != want {
			t.Errorf("batch %d: %d rows, %v; want %d", number, len(ids), err, want)
		}
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	systemtest.Eventually(t, "push after there is room again", func() bool {
		resp, _ := push(refusedAt)
		return resp.StatusCode == http.StatusOK
	})
	systemtest.Eventually(t, "read after there is room again", func() bool {
		ids, err := c.Near(systemtest.Batch{Number: refusedAt}.Place())
		return err == nil && len(ids) == rows
	})
	if err := s.Terminate(); err != nil {
		t.Errorf("exit: %v", err)
	}
}

// smallDisk mounts a file system of 8 MiB at dir, which only root on Linux may.
func smallDisk(t *testing.T, dir string) {
	t.Helper()
	if runtime.GOOS != "linux" || os.Getuid() != 0 {
		t.Skip("mounting a small file system needs root on Linux")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", dir).CombinedOutput(); err != nil {
		t.Skipf("a small file system cannot be mounted here: %v: %s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", "-l", dir).CombinedOutput(); err != nil {
			t.Errorf("umount: %v: %s", err, out)
		}
	})
}

// fill writes until the file system is full.
func fill(t *testing.T, path string) {
	t.Helper()
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for block := make([]byte, 64<<10); ; {
		if _, err := file.Write(block); err != nil {
			return
		}
	}
}

// refused reports whether the connection was refused: the service has stopped listening.
func refused(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }
