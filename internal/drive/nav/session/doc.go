// Package session leads drivers along a route while they drive (D15.21): it tracks how far each driver has come, and
// reports when the rest of the route is closed, when another route has become better, and when the arrival time changes.
// Sessions live in the memory of one node. A session's id is all that a client needs to use it; nothing of it is logged
// or stored.
//
// An idle session costs only memory and has no goroutine. A few workers of the hub judge a session while a client reads
// its events, and only after the conditions or the driver's position changed.
package session
