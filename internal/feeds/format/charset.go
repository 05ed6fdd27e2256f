package format

import (
	"bufio"
	"bytes"
	"io"

	"golang.org/x/text/encoding/unicode"
)

// Decoded returns the text of a document in UTF-8 without its byte order mark. It converts UTF-16, which it recognises
// by the mark or by the zeros in the first characters of JSON and XML; utf16 reports whether it did. An unpaired
// surrogate becomes U+FFFD.
func Decoded(r io.Reader) (text io.Reader, utf16 bool) {
	buffered := bufio.NewReaderSize(r, 64<<10)
	first, _ := buffered.Peek(4) // the next read returns the error again
	in := func(order unicode.Endianness) io.Reader {
		return unicode.UTF16(order, unicode.UseBOM).NewDecoder().Reader(buffered)
	}
	switch {
	case bytes.HasPrefix(first, []byte{0xEF, 0xBB, 0xBF}):
		_, _ = buffered.Discard(3) // Peek has shown that they exist
		return buffered, false
	case bytes.HasPrefix(first, []byte{0xFE, 0xFF}), len(first) == 4 && first[0] == 0 && first[1] != 0:
		return in(unicode.BigEndian), true
	case bytes.HasPrefix(first, []byte{0xFF, 0xFE}), len(first) == 4 && first[0] != 0 && first[1] == 0:
		return in(unicode.LittleEndian), true
	}
	return buffered, false
}
