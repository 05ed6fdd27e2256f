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
	alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	base     = uint32(len(alphabet))
	secret   = 40 // random characters: 238 bits
	check    = 6  // 62^6 > 2^32
)

// New makes a token with the given prefix, from the system's random source (which ends the process if it ever fails).
func New(prefix string) string {
	s := make([]byte, 0, len(prefix)+secret+check)
	s = append(s, prefix...)
	var random [64]byte
	for len(s) < len(prefix)+secret {
		_, _ = rand.Read(random[:]) // never fails
		for _, b := range random {
			// 248 is the largest multiple of 62 that a byte reaches: beyond it, some characters would be likelier.
			if b < 248 && len(s) < len(prefix)+secret {
				s = append(s, alphabet[b%byte(base)])
			}
		}
	}
	sum := checksum(s)
	return string(append(s, sum[:]...))
}

// Valid says whether s has the form of a token with the given prefix and its checksum is right. It says nothing about
// whether the token is known, and nothing secret is compared.
func Valid(prefix, s string) bool {
	if len(s) != len(prefix)+secret+check || !strings.HasPrefix(s, prefix) {
		return false
	}
	for i := len(prefix); i < len(s); i++ {
		if strings.IndexByte(alphabet, s[i]) < 0 {
			return false
		}
	}
	body, tail := s[:len(s)-check], s[len(s)-check:]
	sum := checksum([]byte(body))
	return string(sum[:]) == tail
}

// Hash is what is stored of a token and what it is looked up by: its SHA-256. A token has enough randomness that no
// salt and no slow hash is needed.
func Hash(s string) []byte {
	sum := sha256.Sum256([]byte(s))
	return sum[:]
}

// checksum is the CRC-32 (IEEE) of prefix and random characters in base 62, most significant digit first, padded with
// zeros.
func checksum(body []byte) [check]byte {
	var out [check]byte
	sum := crc32.ChecksumIEEE(body)
	for i := check - 1; i >= 0; i-- {
		out[i] = alphabet[sum%base]
		sum /= base
	}
	return out
}
