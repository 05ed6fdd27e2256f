// Package token is the one form of the secrets that the service hands to programs: a prefix that secret scanners
// recognise, 40 random characters, and a checksum by which a mistyped one is refused without a look-up (D5.1, D11.5).
// Only a token's hash is ever stored.
package token
