// Package live holds the answers of upstreams about live incidents for as long as they are fresh (D8). A Driver stores the
// bytes: in this process's memory, or in a cache that all nodes share.
//
// The globe is divided into tiles, and one value holds the pins of one upstream in one tile: an answer replaces what that
// upstream said of the area asked (D8.4) and leaves the rest of the tile alone. Neither a key nor a value says where a
// driver is (D13.1): they speak of pins, and a tile without pins is not written.
package live
