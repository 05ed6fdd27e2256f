package nearby

import (
	"slices"
	"time"

	"wayside/internal/geo"
	"wayside/internal/mapdata"
)

// Merging needs to know more than what is shown (D10.1: before limit): what is merged into a pin is found too, and
// whether something stands alone is known only once everything around it is. The law needs more too: what it hides makes
// room, and what it shows elsewhere may come from outside.
const (
	mergeMargin = 64   // entities of feeds read beyond the limit at first
	limitGrowth = 4    // when those were too few
	maxMerged   = 4096 // entities of feeds that one read takes into account, the nearest
)

// gather answers a query in which what is found is not yet what is shown: it reads more of the feeds until what it shows
// is sure.
func (r *Reader) gather(q *Query, s *mapdata.Search, a *Answer) {
	search := *s
	search.Since = time.Time{} // a pin has changed when anything in it has
	search.Radius += a.rules.view.Drift()
	for search.Limit = min(2*q.Limit+mergeMargin, maxMerged); ; search.Limit = min(limitGrowth*search.Limit, maxMerged) {
		var more bool
		a.found, more = r.Index.Search(&search, a.found[:a.live])
		known := -1.0 // how far everything is known, in metres; negative: everywhere
		if more {
			known = geo.MetresOf(a.found[len(a.found)-1].Chord)
		}
		a.filled = max(a.filled, len(a.found))
		if more {
			a.saved = append(a.saved[:0], a.found[:a.live]...) // this may be looked for again
		}
		a.found = a.rules.hide(a.found)
		a.Hits = a.found
		if a.Live {
			a.Hits = a.resolver.Resolve(a.found, s.Now, s.Suppressed)
			if more {
				known = a.resolver.Settled(s.Center.Vector(), known)
			}
		}
		a.Hits = r.zone(a.Hits, s, &a.rules) // cameras are not merged; the resolver would take their zones apart
		if !s.Since.IsZero() {
			since := s.Since.UnixMilli()
			a.Hits = slices.DeleteFunc(a.Hits, func(h mapdata.Hit) bool { return h.ChangedAt <= since })
		}
		// The law may show something nearer than it was found.
		complete := len(a.Hits) > q.Limit && geo.MetresOf(a.Hits[q.Limit].Chord) < known-a.rules.view.Drift()
		if !more || complete || search.Limit == maxMerged {
			a.Truncated = len(a.Hits) > q.Limit || more
			a.Hits = a.Hits[:min(len(a.Hits), q.Limit)]
			return
		}
		a.found = append(a.found[:0], a.saved...)
	}
}
