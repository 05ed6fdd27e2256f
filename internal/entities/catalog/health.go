package catalog

import (
	"sync/atomic"
	"time"

	"wayside/internal/ground/mapdata"
)

// source is a feed with the inputs of its health; immutable except for the cached health.
type source struct {
	feed     *mapdata.Feed
	recent   *mapdata.Recent // shared by versions of the feed; immutable
	decaying bool            // the feed's entities expire
	cached   atomic.Pointer[cachedHealth]
}

// span is the time during which a cached health is valid.
type span struct{ from, until time.Time }

func (s span) contains(now time.Time) bool { return !now.Before(s.from) && now.Before(s.until) }

// cachedHealth is the health of a source with its validity.
type cachedHealth struct {
	mapdata.Health
	span
}

// health returns the source's health, cached while it is valid.
func (s *source) health(now time.Time) *cachedHealth {
	if j := s.cached.Load(); j != nil && j.contains(now) {
		return j
	}
	j := &cachedHealth{span: span{from: now}}
	j.Health, j.until = mapdata.FeedHealth(s.feed, s.recent, s.decaying, now)
	s.cached.Store(j)
	return j
}

// healthView is the health of the served sources of one view with its validity; immutable.
type healthView struct {
	span
	view   *view
	served []mapdata.SourceHealth
}

// evaluate computes the health of all served sources.
func (v *view) evaluate(now time.Time) *healthView {
	h := &healthView{span: span{from: now, until: now.Add(24 * time.Hour)}, view: v, served: make([]mapdata.SourceHealth, 0, len(v.served))}
	for _, id := range v.served {
		s, _ := v.sources.get(id)
		j := s.health(now)
		if j.until.Before(h.until) {
			h.until = j.until
		}
		h.served = append(h.served, mapdata.SourceHealth{ID: id.SourceID(), Health: j.Health})
	}
	return h
}
