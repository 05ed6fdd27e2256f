package nearby

import (
	"slices"
	"time"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// Merging precedes the limit (D10.1), so it needs more entities than are shown: those merged into pins, and the
// surroundings of a pin, which determine whether the pin is merged. The law needs more too: hidden entities do not
// count towards the limit, and zones may have cameras outside of the circle.
const (
	initialMargin = 64   // entities fetched beyond the limit at first
	growthFactor  = 4    // factor by which the fetch limit grows
	maxFetched    = 4096 // maximum entities of feeds fetched by one read, the nearest
)

// overfetch answers a query with merging or display rules: it fetches more entities of feeds until the first q.Limit results
// are final.
func (r *Reader) overfetch(q *Query, s *mapdata.Search, a *Answer) {
	merges := r.merges(s)
	search := *s
	search.Since = time.Time{} // filtered after merging: a pin has changed when a merged entity has
	search.Radius += a.rules.view.Drift()
	for search.Limit = min(2*q.Limit+initialMargin, maxFetched); ; search.Limit = min(growthFactor*search.Limit, maxFetched) {
		var more bool
		a.found, more = r.Index.Search(&search, a.found[:a.live])
		completeRadius := -1.0 // radius in metres in which all entities are known; negative: all are known
		if more {
			completeRadius = geo.MetresOf(a.found[len(a.found)-1].Chord)
		}
		a.filled = max(a.filled, len(a.found))
		if more {
			a.saved = append(a.saved[:0], a.found[:a.live]...) // the next iteration may need them again
		}
		a.found = a.rules.hide(a.found)
		a.Hits = a.found
		if a.Live || merges {
			completeRadius = r.resolve(s, a, more, completeRadius)
		}
		a.Hits = r.zone(a.Hits, s, &a.rules) // after merging, because the resolver would split zones; cameras are not merged
		if !s.Since.IsZero() {
			since := s.Since.UnixMilli()
			a.Hits = slices.DeleteFunc(a.Hits, func(h mapdata.Hit) bool { return h.ChangedAt <= since })
		}
		// A zone may be nearer than its camera.
		complete := len(a.Hits) > q.Limit && geo.MetresOf(a.Hits[q.Limit].Chord) < completeRadius-a.rules.view.Drift()
		if !more || complete || search.Limit == maxFetched {
			a.Truncated = len(a.Hits) > q.Limit || more
			a.Hits = a.Hits[:min(len(a.Hits), q.Limit)]
			return
		}
		a.found = append(a.found[:0], a.saved...)
	}
}
