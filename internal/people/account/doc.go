// Package account implements accounts, roles, sessions, sign-in by e-mailed link or code, passkeys, pairing and API tokens
// (D11). There are no passwords: control of the mailbox proves ownership. An account is created by the first completed
// sign-in, so that requesting one does not reveal which addresses have accounts.
package account
