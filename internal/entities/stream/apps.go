package stream

import (
	"time"

	"wayside/internal/ground/mapdata"
)

// appsInterval is the least time between two events about apps on one stream. A developer may change the public name as often as
// the limit of management allows, and each change is sent to every driver's page.
const appsInterval = 500 * time.Millisecond

// maxApps bounds the apps that an event names. If more changed, the event says that any may have changed.
const maxApps = 50

// AppsChange is a change of the catalogue of apps, as sent to a page.
type AppsChange struct {
	Revision int64           // of the catalogue; two streams with the same revision have received the same changes
	Changed  []mapdata.AppID // apps whose served version changed, or that are gone; empty: any may be
}

// watchedApps holds the changes that a stream has not sent yet; the hub's lock guards it.
type watchedApps struct {
	change AppsChange
	any    bool // more changed than change names
}

// WatchApps makes the stream send changes of the catalogue of apps, until it is closed.
func (s *Stream) WatchApps() {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	s.hub.appWatchers[s] = new(watchedApps)
}

// AppsChanged makes the streams that watch apps send a change to their clients. It blocks only for the hub's lock.
func (h *Hub) AppsChanged(revision int64, changed []mapdata.AppID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for s, w := range h.appWatchers {
		w.any = w.any || len(changed) == 0 || len(w.change.Changed)+len(changed) > maxApps
		if w.any {
			w.change.Changed = nil
		} else {
			w.change.Changed = append(w.change.Changed, changed...)
		}
		w.change.Revision = revision
		select {
		case s.apps <- struct{}{}:
		default:
		}
	}
}

// takeApps returns the changes that were not sent yet, and clears them.
func (s *Stream) takeApps() AppsChange {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	w := s.hub.appWatchers[s]
	if w == nil {
		return AppsChange{}
	}
	change := w.change
	*w = watchedApps{}
	return change
}
