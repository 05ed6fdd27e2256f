package sqlite

import (
	"database/sql/driver"
	"time"
)

func instantOf(value driver.Value) time.Time {
	ms, ok := value.(int64)
	if !ok {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// Decoders of columns whose types STRICT tables enforce; NULL becomes zero.

func integer(value driver.Value) int64 {
	n, _ := value.(int64)
	return n
}

func real(value driver.Value) float64 {
	f, _ := value.(float64)
	return f
}

func text(value driver.Value) string {
	s, _ := value.(string)
	return s
}

func blob(value driver.Value) []byte {
	b, _ := value.([]byte)
	return b
}

// appendString appends an element of a JSON array to dst: the string and a comma. It escapes only the characters that
// JSON requires; all others, which SQLite accepts, stay unchanged.
func appendString(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	from := 0
	for i := range len(s) {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[from:i]...)
		from = i + 1
		if c < ' ' {
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		} else {
			dst = append(dst, '\\', c)
		}
	}
	dst = append(dst, s[from:]...)
	return append(dst, '"', ',')
}

// jsonArray returns the JSON array of strings for a list parameter.
func jsonArray(list []string) string {
	size := 2
	for _, s := range list {
		size += len(s) + len(`"",`)
	}
	dst := append(make([]byte, 0, size), '[')
	for _, s := range list {
		dst = appendString(dst, s)
	}
	if len(dst) > 1 {
		dst = dst[:len(dst)-1]
	}
	return string(append(dst, ']'))
}
