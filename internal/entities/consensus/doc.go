// Package consensus applies drivers' votes and the merging of sources to the results of a read.
//
// A Resolver makes one pin of the reports of several sources about one event. Every read that includes incidents goes
// through Resolve, the one place where suppression (D9.5) and merging (D10) follow each other. MergeFeeds does the same
// for reads of feeds alone, whose suppressed entities the index leaves out.
//
// Merging is exact whatever the density: nearest pairs first, over all pairs (D10.2). A grid over the unit sphere finds
// the pairs, so that neither the antimeridian nor the poles are special cases. Where very many entities lie in one
// place, their pairs are taken in batches, the nearest batch first, so that memory stays bounded.
package consensus
