package response

import (
	"strconv"
	"strings"

	"github.com/zeebo/xxh3"
)

// ETag returns the weak entity tag of a body.
func ETag(body []byte) string {
	var tag [24]byte
	etag := strconv.AppendUint(append(tag[:0], `W/"`...), xxh3.Hash(body), 36)
	return string(append(etag, '"'))
}

// MatchesETag reports whether an If-None-Match header names the tag (RFC 9110, 13.1.2: weak comparison).
func MatchesETag(ifNoneMatch []string, etag string) bool {
	want := strings.TrimPrefix(etag, "W/")
	for _, line := range ifNoneMatch {
		for tag := range strings.SplitSeq(line, ",") {
			tag = strings.TrimSpace(tag)
			if tag == "*" || strings.TrimPrefix(tag, "W/") == want {
				return true
			}
		}
	}
	return false
}
