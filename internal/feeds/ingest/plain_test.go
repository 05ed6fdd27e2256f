package ingest

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestRuns compares the functions that scan eight bytes at a time with a loop over bytes: every byte, at every place.
func TestRuns(t *testing.T) {
	for c := range 256 {
		for at := range 20 {
			for _, filler := range []string{"x", " ", "é", "\x80", "\xff", "!", "#", "]", "["} {
				p := []byte(strings.Repeat(filler, 20)[:20])
				p[at] = byte(c)
				plain, spaces := 0, 0
				for plain < len(p) && p[plain] != '"' && p[plain] != '\\' && p[plain] >= 0x20 {
					plain++
				}
				for spaces < len(p) && strings.IndexByte(" \n\t\r", p[spaces]) >= 0 {
					spaces++
				}
				starts := 0
				for _, b := range p {
					if utf8.RuneStart(b) {
						starts++
					}
				}
				got := fmt.Sprint(plainText(p), whiteSpace(p), characters(p))
				if want := fmt.Sprint(plain, spaces, starts); got != want {
					t.Fatalf("%q: %s, want %s", p, got, want)
				}
			}
		}
	}
}
