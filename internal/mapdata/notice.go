package mapdata

import (
	"crypto/sha256"
	"encoding/hex"
	"time"
)

// Notice is an e-mail of the operator to all owners of feeds.
type Notice struct {
	Subject string
	Text    string
	At      time.Time
}

// Key identifies the notice by its words, so that nobody gets the same one twice.
func (n *Notice) Key() string {
	sum := sha256.Sum256([]byte(n.Subject + "\x00" + n.Text))
	return hex.EncodeToString(sum[:16])
}

// NoticeResult says who gets a notice.
type NoticeResult struct {
	Owners int // accounts that have a feed
	Queued int // those of them that had not got this notice before
}
