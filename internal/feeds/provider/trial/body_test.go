package trial

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"wayside/internal/ground/mapdata"
)

// TestBodiesInMemoryAreBounded collects more small bodies than may be in memory together (D6.6).
func TestBodiesInMemoryAreBounded(t *testing.T) {
	const (
		bodies = 700
		size   = 60 << 10 // fits into memory by itself
		most   = 32 << 20
	)
	s := Spool{dir: t.TempDir()}
	text := append(append([]byte{'['}, bytes.Repeat([]byte{' '}, size-2)...), ']')
	var all []*Body
	inMemory, onDisk := 0, 0
	for range bodies {
		b, err := s.collect(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, b)
		inMemory += cap(b.memory)
		if b.file != nil {
			onDisk++
		}
	}
	if inMemory > most || inMemory < most*9/10 {
		t.Errorf("%d bytes lie in memory, want up to %d", inMemory, most)
	}
	if onDisk == 0 || onDisk > bodies/2 {
		t.Errorf("%d of %d bodies lie on disk", onDisk, bodies)
	}
	for _, b := range all {
		from, err := b.Open()
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(from)
		if err != nil || !bytes.Equal(got, text) {
			t.Fatalf("a body of %d bytes, %v, is not as it came", len(got), err)
		}
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if s.used.Load() != 0 || s.inMemory.Load() != 0 {
		t.Errorf("%d bytes on disk and %d in memory were not given back", s.used.Load(), s.inMemory.Load())
	}
	b, err := s.collect(bytes.NewReader(text))
	if err != nil || b.file != nil {
		t.Errorf("a small body does not lie in memory again: %v", err)
	}
}

// TestPackedDocumentsCountAsLarge checks that a gzip file counts as slow, because a few bytes may contain 256 MiB, and
// large documents are read one at a time.
func TestPackedDocumentsCountAsLarge(t *testing.T) {
	for text, want := range map[string]bool{"\x1F\x8B\x08": true, "{}": false, "": false} {
		d := Documents{Bridge: mapdata.Bridge{Format: "wzdx"}, pages: []*Body{{memory: []byte(text)}}}
		if d.Large() != want {
			t.Errorf("%q counts as large: %v", text, !want)
		}
	}
}

// TestBodiesOnDiskAreBounded checks that 4 GiB of bodies may lie on disk, and that a refused body leaves nothing behind.
func TestBodiesOnDiskAreBounded(t *testing.T) {
	const most, size = 4 << 30, 200 << 10
	s := Spool{dir: t.TempDir()}
	s.used.Store(most - size)
	b, err := s.collect(bytes.NewReader(make([]byte, size)))
	if err != nil {
		t.Fatalf("the last body that has room: %v", err)
	}
	if _, err := s.collect(bytes.NewReader(make([]byte, size))); !errors.Is(err, mapdata.ErrUnavailable) {
		t.Errorf("one more: %v", err)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	if used, memory := s.Used(); used != most-size || memory != 0 {
		t.Errorf("%d bytes on disk and %d in memory are left", used-(most-size), memory)
	}
}

// TestSmallBodiesStayInMemory checks that a body of 64 KiB stays in memory, and that a larger one goes to disk.
func TestSmallBodiesStayInMemory(t *testing.T) {
	s := Spool{dir: t.TempDir()}
	for size, onDisk := range map[int]bool{64 << 10: false, 64<<10 + 1: true} {
		b, err := s.collect(bytes.NewReader(make([]byte, size)))
		if err != nil {
			t.Fatal(err)
		}
		if (b.file != nil) != onDisk {
			t.Errorf("%d bytes are on disk: %t", size, b.file != nil)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
}
