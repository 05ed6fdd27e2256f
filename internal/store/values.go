package store

import (
	"fmt"
	"time"

	"wayside/internal/ground/mapdata"
)

// Millis returns the stored form of an instant: NULL for never.
func Millis(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMilli()
}

// instant is a column that contains an instant or NULL.
type instant struct{ time.Time }

// Scan scans milliseconds or NULL.
func (i *instant) Scan(value any) error {
	i.Time = time.Time{}
	switch ms := value.(type) {
	case nil:
	case int64:
		i.Time = time.UnixMilli(ms).UTC()
	default:
		return fmt.Errorf("an instant is stored as %T", value)
	}
	return nil
}

// number is a column that contains an integer or NULL, which becomes 0. Other integers are converted by way of text.
type number int64

// Scan scans an integer or NULL.
func (n *number) Scan(value any) error {
	switch v := value.(type) {
	case nil:
		*n = 0
	case int64:
		*n = number(v)
	default:
		return fmt.Errorf("a number is stored as %T", value)
	}
	return nil
}

// optional returns the stored form of an account's id that may be missing: NULL.
func optional(account mapdata.AccountID) any {
	if account.IsZero() {
		return nil
	}
	return account[:]
}

// Ids are written as their 16 bytes, such as feed[:].

// FeedID is a column that holds a feed's id.
type FeedID struct{ mapdata.FeedID }

// Scan scans an id or NULL.
func (id *FeedID) Scan(value any) (err error) {
	id.FeedID, err = scanUUID[mapdata.FeedID](value, mapdata.ParseFeedID)
	return err
}

// AccountID is a column that holds an account's id or NULL.
type AccountID struct{ mapdata.AccountID }

// Scan scans an id or NULL.
func (id *AccountID) Scan(value any) (err error) {
	id.AccountID, err = scanUUID[mapdata.AccountID](value, mapdata.ParseAccountID)
	return err
}

// scanUUID converts a driver's value of a UUID: its bytes or its text.
func scanUUID[ID ~[16]byte](value any, parse func(string) (ID, bool)) (id ID, err error) {
	switch v := value.(type) {
	case nil:
		return id, nil
	case []byte:
		if len(v) == len(id) {
			return ID(v), nil
		}
	case string:
		if id, ok := parse(v); ok {
			return id, nil
		}
	}
	return id, fmt.Errorf("an id is stored as %T", value)
}

func scanFeedID(r Row) (mapdata.FeedID, error) {
	var id FeedID
	err := r.Scan(&id)
	return id.FeedID, err
}
