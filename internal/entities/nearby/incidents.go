package nearby

import (
	"context"

	"wayside/internal/ground/mapdata"
)

// findIncidents finds the live incidents of a query, without their votes. Votes, suppression and merging come before the
// limit, in this order (Live incidents, 4; D10.1).
func (r *Reader) findIncidents(ctx context.Context, q *Query, s *mapdata.Search, a *Answer) {
	var health mapdata.Health
	a.incidents, health = r.Live.Near(ctx, s, q.Driver, a.incidents)
	a.Incidents = mapdata.SourceHealth{ID: mapdata.Incidents, Health: health}
	s.Now = r.Now() // upstreams may have taken a while
}

// countVotes adds the votes to live incidents. Hits of feeds have theirs from the index.
func (r *Reader) countVotes(hits []mapdata.Hit, s *mapdata.Search) {
	for i := range hits {
		h := &hits[i]
		t, voted := r.Tallies.Lookup(h.ExternalID)
		if !voted {
			continue
		}
		h.Confirms, h.Disputes = int32(t.Confirms), int32(t.Disputes)
		h.CountedConfirms, h.CountedDisputes = t.Counted()
		h.ChangedAt = max(h.ChangedAt, t.ChangedAt.UnixMilli())
		if until := t.WithheldUntil(h.Kind); until.After(s.Now) {
			h.DisputedUntil, h.Hidden = until.UnixMilli(), t.HiddenAt(s.Now)
		} else if !until.IsZero() {
			h.ChangedAt = max(h.ChangedAt, until.UnixMilli())
		}
	}
}
