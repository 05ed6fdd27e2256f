package format

import (
	"bytes"
	"errors"
	"io"
)

// Mentions says whether a word stands somewhere in the text of a document, or might in JSON, with a letter written as an escape. It is
// much quicker than reading the document, and judges nothing of it. Words have ASCII letters alone, at most 64.
func Mentions(d Document, words ...string) (found bool, err error) {
	body, err := d.Open()
	if err != nil {
		return false, err
	}
	defer body.Close() //nolint:errcheck // it was only read
	text, _ := Decoded(body)
	const overlap = 64 // a word may begin in one piece and end in the next
	piece := make([]byte, 64<<10)
	kept := 0
	for {
		n, err := text.Read(piece[kept:])
		held := piece[:kept+n]
		for _, word := range words {
			found = found || bytes.Contains(held, []byte(word))
		}
		if found || escapesLetter(held) {
			return true, nil
		}
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return false, err
		}
		kept = copy(piece, held[max(0, len(held)-overlap):])
	}
}

// escapesLetter says whether a text has an escape of the characters from U+0040 to U+007F, among which are all letters of ASCII.
func escapesLetter(text []byte) bool {
	for {
		_, rest, found := bytes.Cut(text, []byte(`\u00`))
		if !found {
			return false
		}
		if len(rest) > 0 && rest[0] >= '4' && rest[0] <= '7' {
			return true
		}
		text = rest
	}
}
