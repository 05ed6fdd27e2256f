package httpserver

// The answers with a status above 499 that package net/http itself writes to a header that it cannot read.
const (
	plainClose      = "Content-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n"
	unknownCoding   = "HTTP/1.1 501 Not Implemented\r\n" + plainClose + "Unsupported transfer encoding"
	unknownVersion  = "HTTP/1.1 505 HTTP Version Not Supported: unsupported protocol version\r\n" + plainClose + "505 HTTP Version Not Supported: unsupported protocol version"
	codingRefused   = "HTTP/1.1 400 Bad Request\r\n" + plainClose + "400 Bad Request: unsupported transfer encoding"
	protocolRefused = "HTTP/1.1 400 Bad Request\r\n" + plainClose + "400 Bad Request: unsupported protocol version"
)

// writeUnasked writes while no handler runs: the rest of an answer, or the answer of net/http to a header that it cannot read. To
// unknown transfer codings and versions of HTTP, net/http answers 501 and 505, as RFC 9110 suggests. These faults are the client's,
// and a stranger must not raise an operator's alarm on answers of 500 and more, so that writeUnasked replaces them by 400.
func (c *boundedConn) writeUnasked(p []byte) (int, error) {
	switch string(p) {
	case unknownCoding:
		return c.writeInstead(codingRefused, len(p))
	case unknownVersion:
		return c.writeInstead(protocolRefused, len(p))
	}
	return c.coalescingConn.Write(p)
}

// writeInstead sends a text in place of another one of length n.
func (c *boundedConn) writeInstead(text string, n int) (int, error) {
	if _, err := c.coalescingConn.Write([]byte(text)); err != nil {
		return 0, err
	}
	return n, nil
}
