// Package basemap reads and writes the operator's base map: a PMTiles v3 archive, which is one file with all tiles of a
// map. It also generates MapLibre styles for such a map, by day and by night.
//
// An archive is untrusted input: sizes are limited before memory is allocated, offsets are checked against the size of
// the file, and directories are followed at most four levels deep.
package basemap
