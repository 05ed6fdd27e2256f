package stream

import (
	"time"

	"wayside/internal/mapdata"
)

// appsInterval is the least time between two events about apps on one stream: a developer may rename themselves as often as the limit of
// management allows, and every driver's page hears of it.
const appsInterval = 500 * time.Millisecond

// maxApps is how many apps an event names. Beyond it, it says that any may have changed.
const maxApps = 50

// AppsChange is what a page is told of the catalogue of apps.
type AppsChange struct {
	Revision int64           // of the catalogue: two streams that have the same were told the same
	Changed  []mapdata.AppID // which are served otherwise than before, or no longer; empty: any may be
}

// watchedApps is what a stream was not told yet; its hub's lock guards it.
type watchedApps struct {
	change AppsChange
	any    bool // more changed than change names
}

// WatchApps makes the stream tell its client of changes of the catalogue of apps, until it is closed.
func (s *Stream) WatchApps() {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	s.hub.appWatchers[s] = new(watchedApps)
}

// AppsChanged has the streams that watch apps tell their clients. It blocks for nothing but the hub's own lock.
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

// takeApps gives what the client was not told yet.
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
