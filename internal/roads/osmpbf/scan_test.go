package osmpbf

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// numbered returns an extract of many blocks.
func numbered(nodes int) (e extract) {
	for i := range nodes {
		e = append(e, Node{ID: int64(i), Lat: int64(i) * 100, Tags: Tags{{"n", fmt.Sprint(i)}}})
	}
	return append(e, Way{ID: 1, Refs: []int64{1, 2}})
}

// countingReader counts the bytes read.
type countingReader struct {
	io.ReaderAt
	bytes atomic.Int64
}

func (c *countingReader) ReadAt(p []byte, offset int64) (int, error) {
	c.bytes.Add(int64(len(p)))
	return c.ReaderAt.ReadAt(p, offset)
}

func TestLaterPassesReadOnlyWhatTheyWant(t *testing.T) {
	data := numbered(10_000).write(t, WriterOptions{BlockSize: 100})
	in := &countingReader{ReaderAt: bytes.NewReader(data)}
	f, err := Open(in, int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	for pass, most := range []int64{int64(len(data)), 1000} {
		in.bytes.Store(0)
		got, err := readAll(t.Context(), f, Options{Want: Ways})
		if err != nil || len(got) != 1 {
			t.Fatalf("pass %d: %d ways, %v", pass, len(got), err)
		}
		if read := in.bytes.Load(); read > most {
			t.Errorf("pass %d read %d bytes, want at most %d", pass, read, most)
		}
	}
}

func TestMapKeepsTheOrder(t *testing.T) {
	f := openBytes(t, numbered(2000).write(t, WriterOptions{BlockSize: 7}))
	var next int64
	err := Map(t.Context(), f, Options{Want: Nodes, Workers: 4}, func(b *Block) ([]int64, error) {
		var ids []int64
		for _, n := range b.Nodes {
			ids = append(ids, n.ID)
		}
		return ids, nil
	}, func(ids []int64) error {
		for _, id := range ids {
			if id != next {
				return fmt.Errorf("node %d where %d was to come", id, next)
			}
			next++
		}
		return nil
	})
	if err != nil || next != 2000 {
		t.Fatalf("%d nodes, %v", next, err)
	}
}

// TestStringsOutliveTheirBlock checks that texts may be kept, although blocks are reused.
func TestStringsOutliveTheirBlock(t *testing.T) {
	f := openBytes(t, numbered(5000).write(t, WriterOptions{BlockSize: 10}))
	var kept []string
	err := f.Scan(t.Context(), Options{Want: Nodes}, func(b *Block) error {
		for _, n := range b.Nodes {
			value, _ := n.Tags.Get("n")
			kept = append(kept, value)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, value := range kept {
		if value != fmt.Sprint(i) {
			t.Fatalf("node %d has %q", i, value)
		}
	}
}

func TestScanEnds(t *testing.T) {
	data := numbered(2000).write(t, WriterOptions{BlockSize: 5})
	enough := errors.New("enough")
	cancelled, cancel := context.WithCancel(t.Context())
	tests := []struct {
		name string
		ctx  context.Context
		use  func(int) error
		want error
	}{
		{"by the user", t.Context(), func(block int) error {
			if block == 3 {
				return enough
			}
			return nil
		}, enough},
		{"by the context", cancelled, func(block int) error {
			if block == 3 {
				cancel()
			}
			return nil
		}, context.Canceled},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, blocks := openBytes(t, data), 0
			err := f.Scan(tt.ctx, Options{}, func(*Block) error {
				blocks++
				return tt.use(blocks)
			})
			if !errors.Is(err, tt.want) || blocks > 4 {
				t.Errorf("%d blocks, %v", blocks, err)
			}
			if f.known.Load() != nil {
				t.Error("a scan that did not get to the end claims to know all blocks")
			}
		})
	}
	t.Run("by the work", func(t *testing.T) {
		err := Map(t.Context(), openBytes(t, data), Options{}, func(*Block) (int, error) { return 0, enough }, func(int) error { return nil })
		var fault *Error
		if !errors.Is(err, enough) || errors.As(err, &fault) {
			t.Errorf("%v: not the work's own error", err)
		}
	})
}

// TestTheFirstFaultIsTold checks that the blocks before a faulty one are used, and none after it, whatever the number of
// workers.
func TestTheFirstFaultIsTold(t *testing.T) {
	good := numbered(20).write(t, WriterOptions{BlockSize: 2})
	bad := fileWith([]byte{0xff})[len(fileHeader()):]
	data := slices.Concat(good, bad, bad, good)
	for workers := 1; workers <= 8; workers++ {
		got, err := readAll(t.Context(), openBytes(t, data), Options{Workers: workers})
		if fault := wantFault(t, err, len(data)); fault.Offset != int64(len(good)) {
			t.Errorf("%d workers: %v, want byte %d", workers, err, len(good))
		}
		compare(t, "before the fault", numbered(20), got)
	}
}

func TestScansSideBySide(t *testing.T) {
	f := openBytes(t, numbered(3000).write(t, WriterOptions{BlockSize: 50}))
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			got, err := readAll(t.Context(), f, Options{})
			if err != nil || len(got) != 3001 {
				t.Errorf("%d objects, %v", len(got), err)
			}
		})
	}
	all.Wait()
}

type brokenDisk struct {
	io.ReaderAt
	good int64
}

var errDisk = errors.New("the disk is broken")

func (b brokenDisk) ReadAt(p []byte, offset int64) (int, error) {
	if offset+int64(len(p)) > b.good {
		return 0, errDisk
	}
	return b.ReaderAt.ReadAt(p, offset)
}

func TestErrorsOfReadingAreNotTheFiles(t *testing.T) {
	data := numbered(100).write(t, WriterOptions{BlockSize: 10})
	for _, good := range []int64{0, 20, int64(len(data)) / 2} {
		f, err := Open(brokenDisk{bytes.NewReader(data), good}, int64(len(data)))
		if err == nil {
			_, err = readAll(t.Context(), f, Options{})
		}
		var fault *Error
		if !errors.Is(err, errDisk) || errors.As(err, &fault) {
			t.Errorf("good up to byte %d: %v", good, err)
		}
	}
}

// repeated is a file of a header and one block, repeated many times.
type repeated struct {
	header, block []byte
	times         int64
}

func (r repeated) size() int64 { return int64(len(r.header)) + r.times*int64(len(r.block)) }

func (r repeated) ReadAt(p []byte, offset int64) (n int, err error) {
	for n < len(p) {
		at := offset + int64(n)
		switch {
		case at >= r.size():
			return n, io.EOF
		case at < int64(len(r.header)):
			n += copy(p[n:], r.header[at:])
		default:
			n += copy(p[n:], r.block[(at-int64(len(r.header)))%int64(len(r.block)):])
		}
	}
	return n, nil
}

// compressedBlock returns a compressed block.
func compressedBlock(t testing.TB, encoding Encoding, message []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := NewWriter(&out, WriterOptions{Encoding: encoding})
	if err != nil {
		t.Fatal(err)
	}
	out.Reset()
	if err := w.writeBlock(dataType, message); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
