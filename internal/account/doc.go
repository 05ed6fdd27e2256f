// Package account is how people sign in, and what they may do: accounts, sessions, sign-in by mailed link or code, API
// tokens (D11). There are no passwords: whoever reads the letter is the account's holder, and an account begins with the
// first letter that was answered, so that asking for one tells nobody which addresses are known.
package account
