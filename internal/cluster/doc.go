// Package cluster broadcasts to other nodes what only one of them sees: where an upstream's answer moved live pins, so that
// streams at every node read again there, and how calls of upstreams ended. Changes of the store are not broadcast: every node
// reads them from its log.
//
// A lost message does no harm: after a break, and after one that could not be sent, every place counts as moved.
package cluster
