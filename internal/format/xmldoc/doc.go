// Package xmldoc reads XML documents of strangers as streams, over encoding/xml. Elements are found by their local names; namespaces and
// prefixes do not count. What encloses the items is passed over; an item is read whole, as a tree in memory that the next one uses again.
//
// encoding/xml gathers a tag with its attributes, and each text, without a bound. So the bytes pass a guard before, which bounds tags and
// texts and refuses document types: no entity but XML's own five is ever resolved.
package xmldoc
