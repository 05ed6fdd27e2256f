package session

// ChooseEvicted returns the session that Reserve would end for a caller, as it is before Reserve closes it.
func (h *Hub) ChooseEvicted(c Caller) *Session {
	evicted, _ := h.shares.reserve(h, c)
	return evicted
}
