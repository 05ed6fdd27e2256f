package format

import (
	"bytes"
	"errors"
	"io"
)

// Mentions reports whether a word occurs in the text of a document, or could occur in JSON with a letter written as an
// escape. It is much quicker than parsing the document, and validates nothing. Words consist of ASCII letters, at most
// 64.
func Mentions(d Document, words ...string) (found bool, err error) {
	body, err := d.Open()
	if err != nil {
		return false, err
	}
	defer body.Close() //nolint:errcheck // it was only read
	text, _ := Decoded(body)
	const overlap = 64 // a word may begin in one block and end in the next
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

// escapesLetter reports whether a text has an escape of a character from U+0040 to U+007F, a range that includes all
// ASCII letters.
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
