// Package ingest decodes and validates the rows of every provider, by the same rules whether they were pushed, pulled,
// relayed or only checked (D3), compares them with the stored ones, and passes the resulting change to the store.
//
// Decoding is a stream: package jsontext checks the text and divides it into rows; each row, known to be JSON by then,
// is walked once by this package, which judges its members, removes white space and reserved keys from its properties
// and keeps nothing else. Comparing happens before the transaction: a change is made from a state of the feed (Mark),
// and made again when the store refuses it because the feed changed in the meantime.
package ingest
