package osmpbf

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// Encoding is how the bytes of a block are stored.
type Encoding uint8

// The encodings that can be read and written.
const (
	Zlib Encoding = iota // used by almost every file
	Raw
	Zstd
	LZ4
)

// Fields of a Blob.
const (
	blobRaw   = 1<<3 | asBytes
	blobSize  = 2<<3 | asVarint
	blobZlib  = 3<<3 | asBytes
	blobLZMA  = 4<<3 | asBytes
	blobBzip2 = 5<<3 | asBytes
	blobLZ4   = 6<<3 | asBytes
	blobZstd  = 7<<3 | asBytes
)

// blob is a block as stored.
type blob struct {
	encoding Encoding
	data     []byte
	size     int // inflated
}

// parseBlob finds the parts of a blob and checks its sizes, before anything is inflated.
func parseBlob(message []byte) (b blob, err error) {
	size, bodies := int64(-1), 0
	for len(message) > 0 {
		var f field
		if f, message, err = next(message); err != nil {
			return b, err
		}
		switch f.tag {
		case blobSize:
			size = int64(f.value)
			if size < 0 || size > maxBlob {
				return b, fmt.Errorf("it claims to inflate to %d bytes, and at most %d are allowed", f.value, maxBlob)
			}
			continue
		case blobRaw:
			b.encoding = Raw
		case blobZlib:
			b.encoding = Zlib
		case blobZstd:
			b.encoding = Zstd
		case blobLZ4:
			b.encoding = LZ4
		case blobLZMA:
			return b, errors.New("it is compressed by lzma, which is not supported: write the file again with zlib or zstd")
		case blobBzip2:
			return b, errors.New("it is compressed by bzip2, which is not supported: write the file again with zlib or zstd")
		default:
			continue
		}
		b.data = f.bytes
		bodies++
	}
	switch {
	case bodies != 1:
		return b, fmt.Errorf("it holds data %d times, or in an unknown compression, instead of once", bodies)
	case b.encoding == Raw && size >= 0 && size != int64(len(b.data)):
		return b, fmt.Errorf("it holds %d bytes and claims %d", len(b.data), size)
	case b.encoding == Raw:
		size = int64(len(b.data))
	case size < 0:
		return b, errors.New("it is compressed and does not say to how many bytes it inflates")
	}
	b.size = int(size)
	return b, nil
}

// inflater inflates blobs one after the other, into a buffer that it keeps.
type inflater struct {
	zlib   io.ReadCloser
	zstd   *zstd.Decoder
	buffer []byte
}

// Sizes up to which buffers and string tables are kept between blocks. Usual ones are kept, those of a hostile file are
// not.
const (
	keptBuffer = 4 << 20
	keptTexts  = keptBuffer / 16
)

// inflate returns the bytes of a blob, valid until the next call. It never writes more than the blob's size.
func (i *inflater) inflate(b blob) ([]byte, error) {
	if b.encoding == Raw {
		return b.data, nil
	}
	if cap(i.buffer) < b.size {
		i.buffer = make([]byte, b.size)
	}
	var n int
	var err error
	switch b.encoding {
	case Zlib:
		n, err = i.inflateZlib(b)
	case Zstd:
		n, err = i.inflateZstd(b)
	default:
		n, err = inflateLZ4(b, i.buffer[:b.size])
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("it cannot be inflated to the %d bytes that it claims: %w", b.size, err)
	case n != b.size:
		return nil, fmt.Errorf("it inflates to %d bytes and claims %d", n, b.size)
	}
	return i.buffer[:n], nil
}

func (i *inflater) inflateZlib(b blob) (n int, err error) {
	in := bytes.NewReader(b.data)
	if used, ok := i.zlib.(zlib.Resetter); ok { // as documented, from the second use on
		err = used.Reset(in, nil)
	} else {
		i.zlib, err = zlib.NewReader(in)
	}
	if err != nil {
		return 0, err
	}
	if n, err = io.ReadFull(i.zlib, i.buffer[:b.size]); err != nil {
		return n, err
	}
	// One more read reaches the end and checks the checksum.
	var more [1]byte
	switch _, err := io.ReadFull(i.zlib, more[:]); {
	case err == nil:
		return n, errors.New("there is more")
	case !errors.Is(err, io.EOF):
		return n, err
	}
	return n, nil
}

// inflateLZ4 inflates a blob into to. It handles an empty to itself, because the decoder panics on it: the encoding of
// nothing is one zero byte.
func inflateLZ4(b blob, to []byte) (n int, err error) {
	if len(to) > 0 {
		return lz4.UncompressBlock(b.data, to)
	}
	if !bytes.Equal(b.data, []byte{0}) {
		return 0, errors.New("there is more")
	}
	return 0, nil
}

func (i *inflater) inflateZstd(b blob) (n int, err error) {
	if i.zstd == nil {
		i.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxMemory(maxBlob), zstd.WithDecodeAllCapLimit(true))
		if err != nil {
			return 0, err
		}
	}
	out, err := i.zstd.DecodeAll(b.data, i.buffer[:0:b.size])
	return len(out), err
}

// close releases the decoders.
func (i *inflater) close() {
	if i.zstd != nil {
		i.zstd.Close()
	}
}
