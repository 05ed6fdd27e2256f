// Package feeds is the district of what others send: feeds, the sources that fetch or receive them, and their formats.
// It may know entities, roads and the ground.
// This package itself is empty: each folder below it is a package.
package feeds
