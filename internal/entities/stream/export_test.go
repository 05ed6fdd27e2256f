package stream

import "fmt"

// TakeWakeup reports whether a stream has been woken, and clears the wake-up.
func TakeWakeup(s *Stream) bool {
	select {
	case <-s.wake:
		return true
	default:
		return false
	}
}

// Contents describes the sizes of the hub's maps.
func Contents(h *Hub) string {
	return fmt.Sprintf("%d callers, %d cubes, %d watchers of apps", len(h.callers), len(h.cubes), len(h.appWatchers))
}

// ClearWakeups clears the wake-ups of all streams.
func ClearWakeups(h *Hub) {
	for _, in := range h.cubes {
		for _, s := range in {
			TakeWakeup(s)
		}
	}
}
