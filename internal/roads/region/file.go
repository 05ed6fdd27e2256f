package region

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync/atomic"

	"github.com/edsrzf/mmap-go"
	"github.com/zeebo/xxh3"
	"golang.org/x/sync/errgroup"
)

// file is a region file that is open for reading.
type file struct {
	*table
	in   *os.File
	info os.FileInfo
}

// openFile opens a file and verifies its header and table. verify and read verify the contents of the sections.
func openFile(path string) (*file, error) {
	in, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return newFile(in)
}

// newFile is openFile for an open file, which it closes on failure.
func newFile(in *os.File) (_ *file, err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, in.Close())
		}
	}()
	f := &file{in: in}
	if f.info, err = in.Stat(); err != nil {
		return nil, err
	}
	if !f.info.Mode().IsRegular() {
		return nil, errors.New("it is not a file")
	}
	size := f.info.Size()
	head := make([]byte, min(size, headerSize))
	if _, err := io.ReadFull(io.NewSectionReader(in, 0, size), head); err != nil {
		return nil, fmt.Errorf("read the header: %w", err)
	}
	h, err := parseHeader(head, size)
	if err != nil {
		return nil, err
	}
	tail := make([]byte, size-h.start)
	if _, err := in.ReadAt(tail, h.start); err != nil {
		return nil, fmt.Errorf("read the table: %w", err)
	}
	f.table, err = parseTable(h, head, tail)
	return f, err
}

func (f *file) close() error { return f.in.Close() }

// verify compares the checksums of all chunks, on all cores, and names the first that is wrong. It reads the file
// instead of its mapping, because a failing disk is an error when reading, but would end the process when accessing the
// mapping.
func (f *file) verify(ctx context.Context) error { return f.verifyChunks(ctx, 0, len(f.sums)) }

func (f *file) verifyChunks(ctx context.Context, first, end int) error {
	workers := min(runtime.GOMAXPROCS(0), end-first)
	var next, bad atomic.Int64
	next.Store(int64(first))
	bad.Store(int64(end))
	group, ctx := errgroup.WithContext(ctx)
	for range workers {
		group.Go(func() error {
			buffer := make([]byte, chunkSize)
			for {
				i := next.Add(1) - 1
				if i >= bad.Load() || ctx.Err() != nil {
					return ctx.Err()
				}
				from := headerSize + i*chunkSize
				part := buffer[:min(chunkSize, f.start-from)]
				if _, err := f.in.ReadAt(part, from); err != nil {
					return fmt.Errorf("read at byte %d: %w", from, err)
				}
				if xxh3.Hash(part) == f.sums[i] {
					continue
				}
				for first := bad.Load(); i < first && !bad.CompareAndSwap(first, i); first = bad.Load() {
				}
			}
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	if i := bad.Load(); i < int64(end) {
		from := headerSize + i*chunkSize
		return damaged(from, "the checksum of this byte and those up to byte %d is wrong", min(from+chunkSize, f.start)-1)
	}
	return nil
}

// read returns a copy of one section, after verifying the chunks that contain it.
func (f *file) read(ctx context.Context, name string) ([]byte, error) {
	s := f.find(name)
	if s == nil {
		return nil, damaged(f.start, "there is no section %q", name)
	}
	if s.length == 0 {
		return nil, nil
	}
	if err := f.verifyChunks(ctx, int((s.offset-headerSize)/chunkSize), int((s.offset+s.length-1-headerSize)/chunkSize)+1); err != nil {
		return nil, err
	}
	text := make([]byte, s.length)
	_, err := f.in.ReadAt(text, s.offset)
	return text, err
}

// mapping is a file in memory.
type mapping struct {
	memory mmap.MMap
	table  *table
}

// mapped maps the whole file into memory, read-only.
func (f *file) mapped() (*mapping, error) {
	memory, err := mmap.Map(f.in, mmap.RDONLY, 0)
	if err != nil {
		return nil, fmt.Errorf("map the file into memory: %w", err)
	}
	return &mapping{memory, f.table}, nil
}

// section returns the bytes of a section, or nil if there is none. The caller must not change them.
func (m *mapping) section(name string) []byte {
	s := m.table.find(name)
	if s == nil {
		return nil
	}
	return m.memory[s.offset : s.offset+s.length : s.offset+s.length]
}
