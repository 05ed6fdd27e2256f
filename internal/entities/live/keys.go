package live

import (
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"strconv"

	"wayside/internal/ground/geo"
)

// keyBuilder builds many keys with one allocation. keys empties it.
type keyBuilder struct {
	text []byte
	ends []int
}

func (k *keyBuilder) addTile(upstream string, id geo.Cell) {
	k.text = append(k.text, "pins/"...)
	k.text = append(k.text, upstream...)
	k.text = append(k.text, '/')
	k.text = strconv.AppendInt(k.text, int64(id.Band), 10)
	k.text = append(k.text, '/')
	k.text = strconv.AppendInt(k.text, int64(id.Column), 10)
	k.ends = append(k.ends, len(k.text))
}

func (k *keyBuilder) keys() []string {
	text, keys := string(k.text), make([]string, len(k.ends))
	from := 0
	for i, to := range k.ends {
		keys[i], from = text[from:to], to
	}
	k.text, k.ends = k.text[:0], k.ends[:0]
	return keys
}

// escape returns one path segment for an upstream's name, whatever it contains.
func escape(upstream string) string { return url.PathEscape(upstream) }

// locatorKey returns a key with a hash of the external id, because that is foreign text of any length, and never has to
// be read back.
func locatorKey(upstream, externalID string) string {
	sum := sha256.Sum256([]byte(escape(upstream) + "/" + externalID)) // an escaped name contains no "/"
	return "at/" + hex.EncodeToString(sum[:16])
}
