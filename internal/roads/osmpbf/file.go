package osmpbf

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"wayside/internal/ground/geo"
)

// Header is the description that a file contains of itself.
type Header struct {
	Required []string  // features without which the file cannot be understood; Open fails if one is unknown
	Optional []string  // features that help, such as Sort.Type_then_ID
	Program  string    // that wrote the file
	AsOf     time.Time // of the data, from Osmosis' replication; zero if not stated
	Bounds   *geo.Box  // to which the data were cut; nil if not stated
}

// File is an extract that is open for reading. It may be scanned by several goroutines.
type File struct {
	Header Header

	in    io.ReaderAt
	size  int64
	data  int64                   // offset of the block after the first header
	known atomic.Pointer[[]entry] // all blocks, after the first complete scan
}

// entry is a block in the file.
type entry struct {
	offset int64 // of the block
	start  int64 // of its blob
	size   int   // of its blob
	header bool  // a further header, as in concatenated files
	types  Types // the types of its objects, once it was decoded
}

func (e entry) end() int64 { return e.start + int64(e.size) }

// Open reads the header of a file of the given size. It returns an Error if the file is not an extract, or needs unknown
// features.
func Open(in io.ReaderAt, size int64) (*File, error) {
	f := &File{in: in, size: size}
	if size == 0 {
		return nil, &Error{0, "the file is empty"}
	}
	if reason := f.foreign(); reason != "" {
		return nil, &Error{0, reason}
	}
	e, kind, err := f.frame(0)
	if err != nil {
		return nil, err
	}
	if kind != headerType {
		return nil, &Error{0, fmt.Sprintf("the file begins with a block of type %q instead of a header (%s)", clip(kind), headerType)}
	}
	b, err := f.read(e, make([]byte, e.size))
	if err != nil {
		return nil, err
	}
	var d decoder
	defer d.close()
	message, err := d.inflate(b)
	if err == nil {
		f.Header, err = parseHeader(message)
	}
	if err != nil {
		return nil, &Error{0, "header: " + err.Error()}
	}
	f.data = e.end()
	return f, nil
}

// Size returns the size of the file in bytes.
func (f *File) Size() int64 { return f.size }

// foreign recognises other formats by their first bytes, and returns a reason, or "".
func (f *File) foreign() string {
	start := make([]byte, min(f.size, 16))
	if _, err := f.in.ReadAt(start, 0); err != nil {
		return "" // reading the block reports the error
	}
	for _, known := range []struct{ magic, reason string }{
		{"<", "the file is XML, not PBF"},
		{"\xef\xbb\xbf<", "the file is XML, not PBF"},
		{"\x1f\x8b", "the file is compressed by gzip: unpack it first"},
		{"BZh", "the file is compressed by bzip2: unpack it first"},
		{"\x28\xb5\x2f\xfd", "the file is compressed by zstd: unpack it first"},
		{"\xfd7zXZ", "the file is compressed by xz: unpack it first"},
		{"PK\x03\x04", "the file is a ZIP archive: unpack it first"},
	} {
		if bytes.HasPrefix(start, []byte(known.magic)) {
			return known.reason
		}
	}
	return ""
}

// Types of blocks. Others are skipped, as the format requires.
const (
	headerType = "OSMHeader"
	dataType   = "OSMData"
)

// Fields of a BlobHeader.
const (
	blockType = 1<<3 | asBytes
	blockSize = 3<<3 | asVarint
)

// frame reads the header of the block at an offset.
func (f *File) frame(offset int64) (e entry, kind string, err error) {
	fail := func(format string, args ...any) (entry, string, error) {
		return e, "", &Error{offset, fmt.Sprintf(format, args...)}
	}
	var length [4]byte
	if offset+int64(len(length)) > f.size {
		return fail("the file ends within the length of a block's header")
	}
	if err := f.readAt(length[:], offset); err != nil {
		return e, "", err
	}
	n := int64(binary.BigEndian.Uint32(length[:]))
	switch {
	case n == 0 || n > maxHeader:
		return fail("a block's header of %d bytes, and 1 to %d are allowed: the file is not PBF, or damaged", n, maxHeader)
	case offset+4+n > f.size:
		return fail("the file ends within a block's header, %d bytes early", offset+4+n-f.size)
	}
	message := make([]byte, n)
	if err := f.readAt(message, offset+4); err != nil {
		return e, "", err
	}
	kind, size, err := parseBlockHeader(message)
	if err != nil {
		return fail("a block's header: %v", err)
	}
	e = entry{offset: offset, start: offset + 4 + n, size: size, header: kind == headerType}
	if e.end() > f.size {
		return fail("the file ends within the block, %d bytes early", e.end()-f.size)
	}
	return e, kind, nil
}

func parseBlockHeader(message []byte) (kind string, size int, err error) {
	length := int64(-1)
	for len(message) > 0 {
		var f field
		if f, message, err = next(message); err != nil {
			return "", 0, err
		}
		switch f.tag {
		case blockType:
			kind = string(f.bytes)
		case blockSize:
			length = int64(f.value)
			if length < 0 || length > maxBlob {
				return "", 0, fmt.Errorf("it claims %d bytes of data, and at most %d are allowed", f.value, maxBlob)
			}
		}
	}
	if kind == "" || length < 0 {
		return "", 0, errors.New("it lacks the type or the size of the data")
	}
	return kind, int(length), nil
}

// read reads a block's data into a buffer of its size.
func (f *File) read(e entry, buffer []byte) (blob, error) {
	if err := f.readAt(buffer, e.start); err != nil {
		return blob{}, err
	}
	b, err := parseBlob(buffer)
	if err != nil {
		return b, &Error{e.offset, err.Error()}
	}
	return b, nil
}

func (f *File) readAt(buffer []byte, offset int64) error {
	if n, err := f.in.ReadAt(buffer, offset); n < len(buffer) {
		return fmt.Errorf("read extract at byte %d: %w", offset+int64(n), err)
	}
	return nil
}

// Fields of a HeaderBlock.
const (
	headerBounds   = 1<<3 | asBytes
	headerRequired = 4<<3 | asBytes
	headerOptional = 5<<3 | asBytes
	headerProgram  = 16<<3 | asBytes
	headerAsOf     = 32<<3 | asVarint
)

func parseHeader(message []byte) (h Header, err error) {
	for len(message) > 0 {
		var f field
		if f, message, err = next(message); err != nil {
			return h, err
		}
		switch f.tag {
		case headerBounds:
			if h.Bounds, err = parseBounds(f.bytes); err != nil {
				return h, err
			}
		case headerRequired:
			feature := string(f.bytes)
			if err := knownFeature(feature); err != nil {
				return h, err
			}
			if h.Required = append(h.Required, feature); len(h.Required) > maxFeatures {
				return h, fmt.Errorf("more than %d features", maxFeatures)
			}
		case headerOptional:
			if h.Optional = append(h.Optional, string(f.bytes)); len(h.Optional) > maxFeatures {
				return h, fmt.Errorf("more than %d features", maxFeatures)
			}
		case headerProgram:
			h.Program = string(f.bytes)
		case headerAsOf:
			h.AsOf = time.Unix(int64(f.value), 0).UTC()
		}
	}
	return h, nil
}

// nanodegrees is the number of nanodegrees in a degree.
const nanodegrees = 1e9

// parseBounds parses a HeaderBBox. It ignores impossible bounds.
func parseBounds(message []byte) (*geo.Box, error) {
	var sides [4]float64 // left, right, top, bottom, in the order of their fields
	for len(message) > 0 {
		f, rest, err := next(message)
		if err != nil {
			return nil, fmt.Errorf("bounds: %w", err)
		}
		message = rest
		if number := f.tag >> 3; f.tag&7 == asVarint && number >= 1 && number <= uint64(len(sides)) {
			sides[number-1] = float64(protowire.DecodeZigZag(f.value)) / nanodegrees
		}
	}
	b := &geo.Box{South: sides[3], West: sides[0], North: sides[2], East: sides[1]}
	if !(geo.Point{Lat: b.South, Lng: b.West}).Valid() || !(geo.Point{Lat: b.North, Lng: b.East}).Valid() || b.South >= b.North || b.West >= b.East {
		return nil, nil
	}
	return b, nil
}

func knownFeature(feature string) error {
	switch feature {
	case "OsmSchema-V0.6", "DenseNodes":
		return nil
	case "HistoricalInformation":
		return errors.New("the file holds the history of its objects (HistoricalInformation): take an extract without history")
	}
	return fmt.Errorf("the file requires the feature %q, which is not supported", clip(feature))
}

// clip shortens a text of a file for a message.
func clip(text string) string {
	if len(text) > 40 {
		return text[:40] + "…"
	}
	return text
}
