// Package http is the district of HTTP: the API, the pages for people, and the server below both. It may know people, drive, feeds,
// entities, roads, nodes and the ground; the store only by the ports of the use cases.
// This package itself is empty: each folder below it is a package.
package http
