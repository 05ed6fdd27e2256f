package osmpbf

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
	"google.golang.org/protobuf/encoding/protowire"

	"wayside/internal/ground/geo"
)

// WriterOptions control how a file is written. The zero value does as most programs do.
type WriterOptions struct {
	Encoding    Encoding
	PlainNodes  bool  // write each node in a message of its own, instead of dense nodes
	Granularity int32 // nanodegrees that positions are rounded to; 0: 100, which is OpenStreetMap's own precision
	LatOffset   int64 // nanodegrees added to all positions, which are rounded to multiples of Granularity from there
	LngOffset   int64
	BlockSize   int // maximum number of objects in a block; 0: 8 000

	Program  string    // in the header
	Optional []string  // features in the header, such as Sort.Type_then_ID if the caller writes in that order
	AsOf     time.Time // of the data, in the header; zero: not stated
	Bounds   *geo.Box  // to which the data were cut, in the header; nil: not stated
}

// Writer writes objects in the order in which it gets them. The same objects and options give the same bytes. After an
// error, all further calls fail.
type Writer struct {
	out     io.Writer
	options WriterOptions
	zlib    *zlib.Writer
	zstd    *zstd.Encoder
	block   encoder
	err     error
}

// blockBytes ends a block early: the format allows 32 MiB and recommends less than 16.
const blockBytes = 8 << 20

// NewWriter writes the header of a file to out. The caller must call Close at the end, which does not close out.
func NewWriter(out io.Writer, o WriterOptions) (*Writer, error) {
	if o.Granularity == 0 {
		o.Granularity = defaultGranularity
	}
	if o.BlockSize == 0 {
		o.BlockSize = 8000
	}
	if o.Granularity < 0 || o.BlockSize < 0 {
		return nil, fmt.Errorf("granularity %d and %d objects in a block: neither may be negative", o.Granularity, o.BlockSize)
	}
	w := &Writer{out: out, options: o}
	w.block = encoder{options: &w.options}
	var err error
	switch o.Encoding {
	case Zlib:
		w.zlib = zlib.NewWriter(nil)
	case Zstd:
		w.zstd, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	case Raw, LZ4:
	default:
		err = fmt.Errorf("encoding %d is unknown", o.Encoding)
	}
	if err != nil {
		return nil, err
	}
	if err := w.writeBlock(headerType, o.header()); err != nil {
		return nil, err
	}
	return w, nil
}

func (o WriterOptions) header() []byte {
	var b []byte
	b = appendText(b, headerRequired, "OsmSchema-V0.6")
	if !o.PlainNodes {
		b = appendText(b, headerRequired, "DenseNodes")
	}
	for _, feature := range o.Optional {
		b = appendText(b, headerOptional, feature)
	}
	if o.Program != "" {
		b = appendText(b, headerProgram, o.Program)
	}
	if !o.AsOf.IsZero() {
		b = appendNumber(b, headerAsOf, uint64(o.AsOf.Unix()))
	}
	if o.Bounds != nil {
		var box []byte
		for i, degrees := range [...]float64{o.Bounds.West, o.Bounds.East, o.Bounds.North, o.Bounds.South} {
			box = appendNumber(box, uint64(i+1)<<3|asVarint, protowire.EncodeZigZag(int64(math.Round(degrees*nanodegrees))))
		}
		b = appendBytes(b, headerBounds, box)
	}
	return b
}

// Node adds a node.
func (w *Writer) Node(n Node) error { return w.add(Nodes, len(n.Tags), func() { w.block.node(n) }) }

// Way adds a way.
func (w *Writer) Way(way Way) error {
	return w.add(Ways, max(len(way.Tags), len(way.Refs)), func() { w.block.way(way) })
}

// Relation adds a relation.
func (w *Writer) Relation(r Relation) error {
	for _, m := range r.Members {
		if m.Type != Nodes && m.Type != Ways && m.Type != Relations {
			return fmt.Errorf("relation %d: a member of type %d", r.ID, m.Type)
		}
	}
	return w.add(Relations, max(len(r.Tags), len(r.Members)), func() { w.block.relation(r) })
}

// add encodes an object. It first ends the current block, if the object must not be in it.
func (w *Writer) add(kind Types, items int, encode func()) error {
	if items > maxItems {
		return fmt.Errorf("an object of more than %d tags, references or members", maxItems)
	}
	if w.block.kind != kind || w.block.objects >= w.options.BlockSize || w.block.bytes() >= blockBytes {
		w.flush()
	}
	if w.err != nil {
		return w.err
	}
	w.block.kind = kind
	w.block.objects++
	encode()
	return nil
}

// Close writes the last block.
func (w *Writer) Close() error {
	w.flush()
	if w.err != nil {
		return w.err
	}
	w.err = errors.New("the writer is closed")
	return nil
}

// flush writes the current block.
func (w *Writer) flush() {
	if w.err == nil && w.block.objects > 0 {
		w.err = w.writeBlock(dataType, w.block.message())
	}
	w.block = encoder{options: &w.options}
}

func (w *Writer) writeBlock(kind string, message []byte) error {
	if len(message) > maxBlob {
		return fmt.Errorf("a block of %d bytes, and at most %d are allowed", len(message), maxBlob)
	}
	data, err := w.encodeBlob(message)
	if err != nil {
		return fmt.Errorf("compress a block: %w", err)
	}
	if len(data) > maxBlob {
		return fmt.Errorf("a block of %d bytes as stored, and at most %d are allowed", len(data), maxBlob)
	}
	header := appendText(nil, blockType, kind)
	header = appendNumber(header, blockSize, uint64(len(data)))
	whole := binary.BigEndian.AppendUint32(nil, uint32(len(header)))
	whole = append(append(whole, header...), data...)
	if _, err := w.out.Write(whole); err != nil {
		return fmt.Errorf("write a block: %w", err)
	}
	return nil
}

func (w *Writer) encodeBlob(message []byte) ([]byte, error) {
	if w.options.Encoding == Raw {
		return appendBytes(nil, blobRaw, message), nil
	}
	blob := appendNumber(nil, blobSize, uint64(len(message)))
	switch w.options.Encoding {
	case Zstd:
		return appendBytes(blob, blobZstd, w.zstd.EncodeAll(message, nil)), nil
	case LZ4:
		packed := make([]byte, lz4.CompressBlockBound(len(message)))
		var c lz4.Compressor
		n, err := c.CompressBlock(message, packed)
		return appendBytes(blob, blobLZ4, packed[:n]), err
	}
	var packed bytes.Buffer
	w.zlib.Reset(&packed)
	if _, err := w.zlib.Write(message); err != nil {
		return nil, err
	}
	if err := w.zlib.Close(); err != nil {
		return nil, err
	}
	return appendBytes(blob, blobZlib, packed.Bytes()), nil
}

func appendNumber(b []byte, tag, value uint64) []byte {
	return protowire.AppendVarint(protowire.AppendVarint(b, tag), value)
}

func appendBytes(b []byte, tag uint64, value []byte) []byte {
	return protowire.AppendBytes(protowire.AppendVarint(b, tag), value)
}

func appendText(b []byte, tag uint64, value string) []byte {
	return protowire.AppendString(protowire.AppendVarint(b, tag), value)
}
