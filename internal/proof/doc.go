// Package proof is the district of what only tests use: the rules of this house, and real servers for tests.
// It knows no other district.
// This package itself is empty: each folder below it is a package.
package proof
