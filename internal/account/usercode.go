package account

import (
	"crypto/rand"
	"fmt"
	"math/big"
	"strings"
	"unicode"
)

// codeLetters is what codes for people are made of: no vowels, so that none spells a word, and no Y, which some take for
// one. Digits, which look like letters, do not occur (RFC 8628, section 6.1).
const codeLetters = "BCDFGHJKLMNPQRSTVWXZ"

const (
	codeLength = 8
	nameLength = codeLength / 2 // letters that find the pairing; the others prove that the screen was seen
)

// UserCode is a code that a screen shows, such as "BCDFGHJK" (D11.3). Only ParseUserCode and the service make them.
type UserCode string

// ParseUserCode reads what somebody typed: small letters, spaces and hyphens of any kind are forgiven.
func ParseUserCode(text string) (UserCode, bool) {
	const longest = 64 // bytes; nobody types so many
	if len(text) > longest {
		return "", false
	}
	code := make([]byte, 0, codeLength)
	for _, r := range text {
		if unicode.IsSpace(r) || unicode.Is(unicode.Dash, r) {
			continue
		}
		at := -1
		if r <= unicode.MaxASCII { // letters of other alphabets have capitals here too
			at = strings.IndexRune(codeLetters, unicode.ToUpper(r))
		}
		if at < 0 || len(code) == codeLength {
			return "", false
		}
		code = append(code, codeLetters[at])
	}
	return UserCode(code), len(code) == codeLength
}

// Shown is the code as people read it, in two halves.
func (c UserCode) Shown() string {
	if len(c) != codeLength {
		return string(c)
	}
	return string(c[:nameLength] + "-" + c[nameLength:])
}

// name is the half by which wrong codes are counted.
func (c UserCode) name() string { return string(c[:nameLength]) }

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
