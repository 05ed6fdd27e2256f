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

// Key returns an id of the notice derived from its words, so that nobody gets the same one twice.
func (n *Notice) Key() string {
	sum := sha256.Sum256([]byte(n.Subject + "\x00" + n.Text))
	return hex.EncodeToString(sum[:16])
}

// NoticeResult is the number of recipients of a notice.
type NoticeResult struct {
	Owners int // accounts that have a feed
	Queued int // accounts among them that had not received this notice before
}
