// Package valkey is the connection to the cache that nodes share: Valkey, or Redis from 6 on. A Conn keeps small values
// for a while, as live.Driver says, runs scripts, and carries messages from node to node.
//
// The cache may be away, hang, be slow or lose its data at any time, and the service must go on: a Conn pings the server
// four times a second, and while there is no answer, every call fails immediately.
package valkey
