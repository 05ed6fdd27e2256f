package stream

import "fmt"

// Woken says whether a stream has been woken, and lets it sleep again.
func Woken(s *Stream) bool {
	select {
	case <-s.wake:
		return true
	default:
		return false
	}
}

// Held says what the hub holds.
func Held(h *Hub) string { return fmt.Sprintf("%d callers, %d cubes", len(h.callers), len(h.cubes)) }

// Sleep lets all streams sleep again.
func Sleep(h *Hub) {
	for _, in := range h.cubes {
		for _, s := range in {
			Woken(s)
		}
	}
}
