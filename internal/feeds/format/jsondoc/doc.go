// Package jsondoc reads JSON documents of strangers as streams. The document around the items is read token by token;
// an item is read whole, as a tree in memory that the next item reuses. Depth, the bytes of an item, and thereby
// memory, are bounded before anything is kept.
//
// The reader is strict: a duplicate member, invalid UTF-8, and anything else that RFC 8259 or I-JSON forbid make the
// whole document bad. An error in the meaning of an item concerns that item alone.
package jsondoc
