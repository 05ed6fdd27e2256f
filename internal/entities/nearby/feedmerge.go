package nearby

import (
	"time"

	"wayside/internal/entities/consensus"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// search answers a query without live incidents that no law affects. It merges alerts of several feeds (D10.1); a read that finds none to
// merge costs only the one search.
func (r *Reader) search(q *Query, s *mapdata.Search, a *Answer) {
	a.found, a.Truncated = r.Index.Search(s, a.found)
	a.Hits, a.filled = a.found, len(a.found)
	switch {
	case !r.merges(s):
	case !a.Truncated && s.Since.IsZero():
		a.Hits = a.resolver.MergeFeeds(a.found, s.Now)
	case r.mayMerge(s, a):
		a.found = a.found[:0]
		r.overfetch(q, s, a)
	}
}

// merges reports whether a search selects at least two feeds and kinds that are merged.
func (r *Reader) merges(s *mapdata.Search) bool {
	feeds := len(s.Feeds) + len(s.Own)
	if s.Served {
		feeds += r.Catalog.ServedCount()
	}
	return feeds > 1 && s.Kinds&r.incidents != 0
}

// mayMerge reports whether entities that are not in the answer may be merged with those that are: entities beyond the limit, or that have
// not changed since the given time.
func (r *Reader) mayMerge(s *mapdata.Search, a *Answer) bool {
	probe := *s
	probe.Kinds &= r.incidents
	if probe.Since.IsZero() {
		probe.Radius = min(s.Radius, geo.MetresOf(a.found[len(a.found)-1].Chord)+maxMergeDistance)
	} else {
		probe.Since = time.Time{}
	}
	if !(a.Truncated && !s.Since.IsZero()) && !contains(a.found, probe.Kinds) {
		return false // a pin is shown at the position of one of its entities, and changes when any of them does
	}
	return r.Index.SeveralFeeds(&probe)
}

func contains(hits []mapdata.Hit, kinds mapdata.KindSet) bool {
	for i := range hits {
		if kinds.Has(hits[i].Kind) {
			return true
		}
	}
	return false
}

// maxMergeDistance exceeds the longest merge distance, in metres (D10.2).
const maxMergeDistance = 301

// resolve applies votes and merging to all entities within completeRadius metres, and returns the radius within which the result is final.
// more means that more entities may lie beyond.
func (r *Reader) resolve(s *mapdata.Search, a *Answer, more bool, completeRadius float64) float64 {
	if !a.Live && !consensus.Several(a.found, r.incidents) {
		return completeRadius - maxMergeDistance // another feed's entity may lie just beyond
	}
	a.Hits = a.resolver.Resolve(a.found, s.Now, s.Suppressed)
	if more {
		completeRadius = a.resolver.Settled(s.Center.Vector(), completeRadius)
	}
	return completeRadius
}
