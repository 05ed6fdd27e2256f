// Package valkey is the connection to the cache that nodes share: Valkey, or Redis from 6 on. A Conn keeps small values
// for a while, as live.Driver says, runs scripts, and carries messages from node to node.
//
// The cache may be gone, hang, be slow or be emptied at any time, and nobody may suffer for it: a Conn asks twice a second
// whether the server answers, and while it does not, every call fails at once.
package valkey
