package pull

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
	inMemory   = 64 << 10 // bytes up to which it stays in memory
	copyAtOnce = 32 << 10
	largeBody  = 1 << 20 // bytes from which parsing takes a while
	maxSpool   = 4 << 30 // bytes of all bodies on disk
)

// Fetcher gets what a provider publishes; a *safehttp.Client does. Tests of schedules put a fake in its place.
type Fetcher interface {
	Fetch(ctx context.Context, r safehttp.Request) (*safehttp.Response, error)
}

// body is a fetched body, whole. A large one lies in a file that has no name any more and goes with the process.
type body struct {
	hash []byte // SHA-256
	size int64

	memory []byte
	file   *os.File
	spool  *spool
}

// open gives the body from its beginning, each time it is called, until close.
func (b *body) open() (io.ReadCloser, error) {
	if b.file == nil {
		return io.NopCloser(bytes.NewReader(b.memory)), nil
	}
	return io.NopCloser(io.NewSectionReader(b.file, 0, b.size)), nil
}

// large says that parsing the body takes a while.
func (b *body) large() bool { return b.size >= largeBody }

// close gives the body's room back.
func (b *body) close() error {
	if b.file == nil {
		return nil
	}
	b.spool.used.Add(-b.size)
	err := b.file.Close()
	if gone := os.Remove(b.file.Name()); gone != nil && !errors.Is(gone, os.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	b.file = nil
	return err
}

// spool is a folder for bodies that are too large to keep in memory while they trickle in.
type spool struct {
	dir  string
	used atomic.Int64
}

// fetch gets a whole body. It fails as Fetcher does, and with mapdata.ErrUnavailable when there is no room for it here.
func (s *spool) fetch(ctx context.Context, web Fetcher, r safehttp.Request) (*body, error) {
	answer, err := web.Fetch(ctx, r)
	if err != nil {
		return nil, err
	}
	got, err := s.collect(answer.Body)
	if closed := answer.Body.Close(); err == nil && closed != nil {
		err = errors.Join(fmt.Errorf("close answer: %w", closed), got.close())
	}
	if err != nil {
		return nil, err
	}
	return got, nil
}

// collect reads all of r. Errors of r are returned as they are.
func (s *spool) collect(r io.Reader) (_ *body, err error) {
	b := &body{spool: s}
	defer func() {
		if err != nil {
			err = errors.Join(err, b.close())
		}
	}()
	hash := sha256.New()
	rows := shape{limit: maxRow}
	part := make([]byte, copyAtOnce)
	for {
		n, err := r.Read(part)
		if n > 0 {
			_, _ = hash.Write(part[:n]) // never fails
			if err := rows.pass(part[:n]); err != nil {
				return nil, err
			}
			if err := b.keep(part[:n]); err != nil {
				return nil, err
			}
		}
		if errors.Is(err, io.EOF) {
			b.hash = hash.Sum(nil)
			return b, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// keep adds a part. Failing to is this machine's trouble, not the provider's.
func (b *body) keep(part []byte) error {
	if b.file == nil && len(b.memory)+len(part) <= inMemory {
		b.memory = append(b.memory, part...)
		b.size += int64(len(part))
		return nil
	}
	if b.file == nil {
		if err := b.spill(); err != nil {
			return err
		}
	}
	if b.spool.used.Add(int64(len(part))) > maxSpool {
		b.spool.used.Add(-int64(len(part)))
		return fmt.Errorf("%w: too many large bodies wait to be parsed", mapdata.ErrUnavailable)
	}
	b.size += int64(len(part))
	if _, err := b.file.Write(part); err != nil {
		return fmt.Errorf("%w: keep body: %w", mapdata.ErrUnavailable, err)
	}
	return nil
}

// spill moves what is in memory to a file, and takes the file's name away where the system lets it.
func (b *body) spill() error {
	file, err := os.CreateTemp(b.spool.dir, "wayside-body-*")
	if err != nil {
		return fmt.Errorf("%w: keep body: %w", mapdata.ErrUnavailable, err)
	}
	_ = os.Remove(file.Name()) // close removes it where this could not
	b.file = file
	b.spool.used.Add(b.size)
	if _, err := file.Write(b.memory); err != nil {
		return fmt.Errorf("%w: keep body: %w", mapdata.ErrUnavailable, err)
	}
	b.memory = nil
	return nil
}
