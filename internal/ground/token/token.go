package token

import (
	"crypto/rand"
	"crypto/sha256"
	"hash/crc32"
	"strings"
)

// The prefixes in use.
const (
	Push = "wsp_" // lets a provider push to one feed (D5.1)
	API  = "wsk_" // lets a server read with an account's limits (D11.5)
)

const (
	alphabet       = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	base           = uint32(len(alphabet))
	secretLength   = 40 // random characters: 238 bits
	checksumLength = 6  // 62^6 > 2^32
)

// New creates a token with the given prefix from crypto/rand (which ends the process if it fails).
func New(prefix string) string {
	s := make([]byte, 0, len(prefix)+secretLength+checksumLength)
	s = append(s, prefix...)
	var random [64]byte
	for len(s) < len(prefix)+secretLength {
		_, _ = rand.Read(random[:]) // never fails
		for _, b := range random {
			// 248 is the largest multiple of 62 in a byte: larger values would make some characters more likely.
			if b < 248 && len(s) < len(prefix)+secretLength {
				s = append(s, alphabet[b%byte(base)])
			}
		}
	}
	sum := checksum(s)
	return string(append(s, sum[:]...))
}

// Valid reports whether s has the format of a token with the given prefix and a correct checksum. It does not look the token
// up, and compares nothing secret.
func Valid(prefix, s string) bool {
	if len(s) != len(prefix)+secretLength+checksumLength || !strings.HasPrefix(s, prefix) {
		return false
	}
	for i := len(prefix); i < len(s); i++ {
		if strings.IndexByte(alphabet, s[i]) < 0 {
			return false
		}
	}
	body, tail := s[:len(s)-checksumLength], s[len(s)-checksumLength:]
	sum := checksum([]byte(body))
	return string(sum[:]) == tail
}

// Hash returns the SHA-256 of a token, by which it is stored and looked up. A token has enough entropy that neither a salt
// nor a slow hash is needed.
func Hash(s string) []byte {
	sum := sha256.Sum256([]byte(s))
	return sum[:]
}

// checksum returns the CRC-32 (IEEE) of prefix and random characters in base 62, most significant digit first, padded
// with zeros.
func checksum(body []byte) [checksumLength]byte {
	var out [checksumLength]byte
	sum := crc32.ChecksumIEEE(body)
	for i := checksumLength - 1; i >= 0; i-- {
		out[i] = alphabet[sum%base]
		sum /= base
	}
	return out
}
