// Package roads is the district of the map: the road network and its searches, the base map, place search, and the region file with
// all of them. It may know only the ground.
// This package itself is empty: each folder below it is a package.
package roads
