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
	pushLimit     = 16 << 20            // after decompression
	pushRawLimit  = pushLimit + 1<<20   // as it comes: what does not compress grows a little
	maxKeptPushed = 4 << 20             // of the memory that is kept for the next push
	pushGrow      = bytes.MinRead << 11 // 1 MiB: room made before anything has come, whatever Content-Length says
)

// pushBodies keeps the memory of bodies; it holds nothing of the service.
var pushBodies = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// postEntities answers POST /v2/feeds/<push_token>/entities (D7). The body is read only once the token is known to be
// good.
func (a *api) postEntities(w http.ResponseWriter, r *http.Request, c *caller) error {
	zipped, err := pushEncoding(r)
	if err != nil {
		return err
	}
	buf, ok := pushBodies.Get().(*bytes.Buffer)
	if !ok {
		buf = new(bytes.Buffer)
	}
	defer func() {
		if buf.Cap() <= maxKeptPushed {
			buf.Reset()
			pushBodies.Put(buf)
		}
	}()
	report, err := a.Pushes.Push(r.Context(), r.PathValue("token"), c.client, func() ([]byte, error) {
		return readPush(w, r, zipped, buf)
	})
	if err != nil {
		return err
	}
	return writeJSON(w, r, http.StatusOK, &report)
}

// pushEncoding checks how the body is sent, and says whether it is compressed (D7.1).
func pushEncoding(r *http.Request) (zipped bool, err error) {
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
func readPush(w http.ResponseWriter, r *http.Request, zipped bool, buf *bytes.Buffer) ([]byte, error) {
	raw := &watched{r: http.MaxBytesReader(w, r.Body, pushRawLimit)}
	body := io.Reader(raw)
	if r.ContentLength > 0 {
		buf.Grow(int(min(r.ContentLength, pushGrow)))
	}
	err := error(nil)
	if zipped {
		body, err = gzip.NewReader(raw)
	}
	if err == nil {
		_, err = buf.ReadFrom(io.LimitReader(body, pushLimit+1))
	}
	var large *http.MaxBytesError
	switch {
	case errors.As(raw.err, &large), buf.Len() > pushLimit:
		return nil, mapdata.Explain(mapdata.ErrTooLarge, mapdata.ReasonBody, "The batch is larger than 16 MiB. Send it in parts.")
	case raw.err != nil:
		return nil, &problem{Type: "malformed", Status: http.StatusBadRequest, Detail: "The body did not arrive whole."}
	case err != nil:
		return nil, mapdata.Explain(mapdata.ErrMalformed, mapdata.ReasonCompression, "The body is not what Content-Encoding: gzip says.")
	}
	return buf.Bytes(), nil
}

// watched remembers an error of its reader, so that it is told from one of the decompression.
type watched struct {
	r   io.Reader
	err error
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	if err != nil && err != io.EOF {
		w.err = err
	}
	return n, err
}
