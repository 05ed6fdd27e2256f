// Package forward carries requests from one node of a service to another, which knows what is asked for: a led drive lives in the
// memory of one node, and a proxy sends its driver to any.
//
// Nodes talk at the address at which they answer everybody. One opens a connection there by an HTTP upgrade that it proves with the
// nodes' secret key; both ends then speak TLS, each with a certificate that only that key makes, and HTTP/2 within. A few connections
// bear all requests and streams between two nodes. What comes in by them is never forwarded again.
package forward
