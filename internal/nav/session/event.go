package session

import "time"

// Moved is the name of the last event of a stream whose node stops.
const Moved = "moved"

// Event is something that the client is told.
type Event struct {
	Name      string // route, reroute, eta, condition, moved
	Reason    string
	EntityIDs []string
	Route     []byte // JSON; nil: it is the same
	Left      time.Duration
	At        time.Time
}
