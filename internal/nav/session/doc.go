// Package session leads drivers along a route for as long as they drive (D15.21): it knows how far each is, and tells when the rest of
// the way is closed, when another way has become better, and when the arrival moves. Sessions live in the memory of one node. A
// session's id is all that is needed to use it; nothing of it is logged or stored.
//
// A session costs nothing but its memory while nothing is asked of it, and has no goroutine then. It is judged by a few workers of the
// hub if a client reads its events, and only after the conditions or the driver's place have changed.
package session
