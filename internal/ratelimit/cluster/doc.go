// Package cluster keeps the buckets of rate limits together with other nodes, in the cache that they share (D12.7).
//
// A read takes ten microseconds and a word with the cache a hundred: so a node decides by what it knows itself, and settles
// with the others four times a second. What it may have granted that they do not know of is bounded: an eighth of the limit
// for each caller. Who asks for more than that at once waits for the cache, a few milliseconds at most. All nodes together
// so never grant more than the limit and an eighth of it for each node.
//
// A cache that is gone or slow delays nobody: each node goes on by what it knows alone, and tells when the cache is back.
package cluster
