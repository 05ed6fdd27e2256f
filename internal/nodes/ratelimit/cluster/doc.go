// Package cluster keeps the buckets of rate limits together with other nodes, in the cache that they share (D12.7).
//
// A read takes ten microseconds and a call of the cache a hundred, so that a node decides by its own count, and settles with the
// others four times a second. The units that it may have granted without confirmation of the cache are bounded: an eighth of the
// limit for each caller. A caller who asks for more in one request waits for the cache, a few milliseconds at most. So all nodes
// together never grant more than the limit and an eighth of it for each node.
//
// A cache that is unreachable or slow delays no request: each node decides by its own count, and settles when the cache is back.
package cluster
