package mail

import (
	"context"
	"time"

	"wayside/internal/ground/mapdata"
)

// Outbox is the queue of e-mails.
type Outbox interface {
	// DueEmails leases at most limit e-mails that are due at now until the given time, with their addresses resolved, and
	// with the language of the account with that address, if it has chosen one, else the e-mail's own.
	DueEmails(ctx context.Context, now, until time.Time, limit int) ([]mapdata.Email, error)
	// EmailSent removes an e-mail.
	EmailSent(ctx context.Context, id int64) error
	// EmailFailed puts an e-mail back until due, with its number of tries.
	EmailFailed(ctx context.Context, id int64, tries int, due time.Time) error
}
