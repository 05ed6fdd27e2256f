// Package valkey connects nodes to the cache that they share: Valkey, or Redis from version 6 on. A Conn stores small values for a
// while, as live.Driver requires, runs scripts, and sends messages from node to node.
//
// The cache may be unreachable, hang, be slow or lose its data at any time, and the service must go on: a Conn pings the server
// four times a second, and while there is no answer, every call fails immediately.
package valkey
