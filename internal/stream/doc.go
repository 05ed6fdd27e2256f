// Package stream tells those who watch a part of the map when to look at it again. A Hub knows the circles that are
// watched and is told what was touched; it wakes the streams that are concerned, and nobody else. A Stream looks when it
// was woken, when something expires that its client has, and now and then; Sent remembers what the client has, so that a
// look yields the difference alone. The package neither reads entities nor writes to clients: its callers do.
package stream
