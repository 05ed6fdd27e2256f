// Package ahead looks along the roads for what lies before a driver (D15.22): along the route of a session, or along the most probable
// way, straight on and on the more important road, by forks until a way has become improbable. It knows roads, places and pins, and
// nothing of who asks: what it learns of a drive from one answer to the next is in a token that the client sends back.
package ahead
