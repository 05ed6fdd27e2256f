package session

import "time"

// Moved is the name of the last event of a stream whose node stops.
const Moved = "moved"

// Event is a message to the client.
type Event struct {
	Name      string // route, reroute, eta, condition, moved
	Reason    string
	EntityIDs []string
	Route     []byte // JSON; nil if the route did not change
	Left      time.Duration
	At        time.Time
}
