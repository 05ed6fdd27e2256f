package live

import (
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"strconv"
)

// keyRing makes many keys in one piece of memory. It is empty again after keys.
type keyRing struct {
	text []byte
	ends []int
}

func (k *keyRing) addTile(upstream string, id tileID) {
	k.text = append(k.text, "pins/"...)
	k.text = append(k.text, upstream...)
	k.text = append(k.text, '/')
	k.text = strconv.AppendInt(k.text, int64(id.Band), 10)
	k.text = append(k.text, '/')
	k.text = strconv.AppendInt(k.text, int64(id.Column), 10)
	k.ends = append(k.ends, len(k.text))
}

func (k *keyRing) keys() []string {
	text, keys := string(k.text), make([]string, len(k.ends))
	from := 0
	for i, to := range k.ends {
		keys[i], from = text[from:to], to
	}
	k.text, k.ends = k.text[:0], k.ends[:0]
	return keys
}

// escape makes an upstream's name one part of a key, whatever is in it.
func escape(upstream string) string { return url.PathEscape(upstream) }

// locatorKey does not repeat the external id: it is another's word, of any length, and the key need not be read.
func locatorKey(upstream, externalID string) string {
	sum := sha256.Sum256([]byte(escape(upstream) + "/" + externalID)) // an escaped name holds no "/"
	return "at/" + hex.EncodeToString(sum[:16])
}
