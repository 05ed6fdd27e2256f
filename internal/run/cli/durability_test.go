package cli

import (
	"encoding/json"
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
	"testing"
)

// rounds returns how often the service is killed: 5 times, or $ROUNDS times.
func rounds(t *testing.T) int {
	if text := os.Getenv("ROUNDS"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			t.Fatalf("ROUNDS=%s is no count", text)
		}
		return n
	}
	return 5
}

// pushed is one batch, and whether it was acknowledged.
type pushed struct {
	feed     int
	number   int
	answered bool
}

// place returns the position of a batch's rows, more than a kilometre from those of other batches.
func (b pushed) place() (lat, lng float64) {
	return -60 + float64(b.number%1200)*0.1, -150 + float64(b.feed)*10 + float64(b.number/1200)*0.1
}

// TestKillKeepsAcknowledgedPushes kills the service repeatedly during pushes, and checks that every acknowledged batch is there
// after the restart, and that no batch is there in part (D7.2, D12.5).
func TestKillKeepsAcknowledgedPushes(t *testing.T) {
	const writers, rows = 4, 200
	s := startService(t, unlimited)
	c := s.signIn("owner@example.org")
	var feeds [writers]pushFeed
	for i := range feeds {
		feeds[i] = c.register(fmt.Sprint("feed ", i))
	}
	next := [writers]int{}
	for round := range rounds(t) {
		var (
			mu      sync.Mutex
			batches []pushed
			done    atomic.Int64
			group   sync.WaitGroup
			enough  = make(chan struct{})
			target  = int64(5 + rand.IntN(60))
		)
		for feed := range feeds {
			group.Go(func() {
				writer := &client{s: s}
				defer writer.http.CloseIdleConnections()
				for {
					b := pushed{feed: feed, number: next[feed]}
					next[feed]++
					lat, lng := b.place()
					resp, body, err := writer.try(http.MethodPost, "/v2/feeds/"+feeds[feed].token+"/entities",
						rowsAt(lat, lng, strconv.Itoa(b.number), rows))
					b.answered = err == nil && resp.StatusCode == http.StatusOK
					mu.Lock()
					batches = append(batches, b)
					mu.Unlock()
					if !b.answered {
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
		s.kill()
		group.Wait()
		s.start(nil)
		checkBatches(t, s, round, batches, rows)
		if t.Failed() {
			return
		}
	}
}

// checkBatches reads every batch back.
func checkBatches(t *testing.T, s *serviceProcess, round int, batches []pushed, rows int) {
	t.Helper()
	reader := &client{s: s}
	defer reader.http.CloseIdleConnections()
	for _, b := range batches {
		ids, err := reader.near(b.place())
		switch {
		case err != nil:
			t.Fatalf("round %d: %v", round, err)
		case b.answered && len(ids) != rows:
			t.Errorf("round %d: batch %d of feed %d was answered 200, and %d of %d rows are there", round, b.number, b.feed, len(ids), rows)
		case len(ids) != 0 && len(ids) != rows:
			t.Errorf("round %d: batch %d of feed %d is stored in part: %d of %d rows", round, b.number, b.feed, len(ids), rows)
		}
	}
}

// TestStopUnderPushes stops the service during pushes and reads, and checks that every accepted request gets a complete answer,
// that the program exits with 0, and that no acknowledged push is lost (D12.5).
func TestStopUnderPushes(t *testing.T) {
	const writers, rows = 4, 200
	s := startService(t, unlimited)
	c := s.signIn("owner@example.org")
	var (
		mu      sync.Mutex
		batches []pushed
		done    atomic.Int64
		group   sync.WaitGroup
		enough  = make(chan struct{})
	)
	for feed := range writers {
		f := c.register(fmt.Sprint("feed ", feed))
		group.Go(func() {
			writer := &client{s: s}
			defer writer.http.CloseIdleConnections()
			for number := 0; ; number++ {
				b := pushed{feed: feed, number: number}
				lat, lng := b.place()
				resp, body, err := writer.try(http.MethodPost, "/v2/feeds/"+f.token+"/entities", rowsAt(lat, lng, strconv.Itoa(number), rows))
				if refused(err) {
					return
				}
				if err != nil || resp.StatusCode != http.StatusOK || !json.Valid(body) {
					t.Errorf("push: %v %s", err, body)
					return
				}
				b.answered = true
				mu.Lock()
				batches = append(batches, b)
				mu.Unlock()
				if done.Add(1) == 30 {
					close(enough)
				}
				if _, err := writer.near(lat, lng); refused(err) {
					return
				} else if err != nil {
					t.Errorf("read: %v", err)
					return
				}
			}
		})
	}
	<-enough
	err := s.terminate()
	group.Wait()
	if err != nil {
		t.Errorf("exit: %v\n%s", err, s.log)
	}
	s.start(nil)
	checkBatches(t, s, 0, batches, rows)
}

// TestFullDisk runs the service on a small file system, and checks that pushes are answered with 503 and Retry-After, that reads
// continue, that no batch is stored in part, and that the service recovers once there is space.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	const rows = 200
	s := newService(t, unlimited)
	smallDisk(t, s.dir)
	s.start(nil)
	c := s.signIn("owner@example.org")
	f := c.register("feed")
	push := func(number int) (*http.Response, []byte) {
		lat, lng := pushed{number: number}.place()
		return c.do(http.MethodPost, "/v2/feeds/"+f.token+"/entities", rowsAt(lat, lng, strconv.Itoa(number), rows))
	}
	if resp, body := push(0); resp.StatusCode != http.StatusOK {
		t.Fatalf("push: %d %s", resp.StatusCode, body)
	}
	ballast := filepath.Join(s.dir, "ballast")
	fill(t, ballast)
	refusedAt := 0
	for number := 1; refusedAt == 0; number++ {
		resp, body := push(number)
		switch {
		case resp.StatusCode == http.StatusServiceUnavailable && resp.Header.Get("Retry-After") != "":
			refusedAt = number
		case resp.StatusCode != http.StatusOK:
			t.Fatalf("push %d: %d %v %s\n%s", number, resp.StatusCode, resp.Header, body, s.log)
		case number > 10_000:
			t.Fatal("the disk is never full")
		}
	}
	for number := range refusedAt + 1 {
		ids, err := c.near(pushed{number: number}.place())
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
	eventually(t, "push after there is room again", func() bool {
		resp, _ := push(refusedAt)
		return resp.StatusCode == http.StatusOK
	})
	eventually(t, "read after there is room again", func() bool {
		ids, err := c.near(pushed{number: refusedAt}.place())
		return err == nil && len(ids) == rows
	})
	if err := s.terminate(); err != nil {
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
