package forward

import (
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"
	"time"
)

// maxSkew is how far the clocks of two nodes may differ.
const maxSkew = 5 * time.Minute

// keys identify nodes to each other. All nodes derive the same keys.
type keys struct {
	proof       []byte // key of the proof in an upgrade
	certificate tls.Certificate
	public      ed25519.PublicKey
}

func newKeys(secret []byte) (*keys, error) {
	proof, err := hkdf.Key(sha256.New, secret, nil, "upgrade", sha256.Size)
	if err != nil {
		return nil, fmt.Errorf("derive key: %w", err)
	}
	seed, err := hkdf.Key(sha256.New, secret, nil, "certificate", ed25519.SeedSize)
	if err != nil {
		return nil, fmt.Errorf("derive key: %w", err)
	}
	k := &keys{proof: proof}
	private := ed25519.NewKeyFromSeed(seed)
	k.public = private.Public().(ed25519.PublicKey) //nolint:forcetypeassert // by its documentation
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "node"},
		NotBefore: time.Unix(0, 0), NotAfter: time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC), // only the key counts
	}
	der, err := x509.CreateCertificate(nil, template, template, k.public, private) // Ed25519 needs no randomness
	if err != nil {
		return nil, fmt.Errorf("make the nodes' certificate: %w", err)
	}
	k.certificate = tls.Certificate{Certificate: [][]byte{der}, PrivateKey: private}
	return k, nil
}

// prove returns the proof of an upgrade at a moment. It keeps strangers from making this node compute handshakes.
func (k *keys) prove(now time.Time) string {
	at := binary.BigEndian.AppendUint64(nil, uint64(now.Unix())) //nolint:gosec // read back by the same conversion
	mac := hmac.New(sha256.New, k.proof)
	_, _ = mac.Write(at) // a hash never fails
	return base64.RawURLEncoding.EncodeToString(mac.Sum(at))
}

// accepts reports whether a proof was made with the nodes' key within maxSkew of now.
func (k *keys) accepts(proof string, now time.Time) bool {
	sealed, err := base64.RawURLEncoding.DecodeString(proof)
	if err != nil || len(sealed) != 8+sha256.Size {
		return false
	}
	mac := hmac.New(sha256.New, k.proof)
	_, _ = mac.Write(sealed[:8])
	at := time.Unix(int64(binary.BigEndian.Uint64(sealed)), 0) //nolint:gosec // as it was written
	return hmac.Equal(mac.Sum(nil), sealed[8:]) && now.Sub(at).Abs() < maxSkew
}

var errStranger = errors.New("the other end is no node of this service")

// config returns the TLS configuration of both ends of a connection: each presents the nodes' certificate, and requires it of the
// other end.
func (k *keys) config() *tls.Config {
	return &tls.Config{
		Certificates: []tls.Certificate{k.certificate}, MinVersion: tls.VersionTLS13, NextProtos: []string{"h2"},
		ClientAuth:         tls.RequireAnyClientCert,
		InsecureSkipVerify: true, //nolint:gosec // names and authorities mean nothing here: VerifyConnection compares the key
		VerifyConnection: func(state tls.ConnectionState) error {
			if len(state.PeerCertificates) != 1 || state.NegotiatedProtocol != "h2" || !k.public.Equal(state.PeerCertificates[0].PublicKey) {
				return errStranger
			}
			return nil
		},
		SessionTicketsDisabled: true,
	}
}
