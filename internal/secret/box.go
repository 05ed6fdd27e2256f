// Package secret seals what the service must be able to read again, such as the auth header of a pull feed (D5.2), with
// XChaCha20-Poly1305. The feed's id is sealed in as associated data, so that what was sealed for one feed opens for no
// other. Where the key comes from is not known here.
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

// ErrSealed says that a text can't be opened: it was sealed with another key or for another feed, or it is damaged.
var ErrSealed = errors.New("sealed with another key or for another feed, or damaged")

// version begins every sealed text, so that another form can follow.
const version = 1

// Box seals and opens with one key. It may be used from many goroutines.
type Box struct{ aead cipher.AEAD }

// New makes a box from a key of KeySize random bytes.
func New(key []byte) (*Box, error) {
	aead, err := chacha20poly1305.NewX(key)
	if err != nil {
		return nil, fmt.Errorf("a key has %d bytes, this one has %d", KeySize, len(key))
	}
	return &Box{aead}, nil
}

// Seal encrypts plain for one feed: a version byte, a fresh nonce, and what is sealed. Sealing twice gives two texts.
func (b *Box) Seal(plain []byte, feed mapdata.FeedID) []byte {
	sealed := make([]byte, 1+b.aead.NonceSize(), 1+b.aead.NonceSize()+len(plain)+b.aead.Overhead())
	sealed[0] = version
	nonce := sealed[1:]
	_, _ = rand.Read(nonce) // never fails
	return b.aead.Seal(sealed, nonce, plain, feed[:])
}

// Open decrypts what Seal made for the same feed, or fails with ErrSealed.
func (b *Box) Open(sealed []byte, feed mapdata.FeedID) ([]byte, error) {
	head := 1 + b.aead.NonceSize()
	if len(sealed) < head || sealed[0] != version {
		return nil, ErrSealed
	}
	plain, err := b.aead.Open(nil, sealed[1:head], sealed[head:], feed[:])
	if err != nil {
		return nil, ErrSealed
	}
	return plain, nil
}
