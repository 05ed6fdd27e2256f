package mapdata

import "time"

// EmailKind is the subject of an e-mail (D11.7).
type EmailKind string

// The e-mails that the service sends.
const (
	EmailSignIn      EmailKind = "sign_in"
	EmailApproved    EmailKind = "feed_approved"
	EmailRejected    EmailKind = "feed_rejected"
	EmailDeactivated EmailKind = "feed_deactivated"
	EmailShrank      EmailKind = "feed_shrank"

	EmailChangeRejected EmailKind = "feed_change_rejected" // of a feed that stays approved (D5.5)

	// EmailNotice is a message of the operator to all owners of feeds (Versioning 2).
	EmailNotice EmailKind = "notice"
	// Feeds wait for review (for curators): the first of them, a daily digest, and those that have waited for 20 hours.
	EmailReviewWaiting  EmailKind = "review_waiting"
	EmailReviewDigest   EmailKind = "review_digest"
	EmailReviewReminder EmailKind = "review_reminder"

	// A feed is in trouble (for its owner): sent once until the feed is well again.
	EmailSilent     EmailKind = "feed_silent"
	EmailRejections EmailKind = "feed_rejections"
	EmailFailing    EmailKind = "feed_failing"

	// Invitations to maintain a feed or to take it over (to an address), and their results.
	EmailInvited           EmailKind = "feed_invited"
	EmailOffered           EmailKind = "feed_offered"
	EmailMaintainerJoined  EmailKind = "feed_maintainer_joined"  // for the owner
	EmailMaintainerLeft    EmailKind = "feed_maintainer_left"    // for the owner
	EmailMaintainerRemoved EmailKind = "feed_maintainer_removed" // for the maintainer
	EmailTransferred       EmailKind = "feed_transferred"        // for the previous owner
	EmailReceived          EmailKind = "feed_received"           // for the new owner

	// Decisions on apps, for their developers.
	EmailAppApproved  EmailKind = "app_approved"
	EmailAppRejected  EmailKind = "app_rejected"
	EmailAppSuspended EmailKind = "app_suspended"
	EmailAppResumed   EmailKind = "app_resumed"

	// A credential was added to the account: its owner is informed, because an attacker may have added it.
	EmailPasskeyAdded EmailKind = "passkey_added"
	EmailTokenMade    EmailKind = "api_token_made"
	EmailScreenPaired EmailKind = "screen_paired"

	// The change of an account's address, to the old and to the new address: each confirms it.
	EmailChangeOld EmailKind = "email_change_old"
	EmailChangeNew EmailKind = "email_change_new"

	// Takedowns, each with its reason.
	EmailPinHidden        EmailKind = "pin_hidden"
	EmailPinShown         EmailKind = "pin_shown"
	EmailFeedPaused       EmailKind = "feed_paused"
	EmailFeedResumed      EmailKind = "feed_resumed"
	EmailFeedRemoved      EmailKind = "feed_removed"
	EmailAccountSuspended EmailKind = "account_suspended"
	EmailAccountResumed   EmailKind = "account_resumed"
)

// EmailWhoID is the key in an e-mail's data of the id of an account that the e-mail names beside the recipient's. An
// unsent e-mail is deleted together with that account (D11.11).
const EmailWhoID = "who_id"

// Email is an e-mail in the outbox. It is stored in the transaction of the event that it is about; its text is
// rendered when it is sent.
type Email struct {
	ID      int64     // assigned by the store
	Account AccountID // the recipient
	Kind    EmailKind
	Data    map[string]string // data of the text, by name: feed_name, feed_id, note, code, token, name, made_id, rows, rows_before, feeds, …
	At      time.Time
	Tries   int       // failed attempts so far
	Due     time.Time // not sent before
	Address string    // if it is not the account's; resolved by the store when the e-mail is due; never logged
	// Language is the language of the request that caused the e-mail. When the e-mail is due, the store replaces it by
	// the language of the recipient's account, if the account has one. Empty: unknown.
	Language Language
}
