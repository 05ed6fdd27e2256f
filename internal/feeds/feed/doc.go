// Package feed is what account holders, curators and operators do with feeds: register, list, edit, rotate, review and
// delete them (D5). An error lists every invalid field. The audit entries and e-mails of a change are
// stored in the same transaction as the change.
package feed
