// Package entities is the district of what readers see: the index, the catalogue, live incidents, votes, the query and its answer,
// and streams of them. It may know only the ground.
// This package itself is empty: each folder below it is a package.
package entities
