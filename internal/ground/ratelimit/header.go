package ratelimit

import (
	"strconv"
	"time"
)

// Header fields of draft-ietf-httpapi-ratelimit-headers, as http.Header spells them.
const (
	PolicyHeader = "Ratelimit-Policy"
	StateHeader  = "Ratelimit"
)

// AppendPolicy appends the value of RateLimit-Policy: `"default";q=60;w=60`. It allocates nothing when dst has room. Without a
// limit it appends nothing, and the caller leaves the field out.
func AppendPolicy(dst []byte, limit Limit) []byte {
	if limit.Count <= 0 {
		return dst
	}
	dst = append(dst, `"default";q=`...)
	dst = strconv.AppendInt(dst, int64(limit.Count), 10)
	dst = append(dst, ";w="...)
	return strconv.AppendInt(dst, int64(limit.Per/time.Second), 10)
}

// AppendState appends the value of RateLimit: `"default";r=59;t=1`, the remaining units and in how many seconds the bucket is full
// again. It appends nothing if there is no limit.
func AppendState(dst []byte, d Decision) []byte {
	if d.Remaining == Unlimited {
		return dst
	}
	dst = append(dst, `"default";r=`...)
	dst = strconv.AppendInt(dst, int64(d.Remaining), 10)
	dst = append(dst, ";t="...)
	return strconv.AppendInt(dst, ceilSeconds(d.Reset), 10)
}
