package region

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/zeebo/xxh3"
)

// A file is a header of headerSize bytes, the sections, and a table of sections and checksums up to the end. Numbers are
// little-endian.
//
//	header:  magic, format u32, sections u32, size of the file u64, offset of the table u64, checksum u64, 16 zero bytes
//	table:   for each section its name (nameSize bytes, filled up with zeros), offset u64 and length u64;
//	         then for each chunk of chunkSize bytes between header and table its checksum u64
//
// The header's checksum is that of the header, with zeros in its place, and the table. Checksums are XXH3 of 64 bits: they find
// damage, and prove nothing against somebody who may write to the folder.
const (
	magic      = "wayside region\n\x00"
	format     = 4
	headerSize = 64
	nameSize   = 24
	entrySize  = nameSize + 16
	chunkSize  = 1 << 20
	alignment  = 64 // of sections: a cache line, and a multiple of the 8 bytes that arrays need

	maxSections = 256
)

// Offsets in the header.
const (
	atFormat   = len(magic)
	atSections = atFormat + 4
	atSize     = atSections + 4
	atTable    = atSize + 8
	atSum      = atTable + 8
)

// ErrFormat is returned for a region file of another version of this program.
var ErrFormat = errors.New("another version of wayside wrote the file: import the extract again")

// DamageError names the wrong byte of a region file.
type DamageError struct {
	Offset int64
	Reason string
}

func (e *DamageError) Error() string {
	return fmt.Sprintf("the file is damaged at byte %d: %s", e.Offset, e.Reason)
}

func damaged(offset int64, format string, args ...any) error {
	return &DamageError{offset, fmt.Sprintf(format, args...)}
}

// section is a named part of a file.
type section struct {
	name           string
	offset, length int64
}

// table is the directory of a file.
type table struct {
	sections []section
	start    int64    // offset of the table: where the last chunk ends
	sums     []uint64 // of the chunks
}

// header holds the fields of the first headerSize bytes.
type header struct {
	sections    int
	size, start int64
	sum         uint64
}

// chunks returns the number of checksums for the bytes between the header and a table that begins at start.
func chunks(start int64) int64 { return (start - headerSize + chunkSize - 1) / chunkSize }

// encode returns the bytes of the header and the table.
func (t *table) encode() (head, tail []byte) {
	for _, s := range t.sections {
		var name [nameSize]byte
		copy(name[:], s.name)
		tail = append(tail, name[:]...)
		tail = binary.LittleEndian.AppendUint64(tail, uint64(s.offset))
		tail = binary.LittleEndian.AppendUint64(tail, uint64(s.length))
	}
	for _, sum := range t.sums {
		tail = binary.LittleEndian.AppendUint64(tail, sum)
	}
	head = append(make([]byte, 0, headerSize), magic...)
	head = binary.LittleEndian.AppendUint32(head, format)
	head = binary.LittleEndian.AppendUint32(head, uint32(len(t.sections))) //nolint:gosec // at most maxSections
	head = binary.LittleEndian.AppendUint64(head, uint64(t.start)+uint64(len(tail)))
	head = binary.LittleEndian.AppendUint64(head, uint64(t.start))
	head = append(head, make([]byte, headerSize-len(head))...)
	binary.LittleEndian.PutUint64(head[atSum:], sumOf(head, tail))
	return head, tail
}

// sumOf returns the checksum of header and table, without changing the header.
func sumOf(head, tail []byte) uint64 {
	own := bytes.Clone(head)
	clear(own[atSum : atSum+8])
	h := xxh3.New()
	_, _ = h.Write(own) // hashes never fail
	_, _ = h.Write(tail)
	return h.Sum64()
}

// parseHeader parses the header of a file of the given size, and refuses impossible values.
func parseHeader(head []byte, size int64) (header, error) {
	var h header
	switch {
	case len(head) < headerSize:
		return h, damaged(int64(len(head)), "it ends within the header")
	case string(head[:len(magic)]) != magic:
		return h, damaged(0, "it is no region file")
	}
	if f := binary.LittleEndian.Uint32(head[atFormat:]); f != format {
		return h, fmt.Errorf("format %d, and this program reads %d: %w", f, format, ErrFormat)
	}
	sections := binary.LittleEndian.Uint32(head[atSections:])
	claimed, start := binary.LittleEndian.Uint64(head[atSize:]), binary.LittleEndian.Uint64(head[atTable:])
	switch {
	case claimed != uint64(size):
		return h, damaged(size, "it has %d bytes where %d are said to be", size, claimed)
	case sections > maxSections:
		return h, damaged(int64(atSections), "it claims %d sections, and %d are allowed", sections, maxSections)
	case start < headerSize || start > uint64(size):
		return h, damaged(int64(atTable), "its table is said to begin at byte %d", start)
	}
	h = header{sections: int(sections), size: size, start: int64(start), sum: binary.LittleEndian.Uint64(head[atSum:])}
	if want := int64(h.sections)*entrySize + 8*chunks(h.start); size-h.start != want {
		return h, damaged(h.start, "its table has %d bytes where %d are needed", size-h.start, want)
	}
	return h, nil
}

// parseTable verifies the checksum of header and table, and parses the table.
func parseTable(h header, head, tail []byte) (*table, error) {
	if sumOf(head[:headerSize], tail) != h.sum {
		return nil, damaged(h.start, "the checksum of header and table is wrong")
	}
	t := &table{start: h.start}
	end := int64(headerSize)
	for i := range h.sections {
		at, entry := h.start+int64(i)*entrySize, tail[i*entrySize:(i+1)*entrySize]
		name, padding, _ := bytes.Cut(entry[:nameSize], []byte{0})
		offset, length := binary.LittleEndian.Uint64(entry[nameSize:]), binary.LittleEndian.Uint64(entry[nameSize+8:])
		s := section{name: string(name), offset: int64(offset), length: int64(length)} //nolint:gosec // compared as unsigned below
		switch {
		case !validName(s.name) || len(bytes.Trim(padding, "\x00")) > 0:
			return nil, damaged(at, "a section without a proper name")
		case t.find(s.name) != nil:
			return nil, damaged(at, "a second section %q", s.name)
		case offset%alignment != 0 || offset < uint64(end) || offset > uint64(h.start) || length > uint64(h.start)-offset:
			return nil, damaged(at, "section %q is said to lie at byte %d with %d bytes", s.name, offset, length)
		}
		end = s.offset + s.length
		t.sections = append(t.sections, s)
	}
	for rest := tail[h.sections*entrySize:]; len(rest) > 0; rest = rest[8:] {
		t.sums = append(t.sums, binary.LittleEndian.Uint64(rest))
	}
	return t, nil
}

// find returns the section with a name, or nil.
func (t *table) find(name string) *section {
	for i := range t.sections {
		if t.sections[i].name == name {
			return &t.sections[i]
		}
	}
	return nil
}

// validName reports whether a section may have the name: letters, digits, dots and hyphens.
func validName(name string) bool {
	return name != "" && len(name) <= nameSize && !strings.ContainsFunc(name, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '.' || r == '-' || r == '_')
	})
}
