// Package consensus puts drivers' votes and the merging of sources into effect on what a read found.
//
// A Resolver makes one pin of what several sources say of one event. Every read that includes incidents goes through
// Resolve, the one place where suppression (D9.5) and merging (D10) follow each other. MergeFeeds does the same for reads of
// feeds alone, whose suppressed entities the index leaves out.
//
// Merging is exact whatever the density: nearest pairs first, over all pairs (D10.2). A grid over the unit sphere finds
// the pairs, so that there is neither an antimeridian nor a pole to think of. Where very many entities lie in one place,
// their pairs are taken in batches, the nearest batch first, so that memory stays bounded.
package consensus
