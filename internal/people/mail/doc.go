// Package mail sends the e-mails in the outbox (D11.7): by SMTP, or as .eml files if no server is configured.
//
// An e-mail is stored in the same transaction as the change that it reports, and the Sender is notified. A Sender leases
// the e-mails that are due, so that several nodes share one outbox. An e-mail is rendered when it is sent: a list of
// paragraphs in the reader's language is rendered as plain text and as HTML, which therefore have the same content. Values
// come from users: they are cleaned, escaped, and isolated from the text direction around them.
//
// An e-mail that fails is retried with exponential backoff for three days (one with a sign-in link until the link expires),
// then it is dropped and logged. Delivery is at least once: an e-mail is sent twice only if the process dies between the
// server's acceptance and the update of the outbox, or loses the database until it dies. Both copies have the same
// Message-ID.
package mail
