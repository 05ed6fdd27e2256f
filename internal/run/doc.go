// Package run is the district of the running program: commands, configuration, the data directory, and the composition of all parts
// to a service. It may know every other district, and none may know it.
// This package itself is empty: each folder below it is a package.
package run
