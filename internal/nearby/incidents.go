package nearby

import (
	"context"
	"slices"
	"time"

	"wayside/internal/geo"
	"wayside/internal/mapdata"
)

// Merging needs to know more than what is shown (D10.1: before limit): what is merged into a pin is found too, and
// whether something stands alone is known only once everything around it is.
const (
	roomToMerge  = 64   // entities of feeds read beyond the limit at first
	growth       = 4    // when those were too few
	mostMerged   = 4096 // entities of feeds that one read takes into account, the nearest
	mergeContext = 600  // metres: twice the longest distance at which two become one
)

// nearWithIncidents answers a query that includes live incidents: votes, suppression and merging come before the limit, in
// this order (Live incidents, 4; D10.1).
func (r *Reader) nearWithIncidents(ctx context.Context, q *Query, s *mapdata.Search, a *Answer) {
	var health mapdata.Health
	a.live, health = r.Live.Near(ctx, s, q.Driver, a.live[:0])
	a.Incidents = mapdata.SourceHealth{ID: mapdata.Incidents, Health: health}
	r.countVotes(a.live, s)
	s.Now = r.Now() // waiting for upstreams took its time
	a.At = s.Now
	search := *s
	search.Since = time.Time{} // a pin has changed when anything in it has
	for search.Limit = min(2*q.Limit+roomToMerge, mostMerged); ; search.Limit = min(growth*search.Limit, mostMerged) {
		var more bool
		a.found, more = r.Index.Search(&search, a.found[:0])
		known := -1.0 // how far everything is known, in metres; negative: everywhere
		if more {
			known = geo.MetresOf(a.found[len(a.found)-1].Chord) - mergeContext
		}
		a.found = append(a.found, a.live...)
		a.Hits = a.resolver.Resolve(a.found, s.Now, s.Suppressed)
		if !s.Since.IsZero() {
			since := s.Since.UnixMilli()
			a.Hits = slices.DeleteFunc(a.Hits, func(h mapdata.Hit) bool { return h.ChangedAt <= since })
		}
		enough := len(a.Hits) > q.Limit && geo.MetresOf(a.Hits[q.Limit].Chord) <= known
		if !more || enough || search.Limit == mostMerged {
			a.Truncated = len(a.Hits) > q.Limit || more
			a.Hits = a.Hits[:min(len(a.Hits), q.Limit)]
			return
		}
	}
}

// countVotes gives live incidents their votes. Those of feeds have theirs from the index.
func (r *Reader) countVotes(hits []mapdata.Hit, s *mapdata.Search) {
	for i := range hits {
		h := &hits[i]
		t, voted := r.Ledger.Lookup(h.ExternalID)
		if !voted {
			continue
		}
		h.Confirms, h.Disputes = int32(t.Confirms), int32(t.Disputes)
		h.ChangedAt = max(h.ChangedAt, t.ChangedAt.UnixMilli())
		if until := t.DisputedUntil(h.Kind); until.After(s.Now) {
			h.DisputedUntil = until.UnixMilli()
		}
	}
}
