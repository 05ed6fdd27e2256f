// Package feed is what account holders, curators and operators do with feeds: register, list, edit, rotate, review and
// delete them (D5). Every bad field is told at once. What is told beside a change (the audit log, letters) is stored in
// the change's own transaction.
package feed
