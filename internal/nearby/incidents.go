package nearby

import (
	"context"

	"wayside/internal/mapdata"
)

// nearWithIncidents answers a query that includes live incidents: votes, suppression and merging come before the limit, in
// this order (Live incidents, 4; D10.1).
func (r *Reader) nearWithIncidents(ctx context.Context, q *Query, s *mapdata.Search, a *Answer) {
	var health mapdata.Health
	a.found, health = r.Live.Near(ctx, s, q.Driver, a.found[:0])
	a.live = len(a.found)
	a.Incidents = mapdata.SourceHealth{ID: mapdata.Incidents, Health: health}
	r.countVotes(a.found, s)
	s.Now = r.Now() // waiting for upstreams took its time
	a.At = s.Now
	r.gather(q, s, a)
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
		} else if !until.IsZero() {
			h.ChangedAt = max(h.ChangedAt, until.UnixMilli())
		}
	}
}
