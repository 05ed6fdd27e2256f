package postgres

import (
	"time"

	"github.com/jackc/pgx/v5/pgtype"

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

// ScanInt64 takes milliseconds or NULL.
func (i *instant) ScanInt64(value pgtype.Int8) error {
	i.Time = time.Time{}
	if value.Valid {
		i.Time = instantOf(value.Int64)
	}
	return nil
}

func instantOf(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

// optional is how an account's id is stored that may be missing: NULL.
func optional(account mapdata.AccountID) any {
	if account.IsZero() {
		return nil
	}
	return account[:]
}

// Ids are written as 16 bytes, such as feed[:].

// feedID is a column that holds a feed's id or NULL.
type feedID struct{ mapdata.FeedID }

// ScanUUID takes an id or NULL.
func (id *feedID) ScanUUID(value pgtype.UUID) error {
	id.FeedID = mapdata.FeedID{}
	if value.Valid {
		id.FeedID = value.Bytes
	}
	return nil
}

// accountID is a column that holds an account's id or NULL.
type accountID struct{ mapdata.AccountID }

// ScanUUID takes an id or NULL.
func (id *accountID) ScanUUID(value pgtype.UUID) error {
	id.AccountID = mapdata.AccountID{}
	if value.Valid {
		id.AccountID = value.Bytes
	}
	return nil
}
