package session

import (
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// texts compresses rendered routes. All sessions share its buffers.
type texts struct {
	encode  *zstd.Encoder
	decode  *zstd.Decoder
	scratch *sync.Pool
}

// textScratch is a text and its compressed form.
type textScratch struct{ text, compressed []byte }

const (
	textWindow    = 64 << 10 // bytes: a route with its steps has some 25 KB
	maxTextPooled = 1 << 20  // bytes
)

func newTexts() texts {
	// Neither call fails with these options.
	encode, _ := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(textWindow), zstd.WithEncoderCRC(false), zstd.WithSingleSegment(true))
	decode, _ := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	return texts{encode: encode, decode: decode, scratch: &sync.Pool{New: func() any { return new(textScratch) }}}
}

// compress returns the output of write, compressed, without spare capacity.
func (t *texts) compress(write func(dst []byte) []byte) []byte {
	scratch, ok := t.scratch.Get().(*textScratch)
	if !ok {
		scratch = new(textScratch)
	}
	scratch.text = write(scratch.text[:0])
	scratch.compressed = t.encode.EncodeAll(scratch.text, scratch.compressed[:0])
	own := slices.Clip(slices.Clone(scratch.compressed))
	if cap(scratch.text) <= maxTextPooled {
		t.scratch.Put(scratch)
	}
	return own
}
