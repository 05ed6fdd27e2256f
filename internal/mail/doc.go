// Package mail sends the letters that wait in the outbox (D11.7): by SMTP, or as .eml files where no server is named.
//
// Whoever stores a letter does so in the transaction of what it tells about, and pokes the Sender; a Sender leases what is
// due, so that several nodes share one outbox. Texts are made here when a letter leaves: a draft of paragraphs, in the
// words of the reader's language, is written out twice, as plain text and as HTML, which therefore always say the same.
// Values come from strangers: they are cleaned, escaped, and kept from ordering their surroundings.
//
// A letter that fails is tried again with growing waits for three days (one with a sign-in link until the link is dead),
// and given up with a line in the log. A letter is lost in no case. It is doubled only when the process dies, or is cut
// off from the database until then, between the server's word and the outbox's; its Message-ID is then the same.
package mail
