// Package ground is the district that all others stand on: the vocabulary and its rules, geometry, wake-ups, limits, and how this
// program logs, answers and fetches. It knows no other district.
// This package itself is empty: each folder below it is a package.
package ground
