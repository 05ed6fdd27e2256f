package account

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"time"

	"wayside/internal/ground/mapdata"
)

// challengeTTL is the time for answering a challenge.
const challengeTTL = 5 * time.Minute

// purpose is the use for which an answer to a challenge is valid.
type purpose byte

const (
	toSignIn purpose = iota + 1
	toRegister
	toConfirm
)

// A challenge carries its expiry and a MAC that binds it to a purpose and a session: 16 random bytes, milliseconds since
// 1970, HMAC-SHA-256 with the server's key. Unanswered challenges therefore need no storage, and every node can verify the
// challenges of the others.
const (
	nonceBytes     = 16
	expiryBytes    = 8
	challengeBytes = nonceBytes + expiryBytes + sha256.Size
)

// newChallenge creates a challenge for a session; session is empty for a guest.
func (s *Service) newChallenge(to purpose, session string) []byte {
	c := make([]byte, nonceBytes+expiryBytes, challengeBytes)
	_, _ = rand.Read(c[:nonceBytes]) // never fails
	binary.BigEndian.PutUint64(c[nonceBytes:], uint64(s.now().Add(challengeTTL).UnixMilli()))
	return append(c, s.challengeMAC(c, to, session)...)
}

func (s *Service) challengeMAC(c []byte, to purpose, session string) []byte {
	return s.keyedHash("wayside passkey challenge\x00" + string(rune(to)) + string(c[:nonceBytes+expiryBytes]) + session)
}

// verifyChallenge reports whether text is an unexpired challenge of this service for the purpose and session. The store
// checks whether it was answered before.
func (s *Service) verifyChallenge(text string, to purpose, session string) (mapdata.Challenge, bool) {
	c, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(c) != challengeBytes || !hmac.Equal(c[nonceBytes+expiryBytes:], s.challengeMAC(c, to, session)) {
		return mapdata.Challenge{}, false
	}
	end := time.UnixMilli(int64(binary.BigEndian.Uint64(c[nonceBytes:]))).UTC() //nolint:gosec // authenticated by the MAC
	hash := sha256.Sum256(c)
	return mapdata.Challenge{Hash: hash[:], ExpiresAt: end}, s.now().Before(end)
}
