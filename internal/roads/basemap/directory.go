package basemap

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"sort"

	"github.com/klauspost/compress/gzip"
)

// entry is one entry of a directory: a run of equal tiles, or, with a run of 0, a leaf directory with the tiles from id on.
type entry struct {
	id     uint64
	offset uint64 // from the start of the tiles, or of the leaf directories
	length uint32
	run    uint32
}

// Limits of a directory. A leaf in an archive of the planet has about ten thousand entries.
const (
	maxEntries        = 1 << 18
	maxPackedBytes    = 4 << 20
	maxDirectoryBytes = 8 << 20
)

var errDirectory = errors.New("a directory is damaged")

// unpack decompresses data of an archive, up to limit bytes.
func unpack(b []byte, c compression, limit int64) ([]byte, error) {
	if c == compressionNone {
		if int64(len(b)) > limit {
			return nil, fmt.Errorf("more than %d bytes", limit)
		}
		return b, nil
	}
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, fmt.Errorf("unpack: %w", err)
	}
	out, err := io.ReadAll(io.LimitReader(z, limit+1))
	if err != nil {
		return nil, fmt.Errorf("unpack: %w", err)
	}
	if int64(len(out)) > limit {
		return nil, fmt.Errorf("more than %d bytes when unpacked", limit)
	}
	return out, nil
}

// varints reads varints. After an invalid one it returns zeros.
type varints struct {
	rest   []byte
	failed bool
}

func (v *varints) next(most uint64) uint64 {
	n, size := binary.Uvarint(v.rest)
	if v.failed || size <= 0 || n > most {
		v.failed = true
		return 0
	}
	v.rest = v.rest[size:]
	return n
}

// parseDirectory parses a directory: the number of entries, then all ids (delta-coded), all runs, all lengths and all offsets
// (0: directly after the previous entry; otherwise the offset plus one).
func parseDirectory(b []byte) ([]entry, error) {
	v := varints{rest: b}
	n := v.next(maxEntries)
	if v.failed || n == 0 || n > uint64(len(v.rest))/4 { // an entry takes at least four bytes
		return nil, errDirectory
	}
	entries := make([]entry, n)
	id := uint64(0)
	for i := range entries {
		step := v.next(math.MaxInt64)
		if id += step; id > math.MaxInt64 || i > 0 && step == 0 {
			return nil, errDirectory
		}
		entries[i].id = id
	}
	for i := range entries {
		entries[i].run = uint32(v.next(math.MaxUint32))
	}
	for i := range entries {
		if entries[i].length = uint32(v.next(math.MaxUint32)); entries[i].length == 0 {
			return nil, errDirectory
		}
	}
	for i := range entries {
		switch offset := v.next(math.MaxInt64); {
		case offset > 0:
			entries[i].offset = offset - 1
		case i == 0:
			return nil, errDirectory
		default:
			entries[i].offset = entries[i-1].offset + uint64(entries[i-1].length) // no overflow: 2^18 steps of 2^32
		}
	}
	if v.failed {
		return nil, errDirectory
	}
	return entries, nil
}

// find returns the entry of a tile, or of the leaf that may have it, or nil if there is none.
func find(entries []entry, id uint64) *entry {
	i := sort.Search(len(entries), func(i int) bool { return entries[i].id > id }) - 1
	if i < 0 {
		return nil
	}
	e := &entries[i]
	if e.run > 0 && id-e.id >= uint64(e.run) {
		return nil
	}
	return e
}

// appendDirectory encodes a directory in the form that parseDirectory parses.
func appendDirectory(entries []entry) []byte {
	b := binary.AppendUvarint(nil, uint64(len(entries)))
	last := uint64(0)
	for i := range entries {
		b = binary.AppendUvarint(b, entries[i].id-last)
		last = entries[i].id
	}
	for i := range entries {
		b = binary.AppendUvarint(b, uint64(entries[i].run))
	}
	for i := range entries {
		b = binary.AppendUvarint(b, uint64(entries[i].length))
	}
	for i := range entries {
		if i > 0 && entries[i].offset == entries[i-1].offset+uint64(entries[i-1].length) {
			b = append(b, 0)
			continue
		}
		b = binary.AppendUvarint(b, entries[i].offset+1)
	}
	return b
}
