// Package stream decides when clients that watch a part of the map get an update. A Hub registers the watched circles; on a change
// it wakes the streams whose circle the change meets. A Stream updates its client when it is woken, when an entity expires that the
// client has, and periodically; Sent remembers the entities that the client has, so that an update contains only the difference.
// The package neither reads entities nor writes to clients: its callers do.
package stream
