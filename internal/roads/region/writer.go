package region

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/zeebo/xxh3"
)

// writer writes a region file: the sections one after another, then the table, and the header last.
type writer struct {
	file   *os.File
	out    *bufio.Writer
	table  table
	at     int64        // offset of the next byte
	open   bool         // a section is being written
	chunk  *xxh3.Hasher // of the current chunk
	filled int          // bytes in it
	whole  *xxh3.Hasher // of all bytes after the header

	products []ProductSize // written by add
}

// newWriter begins an empty file.
func newWriter(file *os.File) (*writer, error) {
	if _, err := file.Seek(headerSize, io.SeekStart); err != nil {
		return nil, err
	}
	return &writer{file: file, out: bufio.NewWriterSize(file, chunkSize), at: headerSize, chunk: xxh3.New(), whole: xxh3.New()}, nil
}

// begin starts a section. Everything written from now on belongs to it.
func (w *writer) begin(name string) error {
	if !validName(name) || w.table.find(name) != nil || len(w.table.sections) == maxSections {
		return fmt.Errorf("a region file takes no section %q", name)
	}
	w.end()
	if padding := -w.at & (alignment - 1); padding > 0 {
		if _, err := w.write(make([]byte, padding)); err != nil {
			return err
		}
	}
	w.table.sections = append(w.table.sections, section{name: name, offset: w.at})
	w.open = true
	return nil
}

// add writes the sections of a product, until ctx ends.
func (w *writer) add(ctx context.Context, product string, sections []content) error {
	before := w.at
	for _, s := range sections {
		if err := w.begin(s.section); err != nil {
			return writing(err)
		}
		from := s.from
		if from == nil {
			from = bytes.NewReader(s.data)
		}
		if _, err := from.WriteTo(writerUntil{ctx, w}); err != nil {
			return writing(err)
		}
	}
	size := w.at - before
	if i := slices.IndexFunc(w.products, func(p ProductSize) bool { return p.Name == product }); i >= 0 {
		w.products[i].Bytes += size
	} else {
		w.products = append(w.products, ProductSize{product, size})
	}
	return nil
}

// writerUntil fails when ctx ends, even within one large Write, so that an import of gigabytes can be stopped.
type writerUntil struct {
	ctx context.Context
	to  io.Writer
}

func (w writerUntil) Write(p []byte) (n int, err error) {
	for len(p) > 0 {
		if err := w.ctx.Err(); err != nil {
			return n, err
		}
		part := p[:min(len(p), chunkSize)]
		written, err := w.to.Write(part)
		n += written
		if err != nil {
			return n, err
		}
		p = p[len(part):]
	}
	return n, nil
}

// end ends the current section, if there is one.
func (w *writer) end() {
	if w.open {
		last := &w.table.sections[len(w.table.sections)-1]
		last.length, w.open = w.at-last.offset, false
	}
}

// Write adds to the section that was begun last.
func (w *writer) Write(p []byte) (int, error) {
	if !w.open {
		return 0, errors.New("nothing is written outside of a section")
	}
	return w.write(p)
}

func (w *writer) write(p []byte) (n int, err error) {
	for len(p) > 0 {
		part := p[:min(len(p), chunkSize-w.filled)]
		_, _ = w.chunk.Write(part) // hashes never fail
		_, _ = w.whole.Write(part)
		if _, err := w.out.Write(part); err != nil {
			return n, err
		}
		n, w.at, w.filled, p = n+len(part), w.at+int64(len(part)), w.filled+len(part), p[len(part):]
		if w.filled == chunkSize {
			w.endChunk()
		}
	}
	return n, nil
}

func (w *writer) endChunk() {
	w.table.sums = append(w.table.sums, w.chunk.Sum64())
	w.chunk.Reset()
	w.filled = 0
}

// digest returns the digest of all sections so far.
func (w *writer) digest() uint64 { return w.whole.Sum64() }

// finish writes table and header and flushes the file to the disk. The file stays open.
func (w *writer) finish() error {
	w.end()
	if w.filled > 0 {
		w.endChunk()
	}
	w.table.start = w.at
	head, tail := w.table.encode()
	if _, err := w.out.Write(tail); err != nil {
		return err
	}
	if err := w.out.Flush(); err != nil {
		return err
	}
	if _, err := w.file.WriteAt(head, 0); err != nil {
		return err
	}
	return w.file.Sync()
}
