package mapdata

import (
	"context"
	"slices"
	"time"
)

// AuditEntry records a curator's decision, a change of a secret, or another change of what an account may do or publish
// (D11.8). It contains neither clients' addresses nor positions. A store writes it in the transaction of the action.
type AuditEntry struct {
	At      time.Time
	Actor   AccountID // zero: the operator or the service itself, see Via
	Via     Via
	Action  string    // one of the actions below, or of those of passkeys
	Subject string    // id of the entity, feed, account or other subject of the action
	Owner   AccountID // owner of the subject; zero: the actor, or unknown
	Note    string
	// Reviewed is the feed's reviewed content at the time of a decision; nil: the entry is not a decision, or the feed
	// is gone.
	Reviewed *Reviewed
}

// Actions of the audit log.
const (
	AuditFeedRegister    = "feed.register"
	AuditFeedEdit        = "feed.edit" // the note names the fields that changed
	AuditFeedURL         = "feed.url"  // the note contains both origins; the rest of a URL may be a secret
	AuditFeedPause       = "feed.pause"
	AuditFeedResume      = "feed.resume"
	AuditFeedDeactivate  = "feed.deactivate" // by the service, after too many failures
	AuditFeedRotate      = "feed.rotate_token"
	AuditFeedHeader      = "feed.auth_header"
	AuditFeedDelete      = "feed.delete"
	AuditFeedInvite      = "feed.invite"   // the note states for what: maintain, transfer
	AuditFeedUninvite    = "feed.uninvite" // the invitation was withdrawn or declined
	AuditMaintainerJoin  = "feed.maintainer_join"
	AuditMaintainerEnd   = "feed.maintainer_end" // the note states whether the maintainer left or was removed
	AuditFeedTransfer    = "feed.transfer"       // the actor is the receiver, the owner is the previous one
	AuditFeedReviewAgain = "feed.review_again"   // an edit set it back to pending (D5.5, D5.7)
	AuditFeedApprove     = "feed.approve"
	AuditFeedReject      = "feed.reject"
	AuditAccountRole     = "account.role"
	AuditAccountTier     = "account.tier"
	AuditAccountDelete   = "account.delete"
	AuditAccountEmail    = "account.email"    // the note contains neither address
	AuditAccountSignOut  = "account.sign_out" // by an operator
	AuditKeyRotate       = "key.rotate"       // all auth headers are sealed with a new key; without a subject
	AuditTokenCreate     = "api_token.create"
	AuditTokenDelete     = "api_token.delete"
	AuditAccountNotice   = "account.notice" // the operator wrote to an owner of feeds; the note identifies the text

	AuditRegionImport = "region.import" // the note names the extracts; without a subject
	AuditRegionCancel = "region.cancel" // an import was cancelled
	AuditRegionRemove = "region.remove" // the subject is the region's id

	// Apps (D16); the note names the version. The log does not contain what drivers install or set.
	AuditAppSubmit   = "app.submit"
	AuditAppWithdraw = "app.withdraw"
	AuditAppApprove  = "app.approve"
	AuditAppReject   = "app.reject"
	AuditAppSuspend  = "app.suspend"
	AuditAppResume   = "app.resume"

	// Takedowns; the note is the reason.
	AuditPinHide        = "pin.hide" // the subject is the entity's id
	AuditPinShow        = "pin.show"
	AuditCuratorPause   = "feed.curator_pause"
	AuditCuratorResume  = "feed.curator_resume"
	AuditCuratorRemove  = "feed.curator_remove"
	AuditComplaintClose = "complaint.close" // the subject is the source's id
	AuditAccountSuspend = "account.suspend"
	AuditAccountResume  = "account.resume"
)

// AuditKept is the retention of an entry. The reviewed content of a decision is kept as long as the feed.
const AuditKept = 2 * 365 * 24 * time.Hour

// AuditDecisions returns the actions that change a feed's review state.
func AuditDecisions() []string {
	return []string{AuditFeedApprove, AuditFeedReject, AuditFeedReviewAgain}
}

// AuditForCurators returns the actions that curators see: their own.
func AuditForCurators() []string {
	return append(AuditDecisions(), AuditPinHide, AuditPinShow, AuditCuratorPause, AuditCuratorResume, AuditCuratorRemove, AuditComplaintClose,
		AuditAppApprove, AuditAppReject, AuditAppSuspend, AuditAppResume)
}

// AuditRecord is a stored entry.
type AuditRecord struct {
	ID int64 // increases with each entry
	AuditEntry
	ActorEmail string // empty: the account was deleted, or there is no actor
	Named      string // current name of the subject: a feed's name, an account's address; empty: it was deleted
}

// AuditQuery selects entries.
type AuditQuery struct {
	Actions []string  // nil: all
	Subject string    // id; empty: all
	Account AccountID // the actor or the subject's owner; zero: everybody
	Before  int64     // only smaller ids; 0: from the newest
	Limit   int       // maximum number of entries, newest first
}

// Via is the interface through which an action was requested.
type Via string

// The interfaces.
const (
	ViaPage        Via = "page"
	ViaAPI         Via = "api"
	ViaCommandLine Via = "command_line"
	ViaService     Via = "service" // by the service itself
)

type viaKey struct{}

// WithVia returns a context with the interface of its request, for the audit log.
func WithVia(ctx context.Context, via Via) context.Context {
	return context.WithValue(ctx, viaKey{}, via)
}

// ViaOf returns the interface in a context, or an empty value if there is none.
func ViaOf(ctx context.Context) Via {
	via, _ := ctx.Value(viaKey{}).(Via)
	return via
}

// Reviewed is the content of a feed that curators review, and to which an approval applies.
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
	Bridge      Bridge
}

// Reviewed returns the feed's current reviewed content, including words that wait for a review.
func (f *Feed) Reviewed() Reviewed {
	f = f.Edited()
	return Reviewed{f.Name, f.Description, f.Attribution, f.Licence, f.SpecURL, f.Direction, f.Visibility, f.Layer.Name, f.PullURL, f.Bridge}
}

// ReviewedField is one of these fields, with its name in the API.
type ReviewedField struct{ Name, Value string }

// Fields returns the fields in the order of the pages.
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
		{"format", r.Bridge.FormatName()},
		{"mapping", r.Bridge.Mapping},
		{"status_url", r.Bridge.StatusURL},
		{"time_zone", r.Bridge.TimeZone},
		{"charger_network", r.Bridge.ChargerNetwork},
	}
}

// FieldChange is a changed field.
type FieldChange struct{ Field, Was, Is string }

// Since returns the fields that differ from an earlier state, in the order of Fields.
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

// PendingFeed is a feed in the review queue.
type PendingFeed struct {
	Feed
	OwnerEmail string
	Since      time.Time // when the feed was registered, or set back to pending
}

// ChangedError refuses a decision about content that has changed since it was shown. It is an ErrConflict.
type ChangedError struct {
	Fields []FieldError // the changed fields with their current values
}

func (e *ChangedError) Error() string {
	return "What was decided on has changed since it was looked at. Look at it as it is now, then decide again."
}

// Unwrap returns ErrConflict.
func (e *ChangedError) Unwrap() error { return ErrConflict }

// SortPending sorts by waiting time, longest first.
func SortPending(all []PendingFeed) {
	slices.SortStableFunc(all, func(a, b PendingFeed) int { return a.Since.Compare(b.Since) })
}
