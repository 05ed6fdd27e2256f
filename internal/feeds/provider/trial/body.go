package trial

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"

	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/safehttp"
)

// Bounds of the bodies that wait to be parsed.
const (
	maxBodyInMemory   = 64 << 10 // bytes up to which a body stays in memory, while there is room
	maxBodiesInMemory = 32 << 20 // bytes of all bodies in memory; further ones are stored on disk
	maxBodiesOnDisk   = 4 << 30  // bytes
	readSize          = 8 << 10  // bytes that each running fetch reads at a time
	largeBody         = 1 << 20  // bytes from which parsing takes a while
)

// Fetcher fetches a provider's document, as *safehttp.Client does. Tests of schedules use a fake.
type Fetcher interface {
	Fetch(ctx context.Context, r safehttp.Request) (*safehttp.Response, error)
}

// Body is a complete, fetched body. A large one is in an unlinked file that disappears with the process.
type Body struct {
	Hash []byte // SHA-256
	Size int64

	memory   []byte
	reserved int64 // bytes of spool.inMemory that belong to this body
	file     *os.File
	spool    *Spool
}

// Open returns the body from its beginning, each time it is called, until Close.
func (b *Body) Open() (io.ReadCloser, error) {
	if b.file == nil {
		return io.NopCloser(bytes.NewReader(b.memory)), nil
	}
	return io.NopCloser(io.NewSectionReader(b.file, 0, b.Size)), nil
}

// Large reports whether parsing the body takes a while.
func (b *Body) Large() bool { return b.Size >= largeBody }

// Slow reports whether reading the body as a document takes a while, or memory, because a small gzip file may contain a
// large document.
func (b *Body) Slow() bool { return b.Large() || b.packed() }

// packed reports whether the body is a gzip file.
func (b *Body) packed() bool {
	var first [2]byte
	if b.file == nil {
		copy(first[:], b.memory)
	} else if _, err := b.file.ReadAt(first[:], 0); err != nil {
		return false // the next reader gets the same error
	}
	return first == [2]byte{0x1F, 0x8B}
}

// Close releases the body's room.
func (b *Body) Close() error {
	b.freeMemory()
	if b.file == nil {
		return nil
	}
	b.spool.used.Add(-b.Size)
	err := b.file.Close()
	if gone := os.Remove(b.file.Name()); gone != nil && !errors.Is(gone, os.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	b.file = nil
	return err
}

// Spool stores bodies while they arrive and wait to be parsed: small ones in memory, the others in a directory.
type Spool struct {
	dir      string
	used     atomic.Int64 // bytes on disk
	inMemory atomic.Int64 // bytes reserved in memory
}

// NewSpool returns a spool over a directory; empty: the system's temporary directory.
func NewSpool(folder string) *Spool { return &Spool{dir: folder} }

// Used returns the number of bytes of bodies on disk, and of those reserved in memory.
func (s *Spool) Used() (disk, memory int64) { return s.used.Load(), s.inMemory.Load() }

// fetch fetches a complete body. It fails as Fetcher does, and with mapdata.ErrUnavailable when there is no room for it
// here.
func (s *Spool) fetch(ctx context.Context, web Fetcher, r safehttp.Request) (*Body, *safehttp.Response, error) {
	answer, err := web.Fetch(ctx, r)
	if err != nil {
		return nil, nil, err
	}
	got, err := s.collect(answer.Body)
	if closed := answer.Body.Close(); err == nil && closed != nil {
		err = errors.Join(fmt.Errorf("close answer: %w", closed), got.Close())
	}
	if err != nil {
		return nil, nil, err
	}
	return got, answer, nil
}

// collect reads all of r. Errors of r are returned as they are.
func (s *Spool) collect(r io.Reader) (_ *Body, err error) {
	b := &Body{spool: s}
	defer func() {
		if err != nil {
			err = errors.Join(err, b.Close())
		}
	}()
	hash := sha256.New()
	part := make([]byte, readSize)
	for {
		n, err := r.Read(part)
		if n > 0 {
			_, _ = hash.Write(part[:n]) // never fails
			if err := b.keep(part[:n]); err != nil {
				return nil, err
			}
		}
		if errors.Is(err, io.EOF) {
			b.Hash = hash.Sum(nil)
			return b, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// keep appends a part. A failure of keep is this machine's fault, not the provider's.
func (b *Body) keep(part []byte) error {
	if b.file == nil && b.reserve(len(b.memory)+len(part)) {
		b.memory = append(b.memory, part...)
		b.Size += int64(len(part))
		return nil
	}
	if b.file == nil {
		if err := b.spill(); err != nil {
			return err
		}
	}
	if b.spool.used.Add(int64(len(part))) > maxBodiesOnDisk {
		b.spool.used.Add(-int64(len(part)))
		return fmt.Errorf("%w: too many large bodies wait to be parsed", mapdata.ErrUnavailable)
	}
	b.Size += int64(len(part))
	if _, err := b.file.Write(part); err != nil {
		return fmt.Errorf("%w: keep body: %w", mapdata.ErrUnavailable, err)
	}
	return nil
}

// reserve grows the body's memory to the given size, and reports whether there was room.
func (b *Body) reserve(size int) bool {
	if size <= cap(b.memory) {
		return true
	}
	if size > maxBodyInMemory {
		return false
	}
	room := min(max(size, 2*cap(b.memory)), maxBodyInMemory)
	more := int64(room - cap(b.memory))
	if b.spool.inMemory.Add(more) > maxBodiesInMemory {
		b.spool.inMemory.Add(-more)
		return false
	}
	b.reserved += more
	b.memory = append(make([]byte, 0, room), b.memory...)
	return true
}

// freeMemory releases the memory that the body has reserved.
func (b *Body) freeMemory() {
	if b.reserved > 0 {
		b.spool.inMemory.Add(-b.reserved)
		b.memory, b.reserved = nil, 0
	}
}

// spill moves the body from memory to a file, and unlinks the file where the system allows it.
func (b *Body) spill() error {
	file, err := os.CreateTemp(b.spool.dir, "wayside-body-*")
	if err != nil {
		return fmt.Errorf("%w: keep body: %w", mapdata.ErrUnavailable, err)
	}
	_ = os.Remove(file.Name()) // Close removes it where this fails
	b.file = file
	b.spool.used.Add(b.Size)
	if _, err := file.Write(b.memory); err != nil {
		return fmt.Errorf("%w: keep body: %w", mapdata.ErrUnavailable, err)
	}
	b.freeMemory()
	return nil
}
