package safehttp

import (
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Conditions are the version headers of an earlier answer (RFC 9110, 13.1). Empty: it had none.
type Conditions struct {
	URL          string // of the earlier answer; a request to another one is not conditional
	ETag         string
	LastModified string
}

// add makes the headers of a request to the URL conditional, and reports whether it did.
func (c *Conditions) add(header http.Header, to *URL) bool {
	if c == nil || c.URL != to.String() || c.ETag == "" && c.LastModified == "" {
		return false
	}
	if c.ETag != "" {
		header.Set("If-None-Match", c.ETag)
	}
	if c.LastModified != "" {
		header.Set("If-Modified-Since", c.LastModified)
	}
	return true
}

// retryAfter parses a Retry-After header: seconds, or a date (RFC 9110, 10.2.3).
func retryAfter(text string, now time.Time) time.Duration {
	text = strings.TrimSpace(text)
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

var errWireTooLarge = errors.New("more bytes were sent than are read")

// wireLimit bounds the bytes of a body before it is decompressed.
type wireLimit struct {
	r    io.Reader
	left int64
	read int64
}

func (l *wireLimit) Read(p []byte) (int, error) {
	if l.left < 0 {
		return 0, errWireTooLarge
	}
	n, err := l.r.Read(p[:min(int64(len(p)), l.left+1)]) // one byte more than the limit, to detect a larger body
	l.read += int64(n)
	if l.left -= int64(n); l.left < 0 {
		return n - 1, errWireTooLarge
	}
	return n, err
}
