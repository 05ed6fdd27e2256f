// Package nodes is the district of what nodes of one service share: the cache, messages about live pins, buckets of rates and requests
// that are carried to the node that leads a driver. It may know only the ground. This package itself is empty: each folder below it
// is a package.
package nodes
