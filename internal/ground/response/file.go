package response

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// File is a static file in memory. It is compressed on first use, once for each coding, at the highest level.
type File struct {
	contentType string
	etag        string
	plain       []byte
	gzip        func() ([]byte, error)
	zstd        func() ([]byte, error)
}

// NewFile returns a file with the given content, which must not change afterwards.
func NewFile(body []byte, contentType string) *File {
	return &File{
		contentType: contentType,
		etag:        ETag(body),
		plain:       body,
		gzip: sync.OnceValues(func() ([]byte, error) {
			return compress(body, func(to io.Writer) (io.WriteCloser, error) { return gzip.NewWriterLevel(to, gzip.BestCompression) })
		}),
		zstd: sync.OnceValues(func() ([]byte, error) {
			return compress(body, func(to io.Writer) (io.WriteCloser, error) {
				return zstd.NewWriter(to, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderConcurrency(1))
			})
		}),
	}
}

// compress compresses a whole body.
func compress(body []byte, newWriter func(io.Writer) (io.WriteCloser, error)) ([]byte, error) {
	var out bytes.Buffer
	z, err := newWriter(&out)
	if err != nil {
		return nil, fmt.Errorf("compress a static file: %w", err)
	}
	if _, err := z.Write(body); err != nil {
		return nil, fmt.Errorf("compress a static file: %w", err)
	}
	if err := z.Close(); err != nil {
		return nil, fmt.Errorf("compress a static file: %w", err)
	}
	return out.Bytes(), nil
}

// Serve answers with the file, or with 304 if the client has it. The caller sets Cache-Control.
func (f *File) Serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", f.contentType)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Vary", "Accept-Encoding")
	h["Etag"] = []string{f.etag}
	if match := r.Header["If-None-Match"]; match != nil && MatchesETag(match, f.etag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	body := f.plain
	if accept := r.Header["Accept-Encoding"]; len(accept) > 0 && len(body) >= minCompressedSize {
		encoding := negotiate(strings.Join(accept, ","))
		compressed, err := []byte(nil), error(nil)
		switch encoding {
		case "gzip":
			compressed, err = f.gzip()
		case "zstd":
			compressed, err = f.zstd()
		}
		if err == nil && compressed != nil { // the plain body is a correct answer too
			h.Set("Content-Encoding", encoding)
			body = compressed
		}
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // a write error means that the client is gone
	}
}
