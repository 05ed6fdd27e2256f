// Package tileserver serves the operator's base map over HTTP: tiles, the whole archive by range requests, its style by day
// and by night, and TileJSON.
package tileserver
