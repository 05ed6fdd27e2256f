package httpapi

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"

	"wayside/internal/mapdata"
)

// Bounds of a push's body in bytes (D7.1).
const (
	maxPushBytes         = 16 << 20             // after decompression
	maxRawPushBytes      = maxPushBytes + 1<<20 // as sent: incompressible data grows a little
	maxPooledPushBytes   = 4 << 20              // of buffers that are kept for the next push
	maxPreallocatedBytes = bytes.MinRead << 11  // 1 MiB: allocated before anything has arrived, whatever Content-Length says
)

// pushBufferPool reuses buffers for bodies; it holds no state of the service.
var pushBufferPool = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// postEntities answers POST /v2/feeds/<push_token>/entities (D7). The push service reads the body by the function that
// it gets, after it has checked the token.
func (a *api) postEntities(w http.ResponseWriter, r *http.Request, c *caller) error {
	gzipped, err := pushEncoding(r)
	if err != nil {
		return err
	}
	part, err := pushPart(r)
	if err != nil {
		return err
	}
	buf, ok := pushBufferPool.Get().(*bytes.Buffer)
	if !ok {
		buf = new(bytes.Buffer)
	}
	defer func() {
		if buf.Cap() <= maxPooledPushBytes {
			buf.Reset()
			pushBufferPool.Put(buf)
		}
	}()
	report, err := a.Pushes.Push(r.Context(), r.PathValue("token"), c.client, part, func() ([]byte, error) {
		return readPush(w, r, gzipped, buf)
	})
	if err != nil {
		return err
	}
	return writeJSON(w, r, http.StatusOK, &report)
}

// pushEncoding checks the headers of the body, and says whether it is compressed (D7.1).
func pushEncoding(r *http.Request) (gzipped bool, err error) {
	if !isJSON(r) {
		return false, unsupportedMedia("Send the batch as Content-Type: application/json.")
	}
	switch encoding := strings.ToLower(strings.Join(r.Header.Values("Content-Encoding"), ",")); encoding {
	case "", "identity":
		return false, nil
	case "gzip", "x-gzip":
		return true, nil
	}
	return false, unsupportedMedia("A batch may be compressed by Content-Encoding: gzip, or not at all.")
}

// readPush reads a push's body into buf, decompressed.
func readPush(w http.ResponseWriter, r *http.Request, gzipped bool, buf *bytes.Buffer) ([]byte, error) {
	raw := &errorRecorder{r: http.MaxBytesReader(w, r.Body, maxRawPushBytes)}
	body := io.Reader(raw)
	if r.ContentLength > 0 {
		buf.Grow(int(min(r.ContentLength, maxPreallocatedBytes)))
	}
	err := error(nil)
	if gzipped {
		body, err = gzip.NewReader(raw)
	}
	if err == nil {
		_, err = buf.ReadFrom(io.LimitReader(body, maxPushBytes+1))
	}
	var large *http.MaxBytesError
	switch {
	case errors.As(raw.err, &large), buf.Len() > maxPushBytes:
		return nil, mapdata.Explain(mapdata.ErrTooLarge, mapdata.ReasonBody, "The batch is larger than 16 MiB. Send it in parts.")
	case raw.err != nil:
		return nil, &problem{Type: "malformed", Status: http.StatusBadRequest, Detail: "The body did not arrive whole."}
	case err != nil:
		return nil, mapdata.Explain(mapdata.ErrMalformed, mapdata.ReasonCompression, "The body is not what Content-Encoding: gzip says.")
	}
	return buf.Bytes(), nil
}

// errorRecorder records an error of its reader, which tells it apart from an error of the decompression.
type errorRecorder struct {
	r   io.Reader
	err error
}

func (w *errorRecorder) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	if err != nil && err != io.EOF {
		w.err = err
	}
	return n, err
}
