package mapdata

import (
	"bytes"
	"time"
)

// timeSeparator is the index of the T of a time in RFC 3339.
const timeSeparator = len("2006-01-02")

// ParseTime parses a time as RFC 3339 writes it, with T and Z in either case (RFC 3339, 5.6; D3.5, D4.3).
func ParseTime[text string | []byte](s text) (time.Time, error) {
	if end := len(s) - 1; end > timeSeparator && (s[timeSeparator] == 't' || s[end] == 'z') {
		upper := bytes.ToUpper([]byte(s)) // a valid time contains no other letter
		return time.Parse(time.RFC3339, string(upper))
	}
	return time.Parse(time.RFC3339, string(s))
}
