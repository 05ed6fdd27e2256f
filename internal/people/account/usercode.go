package account

import (
	"crypto/rand"
	"fmt"
	"math/big"
	"strings"
	"unicode"
)

// codeLetters is the alphabet of user codes: no vowels and no Y, so that no code spells a word, and no digits, which look
// like letters (RFC 8628, section 6.1).
const codeLetters = "BCDFGHJKLMNPQRSTVWXZ"

const (
	codeLength     = 8
	selectorLength = codeLength / 2 // letters that select the pairing; the others prove that the screen was seen
)

// UserCode is the code on a screen, such as "BCDFGHJK" (D11.3). Only ParseUserCode and the service create them.
type UserCode string

// ParseUserCode parses a typed code: it accepts lower case, and ignores spaces and hyphens of any kind.
func ParseUserCode(text string) (UserCode, bool) {
	const maxLength = 64 // bytes
	if len(text) > maxLength {
		return "", false
	}
	code := make([]byte, 0, codeLength)
	for _, r := range text {
		if unicode.IsSpace(r) || unicode.Is(unicode.Dash, r) {
			continue
		}
		at := -1
		if r <= unicode.MaxASCII { // some non-ASCII letters have ASCII upper-case forms
			at = strings.IndexRune(codeLetters, unicode.ToUpper(r))
		}
		if at < 0 || len(code) == codeLength {
			return "", false
		}
		code = append(code, codeLetters[at])
	}
	return UserCode(code), len(code) == codeLength
}

// Shown formats the code for display, in two halves.
func (c UserCode) Shown() string {
	if len(c) != codeLength {
		return string(c)
	}
	return string(c[:selectorLength] + "-" + c[selectorLength:])
}

// name returns the first half, under which wrong tries are counted.
func (c UserCode) name() string { return string(c[:selectorLength]) }

// newUserCode draws a code.
func newUserCode() (UserCode, error) {
	code := make([]byte, codeLength)
	for i := range code {
		n, err := rand.Int(rand.Reader, big.NewInt(int64(len(codeLetters))))
		if err != nil {
			return "", fmt.Errorf("draw code: %w", err)
		}
		code[i] = codeLetters[n.Int64()]
	}
	return UserCode(code), nil
}
