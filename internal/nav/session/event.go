package session

import "time"

// Event is something that the client is told.
type Event struct {
	Name      string // route, reroute, eta, condition
	Reason    string
	EntityIDs []string
	Route     []byte // JSON; nil: it is the same
	Left      time.Duration
	At        time.Time
}
