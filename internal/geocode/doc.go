// Package geocode finds places, streets, house numbers, points of interest, postcodes and crossings of streets by their names, and what is
// near a position (D15.20).
//
// Build makes an index of extracts and their road network: arrays of plain values, which lie in a mapped region file. Everything that can
// be found is a document: first the features (places, boundaries, points of interest, postcodes), then the streets. The words of all their
// names are a sorted list, each with the ascending list of the documents that have it. House numbers are no documents: they belong to
// streets.
//
// A search marks, for each word of the query, the documents that have it, that begin with it (the last word alone: who types has not
// finished it) or that are one typo away, in bitmaps. A document is found when each word of the query is in its own name, in that of what
// it lies in (city, district, postcode …), or is a house number of it. What is found is ranked by how well the words fit, by distance
// from where the caller is, and by importance.
//
// Names are compared without case, accents, punctuation and order of words.
package geocode
