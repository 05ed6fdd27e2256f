// Package xmldoc reads XML documents of strangers as streams, with encoding/xml. Elements are found by their local names; namespaces and
// prefixes are ignored. The elements around the items are skipped; an item is read whole, as a tree in memory that the next item reuses.
//
// encoding/xml buffers a tag with its attributes, and each text, without a bound. A guard before it therefore bounds tags and texts, and
// refuses document types: only XML's own five entities are ever resolved.
package xmldoc
