// Package basemap reads and writes the operator's base map: a PMTiles v3 archive, which is one file with all tiles of a
// map in it. It also makes the style in which such a map is drawn, by day and by night.
//
// An archive comes from somewhere else, so nothing in it is believed: sizes are bounded before anything is allocated,
// offsets are held to the file, and directories lead at most four deep.
package basemap
