// Package stream decides when clients that watch a part of the map get an update. A Hub holds the circles that are watched;
// on a change it wakes the streams whose circle meets it. A Stream updates its client when it is woken, when something
// expires that the client has, and periodically; Sent remembers what the client has, so that an update contains the
// difference alone. The package neither reads entities nor writes to clients: its callers do.
package stream
