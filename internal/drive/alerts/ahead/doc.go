// Package ahead looks along the roads for pins ahead of a driver (D15.22): along the route of a session, or along the
// most probable ways, which branch at forks until a branch becomes improbable. It knows roads, places and pins, but no
// users: the state that one answer passes to the next is in a token that the client sends back.
package ahead
