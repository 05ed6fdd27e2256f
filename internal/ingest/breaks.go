package ingest

import (
	"bytes"
	"encoding/json"
	"errors"
	"unicode/utf8"
)

// Breaks says where a text that DecodeBatch takes for malformed stops being JSON: its line and the character in it, both
// from 1. known is false for an empty text, and for one that is JSON and is refused for another reason, such as its nesting.
func Breaks(text []byte) (line, column int, known bool) {
	var wrong *json.SyntaxError
	var whole json.RawMessage
	if len(text) == 0 || !errors.As(json.Unmarshal(text, &whole), &wrong) {
		return 0, 0, false
	}
	before := text[:min(int(wrong.Offset), len(text))]
	line = bytes.Count(before, []byte("\n")) + 1
	column = utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])
	return line, column, true
}
