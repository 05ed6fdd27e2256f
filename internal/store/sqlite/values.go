package sqlite

import (
	"database/sql/driver"
	"time"

	"wayside/internal/mapdata"
)

// millis is how an instant is stored: NULL for never.
func millis(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMilli()
}

// instant is a column that holds an instant or NULL.
type instant struct{ time.Time }

// Scan takes milliseconds or NULL.
func (i *instant) Scan(value any) error {
	i.Time = instantOf(value)
	return nil
}

func instantOf(value driver.Value) time.Time {
	ms, ok := value.(int64)
	if !ok {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// Values of columns that STRICT tables hold to their types; NULL gives zero.

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

// optional is how an id or a name is stored that may be missing: NULL.
func optional(account mapdata.AccountID) any {
	if account.IsZero() {
		return nil
	}
	return account[:]
}

// feedID is a column that holds a feed's id.
type feedID struct{ mapdata.FeedID }

// Scan takes 16 bytes.
func (id *feedID) Scan(value any) error {
	copy(id.FeedID[:], blob(value))
	return nil
}

// accountID is a column that holds an account's id or NULL.
type accountID struct{ mapdata.AccountID }

// Scan takes 16 bytes or NULL.
func (id *accountID) Scan(value any) error {
	id.AccountID = mapdata.AccountID{}
	copy(id.AccountID[:], blob(value))
	return nil
}

// appendStrings appends the elements of a JSON array to dst: each string and a comma. Only what JSON asks for is
// escaped; everything else, which SQLite passes through, stays as it is.
func appendStrings(dst []byte, list []string) []byte {
	for _, s := range list {
		dst = appendString(dst, s)
	}
	return dst
}

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

// jsonArray makes the JSON array of strings that stands for many parameters.
func jsonArray(lists ...[]string) string {
	size := 2
	for _, list := range lists {
		for _, s := range list {
			size += len(s) + len(`"",`)
		}
	}
	dst := append(make([]byte, 0, size), '[')
	for _, list := range lists {
		dst = appendStrings(dst, list)
	}
	if len(dst) > 1 {
		dst = dst[:len(dst)-1]
	}
	return string(append(dst, ']'))
}
