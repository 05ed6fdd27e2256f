// Package geocode finds places, streets, house numbers, points of interest, postcodes and crossings of streets by name,
// and everything near a position (D15.20).
//
// Build makes an index of extracts and their road network: arrays of plain values, which lie in a mapped region file.
// Everything that can be found is a document: first the features (places, boundaries, points of interest, postcodes),
// then the streets. The words of all their names are a sorted list, each with the ascending list of its documents. House
// numbers are not documents but belong to streets.
//
// For each word of the query, a search marks in bitmaps the documents that have the word, that have a word that begins
// with it (for the last word, which may be unfinished), or that have one with one typo. A document is found when each
// word of the query is in its own name, in the name of something that it lies in (city, district, postcode …), or is a
// house number of it. Results are ranked by how well the words fit, by distance from the caller's position, and by
// importance.
//
// Names are compared without case, accents, punctuation and order of words.
package geocode
