package ingest

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// Every row is scanned several times, and most of its bytes are text. Eight bytes at a time make that cheap enough that
// the scanner costs no more than a parser which holds the whole row (BenchmarkDecode).
//
// The race detector would check every one of these bytes separately, which took most of the time of tests that read
// large bodies. The functions that fill the bytes, and those that call these, are instrumented.
const (
	eachLow  = 0x0101010101010101 // the lowest bit of each of eight bytes
	eachHigh = 0x8080808080808080 // the highest bit
)

// plainText returns how many of the next bytes of a string are neither its end, nor a backslash, nor a control
// character.
//
//go:norace
func plainText(p []byte) int {
	n := 0
	for ; len(p)-n >= 8; n += 8 {
		x := binary.LittleEndian.Uint64(p[n:])
		quote, backslash := x^'"'*eachLow, x^'\\'*eachLow
		// A borrow may mark a byte falsely, but only above one that is marked correctly: the lowest mark counts.
		if ends := ((quote-eachLow)&^quote | (backslash-eachLow)&^backslash | (x-' '*eachLow)&^x) & eachHigh; ends != 0 {
			return n + bits.TrailingZeros64(ends)/8
		}
	}
	for n < len(p) && p[n] != '"' && p[n] != '\\' && p[n] >= ' ' {
		n++
	}
	return n
}

// whiteSpace returns how many of the next bytes are white space between tokens. Long runs are indentation.
//
//go:norace
func whiteSpace(p []byte) (n int) {
	for n < len(p) {
		if len(p)-n >= 8 && binary.LittleEndian.Uint64(p[n:]) == ' '*eachLow {
			n += 8
			continue
		}
		if c := p[n]; c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			break
		}
		n++
	}
	return n
}

// characters counts the characters that begin in a part of a text.
//
//go:norace
func characters(part []byte) int {
	n := len(part)
	i := 0
	for ; len(part)-i >= 8; i += 8 {
		x := binary.LittleEndian.Uint64(part[i:])
		n -= bits.OnesCount64(x >> 7 &^ (x >> 6) & eachLow) // bytes 10xxxxxx continue a character
	}
	for _, c := range part[i:] {
		if c&0xC0 == 0x80 {
			n--
		}
	}
	return n
}

// validUTF8 reports whether the text is valid UTF-8. Most of a large text is ASCII, which it recognises eight bytes at
// a time.
//
//go:norace
func validUTF8(p []byte) bool {
	for len(p) >= 8 && binary.LittleEndian.Uint64(p)&eachHigh == 0 {
		p = p[8:]
	}
	return utf8.Valid(p)
}
