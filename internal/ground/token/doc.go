// Package token creates and validates the secrets that the service issues to programs: a prefix that secret scanners
// recognise, 40 random characters, and a checksum, so that a mistyped token is rejected without a look-up (D5.1, D11.5).
// Only a token's hash is stored.
package token
