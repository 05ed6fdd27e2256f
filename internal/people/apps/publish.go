package apps

import (
	"time"

	"wayside/internal/ground/mapdata"
)

// publish shows a catalogue to readers, and reports the apps that differ from the one before. The caller holds loading.
func (s *Service) publish(next *catalogue) {
	before := s.catalogue.Load()
	s.catalogue.Store(next)
	s.mu.Lock()
	close(s.next)
	s.next = make(chan struct{})
	s.mu.Unlock()
	if s.Tell == nil || !before.loaded {
		return
	}
	var changed []mapdata.AppID
	for id, l := range next.byID {
		if before.byID[id] != l {
			changed = append(changed, id)
		}
	}
	for id := range before.byID {
		if next.byID[id] == nil {
			changed = append(changed, id)
		}
	}
	if len(changed) > 0 {
		s.Tell(next.revision, changed)
	}
}

// catalogueAndNext returns the served apps, and a channel that is closed when the catalogue changes.
func (s *Service) catalogueAndNext() ([]*Listed, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.catalogue.Load().listed, s.next
}

// Revision returns the revision of the catalogue, which grows with each change of the served apps, on all nodes alike.
func (s *Service) Revision() int64 { return s.catalogue.Load().revision }

// maxMarkWait bounds how long Run sleeps until the next warning is due, so that a step of the clock cannot delay one for long.
const maxMarkWait = time.Hour

// nextMark returns how long it is until drivers are warned of the next changed page, at most maxMarkWait.
func (s *Service) nextMark() time.Duration {
	wait, now := maxMarkWait, s.Now()
	for _, l := range s.catalogue.Load().listed {
		if at := l.Version.Page.ChangedAt; !at.IsZero() && !l.Changed {
			wait = min(wait, max(at.Add(warnAfter).Sub(now), 0))
		}
	}
	return wait
}

// Mark marks the apps of the catalogue of whose changed pages drivers are warned by now. It does not ask the store.
func (s *Service) Mark() {
	s.loading.Lock()
	defer s.loading.Unlock()
	current, now := s.catalogue.Load(), s.Now()
	next := &catalogue{
		loaded: current.loaded, revision: current.revision,
		byID: make(map[mapdata.AppID]*Listed, len(current.byID)), entries: make(map[mapdata.AppID]*entryOf, len(current.entries)),
	}
	marked := false
	for id, e := range current.entries {
		if l := e.listed; l != nil && !l.Changed && ChangedSinceReview(l.Version.Page, now) {
			other := *l
			other.Changed, marked = true, true
			e = &entryOf{revision: e.revision, listed: &other, icon: e.icon}
		}
		next.entries[id] = e
	}
	if !marked {
		return
	}
	for _, l := range current.listed {
		l = next.entries[l.ID].listed
		next.listed, next.byID[l.ID] = append(next.listed, l), l
	}
	s.publish(next)
}
