// Package live stores the answers of upstreams about live incidents for as long as they are fresh (D8). A Driver stores
// the bytes: in this process's memory, or in a cache that all nodes share.
//
// The globe is divided into tiles, and one value holds the pins of one upstream in one tile: an answer replaces the
// upstream's pins in the requested area (D8.4) and leaves the rest of the tile alone. Neither keys nor values reveal
// the position of a driver (D13.1): they contain only pins, and a tile without pins is not written.
package live
