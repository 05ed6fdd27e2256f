package session

// farewell returns the last event of a stream that ends because the node stops: its driver begins a session at another node. nil: the
// session goes on, or is over for another reason.
func (s *Session) farewell() *Event {
	if !s.hub.isEnded() {
		return nil
	}
	return &Event{Name: Moved, At: s.hub.Now().UTC()}
}
