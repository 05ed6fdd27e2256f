// Package jsondoc reads JSON documents of strangers as streams. What encloses the items is read token by token; an item is read whole, as
// a tree in memory that the next one uses again. Depth, the bytes of an item, and thereby memory, are bounded before anything is kept.
//
// It is strict: a member that stands twice, text that is no UTF-8, and whatever else RFC 8259 or I-JSON forbid make the whole document
// bad. What is wrong with the meaning of an item concerns that item alone.
package jsondoc
