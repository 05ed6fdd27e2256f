package session

// farewell returns the last event of a stream that ends because the node stops, so that the client opens a session at
// another node. It returns nil while the node runs.
func (s *Session) farewell() *Event {
	if !s.hub.isEnded() {
		return nil
	}
	return &Event{Name: Moved, At: s.hub.Now().UTC()}
}
