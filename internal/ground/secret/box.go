// Package secret encrypts data that the service must read again and nobody else may read, such as the auth header of a pull feed (D5.2),
// with XChaCha20-Poly1305. The id of a feed or an account, or of account and app, is associated data, so that a text sealed for one owner
// cannot be opened for another. The caller provides the key.
package secret

import (
	"crypto/cipher"
	"crypto/rand"
	"errors"
	"fmt"

	"golang.org/x/crypto/chacha20poly1305"

	"wayside/internal/ground/mapdata"
)

// KeySize is the length of a key in bytes.
const KeySize = chacha20poly1305.KeySize

// ErrSealed is returned for a text that was sealed with another key or for another owner, or is damaged.
var ErrSealed = errors.New("sealed with another key or for another owner, or damaged")

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

// Seal encrypts plain for one owner, a feed or an account: a version byte, a random nonce, and the ciphertext. Sealing the same text twice
// returns different results.
func (b *Box) Seal(plain []byte, owner [16]byte) []byte { return b.seal(plain, owner[:]) }

// Open decrypts a text sealed for the same owner, or fails with ErrSealed.
func (b *Box) Open(sealed []byte, owner [16]byte) ([]byte, error) {
	return b.open(sealed, owner[:])
}

// SealConfig encrypts an account's config of an app, as Seal does.
func (b *Box) SealConfig(plain []byte, account mapdata.AccountID, app mapdata.AppID) []byte {
	return b.seal(plain, install(account, app))
}

// OpenConfig decrypts a text sealed for the same account and app, or fails with ErrSealed.
func (b *Box) OpenConfig(sealed []byte, account mapdata.AccountID, app mapdata.AppID) ([]byte, error) {
	return b.open(sealed, install(account, app))
}

// install returns the associated data of a config. It is longer than a single id, so that neither can be taken for the other.
func install(account mapdata.AccountID, app mapdata.AppID) []byte {
	return append(account[:], app[:]...)
}

func (b *Box) seal(plain, associated []byte) []byte {
	sealed := make([]byte, 1+b.aead.NonceSize(), 1+b.aead.NonceSize()+len(plain)+b.aead.Overhead())
	sealed[0] = version
	nonce := sealed[1:]
	_, _ = rand.Read(nonce) // never fails
	return b.aead.Seal(sealed, nonce, plain, associated)
}

func (b *Box) open(sealed, associated []byte) ([]byte, error) {
	headerSize := 1 + b.aead.NonceSize()
	if len(sealed) < headerSize || sealed[0] != version {
		return nil, ErrSealed
	}
	plain, err := b.aead.Open(nil, sealed[1:headerSize], sealed[headerSize:], associated)
	if err != nil {
		return nil, ErrSealed
	}
	return plain, nil
}
