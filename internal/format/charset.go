package format

import (
	"bufio"
	"bytes"
	"io"

	"golang.org/x/text/encoding/unicode"
)

// Decoded passes on the text of a document in UTF-8 without its mark. It turns UTF-16 into UTF-8, which it recognises by its mark, or by
// the zeros of the first characters of JSON and XML; utf16 reports whether it did. Half a surrogate pair becomes U+FFFD.
func Decoded(r io.Reader) (text io.Reader, utf16 bool) {
	buffered := bufio.NewReaderSize(r, 64<<10)
	first, _ := buffered.Peek(4) // an error comes again with the next read
	in := func(order unicode.Endianness) io.Reader {
		return unicode.UTF16(order, unicode.UseBOM).NewDecoder().Reader(buffered)
	}
	switch {
	case bytes.HasPrefix(first, []byte{0xEF, 0xBB, 0xBF}):
		_, _ = buffered.Discard(3) // they were peeked at
		return buffered, false
	case bytes.HasPrefix(first, []byte{0xFE, 0xFF}), len(first) == 4 && first[0] == 0 && first[1] != 0:
		return in(unicode.BigEndian), true
	case bytes.HasPrefix(first, []byte{0xFF, 0xFE}), len(first) == 4 && first[0] != 0 && first[1] == 0:
		return in(unicode.LittleEndian), true
	}
	return buffered, false
}
