package httpapi_test

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
	userPresent  = 0x01
	userVerified = 0x04
	attested     = 0x40
)

// authenticator is a device with one passkey: ES256, attestation "none". Tests may change its responses.
type authenticator struct {
	t       *testing.T
	origin  string // of the page that it believes to ask
	rp      string
	id      []byte
	user    []byte // handle that it was given
	key     *ecdsa.PrivateKey
	counter uint32
	flags   byte
}

func newAuthenticator(t *testing.T, origin, rp string) *authenticator {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return &authenticator{t: t, origin: origin, rp: rp, id: []byte(rand.Text()), key: key, flags: userPresent | userVerified}
}

func b64(raw []byte) string { return base64.RawURLEncoding.EncodeToString(raw) }

// credentialOptions are the options that a page passes to the browser.
type credentialOptions struct {
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
func (a *authenticator) clientData(kind, challenge string) []byte {
	a.t.Helper()
	text, err := json.Marshal(map[string]any{"type": kind, "challenge": challenge, "origin": a.origin, "crossOrigin": false})
	if err != nil {
		a.t.Fatal(err)
	}
	return text
}

// authData returns the device's part of the signed data.
func (a *authenticator) authData(flags byte) []byte {
	hash := sha256.Sum256([]byte(a.rp))
	a.counter++
	return binary.BigEndian.AppendUint32(append(hash[:], flags), a.counter)
}

// create responds to navigator.credentials.create.
func (a *authenticator) create(o credentialOptions) map[string]any {
	a.t.Helper()
	var err error
	if a.user, err = base64.RawURLEncoding.DecodeString(o.PublicKey.User.ID); err != nil {
		a.t.Fatal(err)
	}
	data := append(a.authData(a.flags|attested), make([]byte, 16)...) // no model is named
	data = binary.BigEndian.AppendUint16(data, uint16(len(a.id)))
	data = append(append(data, a.id...), a.publicKey()...)
	// {"fmt": "none", "attStmt": {}, "authData": data} in CBOR
	object := append([]byte{0xa3, 0x63}, "fmt"...)
	object = append(append(object, 0x64), "none"...)
	object = append(append(object, 0x67), "attStmt"...)
	object = append(append(object, 0xa0, 0x68), "authData"...)
	object = append(binary.BigEndian.AppendUint16(append(object, 0x59), uint16(len(data))), data...)
	return a.answer(map[string]any{
		"clientDataJSON": b64(a.clientData("webauthn.create", o.PublicKey.Challenge)), "attestationObject": b64(object),
		"transports": []string{"internal"},
	})
}

// publicKey encodes the key as COSE: {1: 2, 3: -7, -1: 1, -2: x, -3: y}.
func (a *authenticator) publicKey() []byte {
	a.t.Helper()
	point, err := a.key.PublicKey.Bytes()
	if err != nil {
		a.t.Fatal(err)
	}
	out := []byte{0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, 32}
	out = append(out, point[1:33]...)
	return append(append(out, 0x22, 0x58, 32), point[33:]...)
}

// get responds to navigator.credentials.get.
func (a *authenticator) get(o credentialOptions) map[string]any {
	a.t.Helper()
	client, data := a.clientData("webauthn.get", o.PublicKey.Challenge), a.authData(a.flags)
	hash := sha256.Sum256(client)
	digest := sha256.Sum256(append(data, hash[:]...))
	signature, err := ecdsa.SignASN1(rand.Reader, a.key, digest[:])
	if err != nil {
		a.t.Fatal(err)
	}
	return a.answer(map[string]any{
		"clientDataJSON": b64(client), "authenticatorData": b64(data), "signature": b64(signature), "userHandle": b64(a.user),
	})
}

func (a *authenticator) answer(response map[string]any) map[string]any {
	return map[string]any{
		"id": b64(a.id), "rawId": b64(a.id), "type": "public-key", "authenticatorAttachment": "platform",
		"clientExtensionResults": map[string]any{"credProps": map[string]any{"rk": true}}, "response": response,
	}
}
