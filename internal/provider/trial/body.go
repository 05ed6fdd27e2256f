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

	"wayside/internal/mapdata"
	"wayside/internal/safehttp"
)

// Where a body waits to be parsed.
const (
	maxBodyInMemory   = 64 << 10 // bytes up to which a body stays in memory, while there is room
	maxBodiesInMemory = 32 << 20 // bytes of all bodies in memory; what comes beyond lies on disk
	maxBodiesOnDisk   = 4 << 30  // bytes
	readSize          = 8 << 10  // bytes that each fetch under way reads at a time
	largeBody         = 1 << 20  // bytes from which parsing takes a while
)

// Fetcher gets what a provider publishes; a *safehttp.Client does. Tests of schedules put a fake in its place.
type Fetcher interface {
	Fetch(ctx context.Context, r safehttp.Request) (*safehttp.Response, error)
}

// Body is a fetched body, whole. A large one lies in a file that has no name any more and goes with the process.
type Body struct {
	Hash []byte // SHA-256
	Size int64

	memory   []byte
	reserved int64 // bytes of spool.inMemory that are this body's
	file     *os.File
	spool    *Spool
}

// Open gives the body from its beginning, each time it is called, until Close.
func (b *Body) Open() (io.ReadCloser, error) {
	if b.file == nil {
		return io.NopCloser(bytes.NewReader(b.memory)), nil
	}
	return io.NopCloser(io.NewSectionReader(b.file, 0, b.Size)), nil
}

// Large says that parsing the body takes a while.
func (b *Body) Large() bool { return b.Size >= largeBody }

// Slow says that reading the body as a document takes a while, or memory: a small gzip file may hold a large one.
func (b *Body) Slow() bool { return b.Large() || b.packed() }

// packed says that the body is a gzip file.
func (b *Body) packed() bool {
	var first [2]byte
	if b.file == nil {
		copy(first[:], b.memory)
	} else if _, err := b.file.ReadAt(first[:], 0); err != nil {
		return false // the next reader meets the same error
	}
	return first == [2]byte{0x1F, 0x8B}
}

// Close gives the body's room back.
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

// Spool keeps bodies while they trickle in and wait to be parsed: small ones in memory, the others in a folder.
type Spool struct {
	dir      string
	used     atomic.Int64 // bytes on disk
	inMemory atomic.Int64 // bytes reserved in memory
}

// NewSpool makes a spool over a folder; empty: where the system keeps temporary files.
func NewSpool(folder string) *Spool { return &Spool{dir: folder} }

// Used tells how many bytes of bodies lie on disk, and how many are reserved in memory.
func (s *Spool) Used() (disk, memory int64) { return s.used.Load(), s.inMemory.Load() }

// fetch gets a whole body. It fails as Fetcher does, and with mapdata.ErrUnavailable when there is no room for it here.
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

// keep adds a part. Failing to is this machine's trouble, not the provider's.
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

// reserve makes room in memory for so many bytes of the body, or says that there is none.
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

// freeMemory gives back what the body has reserved.
func (b *Body) freeMemory() {
	if b.reserved > 0 {
		b.spool.inMemory.Add(-b.reserved)
		b.memory, b.reserved = nil, 0
	}
}

// spill moves what is in memory to a file, and takes the file's name away where the system lets it.
func (b *Body) spill() error {
	file, err := os.CreateTemp(b.spool.dir, "wayside-body-*")
	if err != nil {
		return fmt.Errorf("%w: keep body: %w", mapdata.ErrUnavailable, err)
	}
	_ = os.Remove(file.Name()) // Close removes it where this could not
	b.file = file
	b.spool.used.Add(b.Size)
	if _, err := file.Write(b.memory); err != nil {
		return fmt.Errorf("%w: keep body: %w", mapdata.ErrUnavailable, err)
	}
	b.freeMemory()
	return nil
}
