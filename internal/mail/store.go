package mail

import (
	"context"
	"time"

	"wayside/internal/mapdata"
)

// Outbox is the queue of e-mails.
type Outbox interface {
	// DueLetters leases at most limit e-mails that are due at now until the given time, with their addresses resolved, and
	// with the language of the account with that address, if it has chosen one, else the e-mail's own.
	DueLetters(ctx context.Context, now, until time.Time, limit int) ([]mapdata.Letter, error)
	// LetterSent removes an e-mail.
	LetterSent(ctx context.Context, id int64) error
	// LetterFailed puts an e-mail back until due, with its number of tries.
	LetterFailed(ctx context.Context, id int64, tries int, due time.Time) error
}
