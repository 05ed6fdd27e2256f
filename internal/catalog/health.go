package catalog

import (
	"sync/atomic"
	"time"

	"wayside/internal/mapdata"
)

// source is a feed with what its health is made of; immutable but for the health that was judged last.
type source struct {
	feed     *mapdata.Feed
	recent   *mapdata.Recent // shared by the feed's states; never changed
	decaying bool            // what the feed holds, or last held, expires
	judged   atomic.Pointer[judgement]
}

// span is the time during which a health stays as it was judged.
type span struct{ from, until time.Time }

func (s span) holds(now time.Time) bool { return !now.Before(s.from) && now.Before(s.until) }

// judgement is the health of a source for a span of time.
type judgement struct {
	mapdata.Health
	span
}

// health judges the source, if time may have changed its health since it was judged last.
func (s *source) health(now time.Time) *judgement {
	if j := s.judged.Load(); j != nil && j.holds(now) {
		return j
	}
	j := &judgement{span: span{from: now}}
	j.Health, j.until = mapdata.FeedHealth(s.feed, s.recent, s.decaying, now)
	s.judged.Store(j)
	return j
}

// healthView is the health of the served sources of one view for a span of time; immutable.
type healthView struct {
	span
	of     *view
	served []mapdata.SourceHealth
}

// judge gives the health of all served sources.
func (v *view) judge(now time.Time) *healthView {
	h := &healthView{span: span{from: now, until: now.Add(24 * time.Hour)}, of: v, served: make([]mapdata.SourceHealth, 0, len(v.served))}
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
