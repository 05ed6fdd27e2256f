// Package index finds the entities near a place, from memory.
//
// Entities lie in the cells of a geo.Grid, so that a search touches a few cells whatever the latitude. A cell is an array of unit vectors
// with references: comparing squared chords needs no trigonometry and has the same order as metres. The other data of an entity lie in
// segments: fixed arrays of slots beside one large piece of text, so that a million entities are a few hundred objects to the garbage
// collector.
//
// Readers never lock. A version (bands, segments, feeds) is immutable once published. One writer builds the next version beside it, by a
// change (Stage) or from nothing (Load), and publishes it with one atomic store. Three things are updated in place, atomically, because
// they change often and no answer depends on the exact moment: when an entity was last seen, when a feed's last snapshot was, and the votes
// on an entity.
package index
