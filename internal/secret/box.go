// Package secret encrypts secrets that the service must read again, such as the auth header of a pull feed (D5.2), with
// XChaCha20-Poly1305. The feed's id is associated data, so that a text sealed for one feed cannot be opened for another.
// The caller provides the key.
package secret

import (
	"crypto/cipher"
	"crypto/rand"
	"errors"
	"fmt"

	"golang.org/x/crypto/chacha20poly1305"

	"wayside/internal/mapdata"
)

// KeySize is the length of a key in bytes.
const KeySize = chacha20poly1305.KeySize

// ErrSealed is returned for a text that was sealed with another key or for another feed, or is damaged.
var ErrSealed = errors.New("sealed with another key or for another feed, or damaged")

// version is the first byte of every sealed text, so that the format can change.
const version = 1

// Box seals and opens with one key. It is safe for concurrent use.
type Box struct{ aead cipher.AEAD }

// New creates a Box from a key of KeySize random bytes.
func New(key []byte) (*Box, error) {
	aead, err := chacha20poly1305.NewX(key)
	if err != nil {
		return nil, fmt.Errorf("a key has %d bytes, this one has %d", KeySize, len(key))
	}
	return &Box{aead}, nil
}

// Seal encrypts plain for one feed: a version byte, a random nonce, and the ciphertext. Sealing twice
// gives different texts.
func (b *Box) Seal(plain []byte, feed mapdata.FeedID) []byte {
	sealed := make([]byte, 1+b.aead.NonceSize(), 1+b.aead.NonceSize()+len(plain)+b.aead.Overhead())
	sealed[0] = version
	nonce := sealed[1:]
	_, _ = rand.Read(nonce) // never fails
	return b.aead.Seal(sealed, nonce, plain, feed[:])
}

// Open decrypts a text sealed for the same feed, or fails with ErrSealed.
func (b *Box) Open(sealed []byte, feed mapdata.FeedID) ([]byte, error) {
	headerSize := 1 + b.aead.NonceSize()
	if len(sealed) < headerSize || sealed[0] != version {
		return nil, ErrSealed
	}
	plain, err := b.aead.Open(nil, sealed[1:headerSize], sealed[headerSize:], feed[:])
	if err != nil {
		return nil, ErrSealed
	}
	return plain, nil
}
