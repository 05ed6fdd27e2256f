package account

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"time"

	"wayside/internal/mapdata"
)

// challengeLife is how long a person may take.
const challengeLife = 5 * time.Minute

// purpose is what an answer to a challenge may be used for.
type purpose byte

const (
	toSignIn purpose = iota + 1
	toRegister
	toConfirm
)

// A challenge says itself until when it is good, and proves with the server's key that it is ours, for which purpose and
// for which session: 16 random bytes, milliseconds since 1970, HMAC-SHA-256. So nothing is stored of those that nobody
// answers, and every node knows those of all.
const (
	nonceBytes     = 16
	endBytes       = 8
	challengeBytes = nonceBytes + endBytes + sha256.Size
)

// newChallenge makes a challenge; session is whose page asks for it, empty for a guest.
func (s *Service) newChallenge(to purpose, session string) []byte {
	c := make([]byte, nonceBytes+endBytes, challengeBytes)
	_, _ = rand.Read(c[:nonceBytes]) // never fails
	binary.BigEndian.PutUint64(c[nonceBytes:], uint64(s.now().Add(challengeLife).UnixMilli()))
	return append(c, s.challengeProof(c, to, session)...)
}

func (s *Service) challengeProof(c []byte, to purpose, session string) []byte {
	return s.keyed("wayside passkey challenge\x00" + string(rune(to)) + string(c[:nonceBytes+endBytes]) + session)
}

// readChallenge says whether an answer was to a challenge of ours that is still good for this purpose and session. Whether
// it was answered before, the store says.
func (s *Service) readChallenge(text string, to purpose, session string) (mapdata.Challenge, bool) {
	c, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(c) != challengeBytes || !hmac.Equal(c[nonceBytes+endBytes:], s.challengeProof(c, to, session)) {
		return mapdata.Challenge{}, false
	}
	end := time.UnixMilli(int64(binary.BigEndian.Uint64(c[nonceBytes:]))).UTC() //nolint:gosec // it is ours
	hash := sha256.Sum256(c)
	return mapdata.Challenge{Hash: hash[:], ExpiresAt: end}, s.now().Before(end)
}
