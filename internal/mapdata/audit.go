package mapdata

import (
	"context"
	"slices"
	"time"
)

// AuditEntry records a curator's decision, a change of a secret or what else moves who may do and show what (D11.8). It
// holds neither addresses of clients nor positions. A store writes it in the transaction of what it tells of.
type AuditEntry struct {
	At      time.Time
	Actor   AccountID // zero: the operator or the service itself, as Via says
	Via     Via
	Action  string    // one of the actions below, or passkey.… of those who add them
	Subject string    // id of what was acted on
	Owner   AccountID // whose thing it was; zero: the actor's, or not known
	Note    string
	// Reviewed is what a feed said when it was decided on; nil: the entry is about something else, or the feed is gone.
	Reviewed *Reviewed
}

// Actions of the audit log.
const (
	AuditFeedRegister    = "feed.register"
	AuditFeedEdit        = "feed.edit" // the note names the fields that changed
	AuditFeedURL         = "feed.url"  // the note holds both origins; the rest of a URL may be a secret
	AuditFeedPause       = "feed.pause"
	AuditFeedResume      = "feed.resume"
	AuditFeedDeactivate  = "feed.deactivate" // by the service, after too many failures
	AuditFeedRotate      = "feed.rotate_token"
	AuditFeedHeader      = "feed.auth_header"
	AuditFeedDelete      = "feed.delete"
	AuditFeedReviewAgain = "feed.review_again" // an edit put it back to pending (D5.5, D5.7)
	AuditFeedApprove     = "feed.approve"
	AuditFeedReject      = "feed.reject"
	AuditAccountRole     = "account.role"
	AuditAccountTier     = "account.tier"
	AuditAccountDelete   = "account.delete"
	AuditTokenCreate     = "api_token.create"
	AuditTokenDelete     = "api_token.delete"
)

// AuditKept is how long an entry is kept. What a feed said when it was decided on stays for as long as the feed.
const AuditKept = 2 * 365 * 24 * time.Hour

// AuditDecisions are the actions that say what became of a feed's review.
func AuditDecisions() []string {
	return []string{AuditFeedApprove, AuditFeedReject, AuditFeedReviewAgain}
}

// AuditRecord is an entry as it is read again.
type AuditRecord struct {
	ID int64 // rises with each entry
	AuditEntry
	ActorEmail string // empty: there is no such account any more, or none acted
	Named      string // what the subject is called now: a feed's name, an account's address; empty: it is gone
}

// AuditQuery selects entries.
type AuditQuery struct {
	Actions []string  // nil: all
	Subject string    // id; empty: all
	Account AccountID // who did it, or whose thing it was; zero: everybody
	Before  int64     // ids below this one; 0: from the newest
	Limit   int       // at most so many, newest first
}

// Via is the door through which something was done.
type Via string

// The doors.
const (
	ViaPage        Via = "page"
	ViaAPI         Via = "api"
	ViaCommandLine Via = "command_line"
	ViaService     Via = "service" // by itself
)

type viaKey struct{}

// Through says in a context through which door its request came; the audit log is told.
func Through(ctx context.Context, via Via) context.Context {
	return context.WithValue(ctx, viaKey{}, via)
}

// ViaOf is the door of a context; empty: nobody said.
func ViaOf(ctx context.Context) Via {
	via, _ := ctx.Value(viaKey{}).(Via)
	return via
}

// Reviewed is what curators judge of a feed, and what an approval is tied to.
type Reviewed struct {
	Name        string
	Description string
	Attribution string
	Licence     string
	SpecURL     string
	Direction   Direction
	Visibility  Visibility
	LayerName   string
	PullURL     string
}

// Reviewed gives what curators judge of the feed.
func (f *Feed) Reviewed() Reviewed {
	return Reviewed{f.Name, f.Description, f.Attribution, f.Licence, f.SpecURL, f.Direction, f.Visibility, f.Layer.Name, f.PullURL}
}

// ReviewedField is one of those fields, under the name that the API has for it.
type ReviewedField struct{ Name, Value string }

// Fields gives the fields in the order in which people are shown them.
func (r *Reviewed) Fields() []ReviewedField {
	return []ReviewedField{
		{"name", r.Name},
		{"description", r.Description},
		{"attribution", r.Attribution},
		{"licence", r.Licence},
		{"pull_url", r.PullURL},
		{"direction", string(r.Direction)},
		{"visibility", string(r.Visibility)},
		{"layer_name", r.LayerName},
		{"spec_url", r.SpecURL},
	}
}

// FieldChange is a field that differs.
type FieldChange struct{ Field, Was, Is string }

// Since lists what differs from an earlier state, in the order of Fields.
func (r *Reviewed) Since(earlier *Reviewed) []FieldChange {
	var all []FieldChange
	was := earlier.Fields()
	for i, now := range r.Fields() {
		if was[i].Value != now.Value {
			all = append(all, FieldChange{now.Name, was[i].Value, now.Value})
		}
	}
	return all
}

// PendingFeed is a feed that waits for a curator.
type PendingFeed struct {
	Feed
	OwnerEmail string
	Since      time.Time // when it was registered, or put back to pending
}

// ChangedError refuses a decision about something that is no longer what was looked at. It is an ErrConflict.
type ChangedError struct {
	Fields []FieldError // what is otherwise now, and how it is
}

func (e *ChangedError) Error() string {
	return "What was decided on has changed since it was looked at. Look at it as it is now, then decide again."
}

// Unwrap says of which kind it is.
func (e *ChangedError) Unwrap() error { return ErrConflict }

// SortPending puts those that wait longest first.
func SortPending(all []PendingFeed) {
	slices.SortStableFunc(all, func(a, b PendingFeed) int { return a.Since.Compare(b.Since) })
}
