// Package forward passes requests from one node of a service to another one that holds the requested drive: a drive lives in the
// memory of one node, and a proxy sends its driver to any.
//
// Nodes connect to each other at the public address. A node opens a connection there by an HTTP upgrade with a proof that is made
// with the nodes' secret key; both ends then speak TLS, each with a certificate that only the holder of that key can make, and
// HTTP/2 within. A few connections transmit all requests and streams between two nodes. Requests of other nodes are never forwarded
// again.
package forward
