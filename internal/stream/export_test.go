package stream

import "fmt"

// TakeWakeup says whether a stream has been woken, and clears that.
func TakeWakeup(s *Stream) bool {
	select {
	case <-s.wake:
		return true
	default:
		return false
	}
}

// Contents says what is left in the hub's maps.
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
