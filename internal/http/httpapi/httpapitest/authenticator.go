package httpapitest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"testing"
)

// Flags of an authenticator's answer.
const (
	UserPresent  = 0x01
	UserVerified = 0x04
	attested     = 0x40
)

// Authenticator is a device with one passkey: ES256, attestation "none". Tests may change its responses.
type Authenticator struct {
	t       *testing.T
	Origin  string // of the page that it believes to ask
	RP      string
	ID      []byte
	User    []byte // handle that it was given
	Key     *ecdsa.PrivateKey
	Counter uint32
	Flags   byte
}

// NewAuthenticator returns a device without a passkey, at a page of the given origin.
func NewAuthenticator(t *testing.T, origin, rp string) *Authenticator {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return &Authenticator{t: t, Origin: origin, RP: rp, ID: []byte(rand.Text()), Key: key, Flags: UserPresent | UserVerified}
}

// Base64 encodes bytes as passkeys' JSON has them: base64url without padding.
func Base64(raw []byte) string { return base64.RawURLEncoding.EncodeToString(raw) }

// CredentialOptions are the options that a page passes to the browser.
type CredentialOptions struct {
	PublicKey struct {
		Challenge string
		RpID      string
		Rp        struct{ ID string }
		User      struct{ ID string }

		UserVerification       string
		AuthenticatorSelection struct{ ResidentKey, UserVerification string }
		AllowCredentials       []struct{ ID string }
		ExcludeCredentials     []struct{ ID string }
	}
}

// clientData returns the browser's part of the signed data.
func (a *Authenticator) clientData(kind, challenge string) []byte {
	a.t.Helper()
	text, err := json.Marshal(map[string]any{"type": kind, "challenge": challenge, "origin": a.Origin, "crossOrigin": false})
	if err != nil {
		a.t.Fatal(err)
	}
	return text
}

// authData returns the device's part of the signed data.
func (a *Authenticator) authData(flags byte) []byte {
	hash := sha256.Sum256([]byte(a.RP))
	a.Counter++
	return binary.BigEndian.AppendUint32(append(hash[:], flags), a.Counter)
}

// Create responds to navigator.credentials.create.
func (a *Authenticator) Create(o CredentialOptions) map[string]any {
	a.t.Helper()
	var err error
	if a.User, err = base64.RawURLEncoding.DecodeString(o.PublicKey.User.ID); err != nil {
		a.t.Fatal(err)
	}
	data := append(a.authData(a.Flags|attested), make([]byte, 16)...) // no model is named
	data = binary.BigEndian.AppendUint16(data, uint16(len(a.ID)))
	data = append(append(data, a.ID...), a.publicKey()...)
	// {"fmt": "none", "attStmt": {}, "authData": data} in CBOR
	object := append([]byte{0xa3, 0x63}, "fmt"...)
	object = append(append(object, 0x64), "none"...)
	object = append(append(object, 0x67), "attStmt"...)
	object = append(append(object, 0xa0, 0x68), "authData"...)
	object = append(binary.BigEndian.AppendUint16(append(object, 0x59), uint16(len(data))), data...)
	return a.answer(map[string]any{
		"clientDataJSON": Base64(a.clientData("webauthn.create", o.PublicKey.Challenge)), "attestationObject": Base64(object),
		"transports": []string{"internal"},
	})
}

// publicKey encodes the key as COSE: {1: 2, 3: -7, -1: 1, -2: x, -3: y}.
func (a *Authenticator) publicKey() []byte {
	a.t.Helper()
	point, err := a.Key.PublicKey.Bytes()
	if err != nil {
		a.t.Fatal(err)
	}
	out := []byte{0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, 32}
	out = append(out, point[1:33]...)
	return append(append(out, 0x22, 0x58, 32), point[33:]...)
}

// Get responds to navigator.credentials.get.
func (a *Authenticator) Get(o CredentialOptions) map[string]any {
	a.t.Helper()
	client, data := a.clientData("webauthn.get", o.PublicKey.Challenge), a.authData(a.Flags)
	hash := sha256.Sum256(client)
	digest := sha256.Sum256(append(data, hash[:]...))
	signature, err := ecdsa.SignASN1(rand.Reader, a.Key, digest[:])
	if err != nil {
		a.t.Fatal(err)
	}
	return a.answer(map[string]any{
		"clientDataJSON": Base64(client), "authenticatorData": Base64(data), "signature": Base64(signature), "userHandle": Base64(a.User),
	})
}

func (a *Authenticator) answer(response map[string]any) map[string]any {
	return map[string]any{
		"id": Base64(a.ID), "rawId": Base64(a.ID), "type": "public-key", "authenticatorAttachment": "platform",
		"clientExtensionResults": map[string]any{"credProps": map[string]any{"rk": true}}, "response": response,
	}
}
