package mail

import (
	"context"
	"time"

	"wayside/internal/mapdata"
)

// Outbox is where letters wait.
type Outbox interface {
	// DueLetters leases at most limit letters that are due at now until the given time, with their addresses resolved, and
	// with the language of the account that has the address, if it has chosen one, else the letter's own.
	DueLetters(ctx context.Context, now, until time.Time, limit int) ([]mapdata.Letter, error)
	// LetterSent removes a letter.
	LetterSent(ctx context.Context, id int64) error
	// LetterFailed puts a letter back until due, with its number of tries.
	LetterFailed(ctx context.Context, id int64, tries int, due time.Time) error
}
