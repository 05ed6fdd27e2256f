// Package cluster broadcasts events to other nodes that only one node sees: where an upstream's answer moved live pins, so that
// streams at every node read again there, and the outcomes of calls of upstreams. Changes of the store are not broadcast, because
// every node reads them from the store's log.
//
// A lost message does no harm: after a break, and after a message that could not be sent, every place counts as moved.
package cluster
