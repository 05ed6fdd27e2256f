package feeds

import (
	"errors"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/klauspost/compress/gzip"

	"wayside/internal/ground/mapdata"
	"wayside/internal/http/httpapi"
)

// Bounds of a push's body (D7.1).
const (
	maxPushBytes    = 16 << 20             // after decompression
	maxRawPushBytes = maxPushBytes + 1<<20 // as sent: incompressible data grows a little

	minPushRate   = 64 << 10         // bytes a second as sent, on average after pushGrace
	pushGrace     = 10 * time.Second // before a body must have arrived at minPushRate
	answerTimeout = time.Minute      // for storing the batch and sending the answer, after the body has arrived
	drainTimeout  = 2 * time.Second  // for the rest of a body that is not read
)

// pushBody is a push's body, decompressed. Its errors are those that the provider gets. It holds some tens of KiB, whatever the
// client sends.
type pushBody struct {
	raw     *pacedBody
	gzipped bool
	text    io.Reader // decompressed; nil: nothing was read yet
	left    int64     // bytes that may still come
	length  int64     // as in the header; -1: unknown
	control *http.ResponseController
}

func newPushBody(w http.ResponseWriter, r *http.Request, gzipped bool) *pushBody {
	control := http.NewResponseController(w)
	return &pushBody{
		raw:     &pacedBody{body: http.MaxBytesReader(w, r.Body, maxRawPushBytes), control: control, began: time.Now()},
		gzipped: gzipped, left: maxPushBytes, length: r.ContentLength, control: control,
	}
}

// Read reads decompressed bytes.
func (b *pushBody) Read(p []byte) (int, error) {
	if b.text == nil {
		if b.length > maxRawPushBytes {
			return 0, tooLargePush()
		}
		if err := b.open(); err != nil {
			return 0, b.refusal(err)
		}
	}
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.text.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, tooLargePush()
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return n, b.refusal(err)
	}
	if err != nil {
		b.arrived()
	}
	return n, err
}

func (b *pushBody) open() (err error) {
	b.text = b.raw
	if b.gzipped {
		b.text, err = gzip.NewReader(b.raw)
	}
	return err
}

// refusal converts an error of the body or its compression to the error for the provider.
func (b *pushBody) refusal(err error) error {
	var large *http.MaxBytesError
	switch {
	case errors.As(b.raw.err, &large):
		return tooLargePush()
	case errors.Is(b.raw.err, os.ErrDeadlineExceeded):
		return httpapi.TooSlow("The body arrived too slowly: send at least 64 KiB a second, or smaller batches. Nothing was stored.")
	case b.raw.err != nil:
		return &httpapi.Problem{Type: "malformed", Status: http.StatusBadRequest, Detail: "The body was incomplete."}
	case err != nil:
		return mapdata.Explain(mapdata.ErrMalformed, mapdata.ReasonCompression, "The body is not what Content-Encoding: gzip says.")
	}
	return nil
}

func tooLargePush() error {
	return mapdata.Explain(mapdata.ErrTooLarge, mapdata.ReasonBody, "The batch is larger than 16 MiB. Send it in parts.")
}

// arrived ends the time in which the body must arrive, and begins that of the answer.
func (b *pushBody) arrived() {
	b.raw.until(time.Time{})
	_ = b.control.SetWriteDeadline(time.Now().Add(answerTimeout)) // fails only if the connection is closed
}

// abandon stops reading a body: the server reads a little of the rest, so that the answer is not lost, but does not wait for it.
func (b *pushBody) abandon() { b.raw.until(time.Now().Add(drainTimeout)) }

// pacedBody is a body as it is sent, which must arrive at minPushRate. It records its error, which tells it apart from an error of
// the decompression.
type pacedBody struct {
	body     io.Reader
	control  *http.ResponseController
	began    time.Time
	read     int64
	deadline time.Time
	err      error
}

// Read reads bytes as they were sent, or fails once they are too late.
func (p *pacedBody) Read(to []byte) (int, error) {
	deadline := p.began.Add(pushGrace + time.Duration(p.read)*time.Second/minPushRate)
	if p.deadline.IsZero() || deadline.Sub(p.deadline) >= time.Second {
		p.until(deadline)
	}
	n, err := p.body.Read(to)
	p.read += int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		p.err = err
	}
	return n, err
}

// until sets when the connection must have delivered the bytes that are read.
func (p *pacedBody) until(deadline time.Time) {
	p.deadline = deadline
	_ = p.control.SetReadDeadline(deadline) // fails only if the connection is closed, or is none
}
