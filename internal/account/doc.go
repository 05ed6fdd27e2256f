// Package account is how people sign in, and what they may do: accounts, sessions, sign-in by mailed link or code, API tokens.
package account
