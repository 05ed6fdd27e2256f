package speech

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strings"
)

// maxText is the maximum length of a spoken announcement, in bytes. Names on signs are far shorter.
const maxText = 600

// addresses seals announcements into addresses, and opens them. Equal announcements have equal addresses, so that clips
// can be cached.
type addresses struct {
	aead     cipher.AEAD
	nonceKey []byte
}

// newAddresses derives the keys from a secret key and the command, so that clips of another program get other addresses.
func newAddresses(key []byte, command []string) (addresses, error) {
	derive := func(use string) []byte {
		mac := hmac.New(sha256.New, key)
		_, _ = mac.Write([]byte(use + "\x00" + strings.Join(command, "\x00"))) // never fails
		return mac.Sum(nil)
	}
	block, err := aes.NewCipher(derive("seal"))
	if err != nil {
		return addresses{}, err
	}
	aead, err := cipher.NewGCM(block)
	return addresses{aead, derive("nonce")}, err
}

// seal returns the address of an announcement, or "" if the announcement is empty or too long. The nonce is a keyed hash
// of the announcement, so that it repeats only if the whole address does.
func (a *addresses) seal(language, text string) string {
	if len(text) == 0 || len(text) > maxText {
		return ""
	}
	plain := []byte(language + "\x00" + text)
	sealed := a.aead.Seal(a.nonce(plain), a.nonce(plain), plain, nil)
	return base64.RawURLEncoding.EncodeToString(sealed)
}

func (a *addresses) nonce(plain []byte) []byte {
	mac := hmac.New(sha256.New, a.nonceKey)
	_, _ = mac.Write(plain) // never fails
	return mac.Sum(nil)[:a.aead.NonceSize()]
}

// open returns the announcement sealed in an address. ok is false if seal did not make the address.
func (a *addresses) open(address string) (language, text string, ok bool) {
	// a generous bound on nonce, tag and language
	const overhead = 64
	if len(address) > base64.RawURLEncoding.EncodedLen(maxText+overhead) || strings.ContainsAny(address, "\r\n") { // the decoder skips line breaks
		return "", "", false
	}
	sealed, err := base64.RawURLEncoding.Strict().DecodeString(address)
	if err != nil || len(sealed) < a.aead.NonceSize() {
		return "", "", false
	}
	nonce := sealed[:a.aead.NonceSize()]
	plain, err := a.aead.Open(nil, nonce, sealed[len(nonce):], nil)
	if err != nil {
		return "", "", false
	}
	before, after, ok := bytes.Cut(plain, []byte{0})
	return string(before), string(after), ok
}
