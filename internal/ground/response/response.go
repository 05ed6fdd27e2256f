package response

import (
	"bytes"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"wayside/internal/ground/sched"
)

// minCompressedSize is the size in bytes from which a body is compressed: a smaller one fits into one packet anyway.
const minCompressedSize = 1400

// DataPolicy is the Content-Security-Policy of answers that are no pages: a browser that shows one loads nothing for it, and no
// page frames it.
const DataPolicy = "default-src 'none'; frame-ancestors 'none'"

// Write writes a whole response, compressed if it is large enough and the client accepts a coding (D4.14).
func Write(w http.ResponseWriter, r *http.Request, status int, contentType string, body []byte) {
	h := w.Header()
	// One array holds the values, because a separate slice for each would be an allocation. The capacity of each slice is 1, so
	// that Add copies it.
	values := [...]string{contentType, "nosniff", "", DataPolicy}
	h["Content-Type"], h["X-Content-Type-Options"] = values[0:1:1], values[1:2:2]
	if strings.HasPrefix(contentType, "application/") && h["Content-Security-Policy"] == nil {
		h["Content-Security-Policy"] = values[3:4:4]
	}
	if h["Vary"] == nil {
		h["Vary"] = []string{"Accept-Encoding"}
	}
	encoding := ""
	if accept := r.Header["Accept-Encoding"]; len(accept) > 0 && len(body) >= minCompressedSize {
		encoding = negotiate(strings.Join(accept, ","))
	}
	if encoding == "" {
		values[2] = strconv.Itoa(len(body))
		h["Content-Length"] = values[2:3:3]
		w.WriteHeader(status)
		if r.Method != http.MethodHead {
			_, _ = w.Write(body) // a write error means that the client is gone
		}
		return
	}
	h["Content-Encoding"] = []string{encoding}
	if r.Method == http.MethodHead {
		w.WriteHeader(status)
		return
	}
	packed := encode(encoding, body)
	defer giveBack(packed)
	values[2] = strconv.Itoa(packed.Len())
	h["Content-Length"] = values[2:3:3]
	w.WriteHeader(status)
	_, _ = w.Write(packed.Bytes()) // as above
}

// yieldAfter is how many bytes are compressed before the processor is offered to others: half a millisecond's work, where the scheduler
// would take it away after ten.
const yieldAfter = 64 << 10

// maxPooledBytes is the largest compressed body whose memory is kept for the next one.
const maxPooledBytes = 256 << 10

// encode compresses a body into a separate buffer, because a compressor takes some hundred kilobytes, which must not stay in use
// while a slow client reads.
func encode(encoding string, body []byte) *bytes.Buffer {
	packed, ok := buffers.Get().(*bytes.Buffer)
	if !ok {
		packed = new(bytes.Buffer)
	}
	packed.Reset()
	pool := &gzipWriters
	if encoding == "zstd" {
		pool = &zstdWriters
	}
	z, ok := pool.Get().(compressor)
	if !ok {
		return packed // cannot happen: their options are constants
	}
	defer pool.Put(z)
	z.Reset(packed)
	for len(body) > yieldAfter {
		_, _ = z.Write(body[:yieldAfter]) // a buffer takes everything
		body = body[yieldAfter:]
		sched.Yield() // short requests go first
	}
	_, _ = z.Write(body)
	_ = z.Close()
	z.Reset(nil)
	return packed
}

func giveBack(packed *bytes.Buffer) {
	if packed.Cap() <= maxPooledBytes {
		buffers.Put(packed)
	}
}

// compressor is what the writers of both codings have in common.
type compressor interface {
	io.WriteCloser
	Reset(w io.Writer)
}

// Compressed bodies are pooled too.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// Compressors are pooled because each allocates some hundred kilobytes. The pools hold no state of the service.
var (
	gzipWriters = sync.Pool{New: func() any {
		z, err := gzip.NewWriterLevel(nil, gzip.BestSpeed)
		if err != nil { // the level is a constant: cannot fail
			return nil
		}
		return compressor(z)
	}}
	zstdWriters = sync.Pool{New: func() any {
		z, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(128<<10))
		if err != nil { // the options are constants: cannot fail
			return nil
		}
		return compressor(z)
	}}
)

// negotiate picks the coding of an Accept-Encoding header: the one of highest weight, zstd before gzip; "" for none
// (RFC 9110, 12.5.3).
func negotiate(accept string) string {
	best, bestWeight := "", 0.0
	wildcard := -1.0
	seen := map[string]bool{}
	consider := func(coding string, weight float64) {
		if weight > bestWeight || weight == bestWeight && weight > 0 && coding == "zstd" {
			best, bestWeight = coding, weight
		}
	}
	for part := range strings.SplitSeq(accept, ",") {
		coding, params, _ := strings.Cut(part, ";")
		coding = strings.ToLower(strings.TrimSpace(coding))
		weight := 1.0
		if q, ok := strings.CutPrefix(strings.ReplaceAll(params, " ", ""), "q="); ok {
			parsed, err := strconv.ParseFloat(q, 64)
			if err != nil || parsed < 0 || parsed > 1 {
				continue
			}
			weight = parsed
		}
		switch coding {
		case "x-gzip":
			coding = "gzip"
			fallthrough
		case "gzip", "zstd":
			seen[coding] = true
			consider(coding, weight)
		case "*":
			wildcard = weight
		}
	}
	if wildcard > 0 {
		for _, coding := range []string{"zstd", "gzip"} {
			if !seen[coding] {
				consider(coding, wildcard)
			}
		}
	}
	return best
}

// AcceptsGzip reports whether an Accept-Encoding header allows gzip, even if it prefers another coding: for bodies that are
// stored compressed.
func AcceptsGzip(accept []string) bool {
	for part := range strings.SplitSeq(strings.Join(accept, ","), ",") {
		coding, _, _ := strings.Cut(part, ";")
		if coding = strings.ToLower(strings.TrimSpace(coding)); coding == "gzip" || coding == "x-gzip" {
			return negotiate(part) != "" // unless its weight is 0
		}
	}
	return false
}
