// Package cluster tells other nodes what only one of them sees: where an upstream's answer moved live pins, so that streams at
// every node look there, and how calls of upstreams end. What the store holds is not told here: its changes reach every node
// by themselves.
//
// A message that is lost does no harm: after a break, and after one that could not be told, everything may have moved.
package cluster
