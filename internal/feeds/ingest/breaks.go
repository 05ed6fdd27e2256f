package ingest

import (
	"bytes"
	"errors"
	"math"
	"time"
)

// Breaks returns the place where a text that DecodeBatch refuses as malformed stops being JSON: its line and the
// character in it, both from 1. known is false for an empty text, and for valid JSON that is refused for another
// reason, such as its nesting.
func Breaks(text []byte) (line, column int, known bool) {
	_, err := decode(bytes.NewReader(text), time.Time{}, math.MaxInt, func(int, Row, *RowError) error { return nil })
	var wrong *SyntaxError
	if !errors.As(err, &wrong) {
		return 0, 0, false
	}
	return wrong.Line, wrong.Column, true
}
