package mapdata

import (
	"bytes"
	"errors"
	"time"
)

// Where T and the colon after the hour lie in RFC 3339, and how long an offset is.
const (
	timeSeparator = len("2006-01-02")
	hourEnd       = len("2006-01-02T15")
	offsetLength  = len("+07:00")
)

var errNotRFC3339 = errors.New("not a time as RFC 3339 writes it")

// ParseTime parses a time as RFC 3339 writes it, with T and Z in either case (RFC 3339, 5.6; D3.5, D4.3). It refuses what time.Parse
// takes beside that: hours of one digit, commas before fractions, and offsets of a day or of sixty minutes.
func ParseTime[text string | []byte](s text) (time.Time, error) {
	written := []byte(s)
	if end := len(written) - 1; end > timeSeparator && (written[timeSeparator] == 't' || written[end] == 'z') {
		written = bytes.ToUpper(written) // no other letter is in it, or it is refused
	}
	t, err := time.Parse(time.RFC3339, string(written))
	if err != nil {
		return time.Time{}, err
	}
	offset := written[len(written)-offsetLength:]
	if written[hourEnd] != ':' || bytes.IndexByte(written, ',') >= 0 ||
		written[len(written)-1] != 'Z' && (string(offset[1:3]) > "23" || string(offset[4:]) > "59") {
		return time.Time{}, errNotRFC3339
	}
	return t, nil
}
