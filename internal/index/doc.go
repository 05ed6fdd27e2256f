// Package index answers what is near a place, from memory.
//
// Entities lie in cells of a grid: bands of latitude, each divided into as many columns as keep cells about equally wide,
// so that a search touches a few cells whatever the latitude; longitude wraps and the poles close. A cell is a plain
// array of unit vectors with references: comparing squared chords needs no trigonometry and orders as metres do.
// What an answer needs of an entity lies in segments: fixed arrays of slots beside one large piece of text, so that a
// million entities are some hundred objects to the garbage collector.
//
// Readers never lock. A version (bands, segments, feeds) is immutable once published; the one writer copies the cells
// that a change touches and publishes the next version. Only the time at which an entity was last seen is moved in
// place, atomically: every poll moves it, and nothing depends on which of two moments a reader sees.
package index
