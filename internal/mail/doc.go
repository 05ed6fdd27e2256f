// Package mail sends the letters that wait in the outbox (D11.7): by SMTP, or as .eml files where no server is named.
//
// Whoever stores a letter does so in the transaction of what it tells about, and pokes the Sender; a Sender leases what is
// due, so that several nodes share one outbox. Texts are made here, from templates, when a letter leaves. A letter that
// fails is tried again with growing waits for three days (one with a sign-in link until the link is dead), and given up
// with a line in the log. A letter is lost in no case, and doubled only when the process dies between the server's word
// and the outbox's; its Message-ID is then the same.
package mail
